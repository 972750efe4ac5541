"""The aligned text, and what the mechanism makes of it."""

import pytest

from engine.tts.smlle.aligned import Aligned, delete_bos

B, E = 100, 101  # begin and end


@pytest.mark.parametrize(
    ("phones", "heard_so"),
    [
        # the silence before is taken, and as much put behind
        ([B, B, 1, 1, 2, E], [1, 1, 2, E, E, E]),
        ([1, 2, 2, E], [1, 2, 2, E]),
        ([B, B], [E, E]),
        ([B, 1], [1, E]),
        ([], []),
    ],
)
@pytest.mark.parametrize("mechanism", [True, False])
def test_step_by_step_is_the_whole(phones: list[int], heard_so: list[int], mechanism: bool) -> None:
    assert delete_bos(phones, B, E) == heard_so
    aligned, heard = Aligned(B, E, mechanism), []
    for number, phone in enumerate(phones):
        aligned.add(number, phone)
        while aligned.has(len(heard)):
            heard.append(aligned.phone(len(heard)))
    aligned.closed = True
    while aligned.has(len(heard)):
        heard.append(aligned.phone(len(heard)))
    assert heard == (heard_so if mechanism else phones)


def test_a_step_is_known_as_soon_as_the_phone_it_hears_has_spoken() -> None:
    aligned = Aligned(B, E, delete_bos=True)
    for token, phone in enumerate((B, B)):
        aligned.add(token, phone)
        assert not aligned.has(0)
    aligned.add(2, 7)
    assert aligned.has(0)
    assert not aligned.has(1)
    assert aligned.phone(0) == 7
