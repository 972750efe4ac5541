"""The first judge: what sounds as it was meant is right, however it is written."""

import shutil
from pathlib import Path

import pytest

from engine.assets.catalogue import find
from engine.assets.packages import PackedFile
from engine.text.phonemes import Espeak
from engine.training.evaluation.whisper_judge import WhisperJudge, words_wrong
from engine.training.teachers import synthesisers
from engine.training.teachers.synthesisers import Request
from tests.packaged import packaged


@pytest.fixture(scope="module")
def espeak() -> Espeak:
    return Espeak()


@pytest.mark.parametrize(
    ("meant", "heard", "wrong"),
    [
        ("Did you mean Sofia?", "Did you mean Sophia?", 0),
        ("Two hundred metres.", "two hundred meters", 0),
        ("W, C, A, J.", "WCAJ.", 0),
        ("List of the subpackets.", "List of the sub packets.", 0),
        ("Twenty one percent.", "Twenty-one percent.", 0),
        ("It is cold in the garden.", "It is cold in a garden.", 1),
        ("It is cold in the garden.", "It is in the garden.", 1),
        ("It is cold.", "It is cold, it is cold.", 3),
        ("Open the back door.", "", 4),
        ("Yes.", "Yes yes yes.", 2),
    ],
)
def test_words_are_compared_by_sound(espeak: Espeak, meant: str, heard: str, wrong: int) -> None:
    assert words_wrong(meant, heard, espeak) == wrong


@pytest.fixture(scope="module")
def judge() -> WhisperJudge:
    files = [
        PackedFile(file.path, file.members, file.size or 0, file.sha256 or "")
        for file in find("whisper-base").files
    ]
    return WhisperJudge(Path(packaged("whisper-base", *files)))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("flite") is None, reason="flite is not installed")
def test_it_writes_numbers_in_words_and_hears_what_flite_says(
    espeak: Espeak, judge: WhisperJudge
) -> None:
    texts = ("It takes twenty three minutes and forty seconds.", "The garden is behind the house.")
    takes = synthesisers.speak_all("flite", [Request(text, "rms", 1.0, 100.0) for text in texts])
    for text, take in zip(texts, takes, strict=True):
        assert take is not None
        heard = judge.hear(take.pcm, take.sample_rate)
        assert not any(letter.isdigit() for letter in heard)
        assert words_wrong(text, heard, espeak) == 0


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("flite") is None, reason="flite is not installed")
def test_half_a_minute_is_heard_to_its_end(espeak: Espeak, judge: WhisperJudge) -> None:
    text = " ".join(
        f"The {place} is behind the house, and nobody has seen the {animal} today."
        for place, animal in (
            ("garden", "horse"), ("river", "cat"), ("market", "bird"), ("forest", "sheep"),
            ("street", "cow"), ("school", "dog"), ("church", "fox"), ("station", "mouse"),
        )
    )  # fmt: skip
    (take,) = synthesisers.speak_all("flite", [Request(text, "rms", 1.2, 100.0)])
    assert take is not None
    assert len(take.pcm) > 25 * take.sample_rate
    assert words_wrong(text, judge.hear(take.pcm, take.sample_rate), espeak) <= 4
