"""The aligned text: a step is known as soon as it can be."""

from engine.tts.smlle.aligned import Aligned

B, E = 100, 101  # begin and end


def test_a_step_is_known_as_soon_as_the_phone_it_hears_has_spoken() -> None:
    aligned = Aligned(B, E, delete_bos=True)
    for token, phone in enumerate((B, B)):
        aligned.add(token, phone)
        assert not aligned.has(0)
    aligned.add(2, 7)
    assert aligned.has(0)
    assert not aligned.has(1)
    assert aligned.phone(0) == 7
