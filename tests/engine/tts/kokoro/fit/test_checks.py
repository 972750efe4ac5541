"""Recordings that cannot be learnt, texts that are not in them, fits that are worse."""

from dataclasses import replace

import numpy as np
import pytest
import soxr

from engine.errors import InvalidInput, UnreadableClip
from engine.tts.kokoro.fit import checks
from tests.engine.tts.kokoro.small import small_learnt_voice, small_voice

RATE = 24_000
DRAW = np.random.default_rng(6)


@pytest.fixture(scope="module")
def person(speech) -> np.ndarray:
    """Some seconds of one speaker at 24 kHz."""
    pcm = soxr.resample(speech.pcm, speech.sample_rate, RATE)
    quiet = DRAW.normal(0, 1e-4, len(pcm) * 2)
    return (np.tile(pcm, 2) + quiet).astype(np.float32)[: 10 * RATE]


def test_one_person_is_welcome_and_a_telephone_is_remarked_on(person):
    assert "telephone" not in checks.check_recording(person, RATE)
    narrow = soxr.resample(soxr.resample(person, RATE, 8_000), 8_000, RATE)
    assert "telephone" in checks.check_recording(narrow.astype(np.float32), RATE)


@pytest.mark.parametrize(
    ("clip", "reason"),
    [
        (np.zeros(5 * RATE), "silent"),
        (DRAW.normal(0, 0.1, 5 * RATE), "noise or music"),
        (np.sin(np.arange(5 * RATE) * 0.06) * 0.2, "noise or music"),
        (np.zeros(RATE // 4), "only 0.2 s"),
    ],
)
def test_what_is_no_speech_is_refused(clip, reason):
    with pytest.raises(UnreadableClip, match=reason):
        checks.check_recording(clip.astype(np.float32), RATE)


def test_a_short_clip_is_refused(person):
    with pytest.raises(UnreadableClip, match="3 s or more"):
        checks.check_recording(person[: int(1.9 * RATE)], RATE)


def test_two_people_are_refused(person, monkeypatch):
    monkeypatch.setattr(checks, "_parts_apart", lambda *_: [0.1, 0.5])
    with pytest.raises(UnreadableClip, match="More than one person"):
        checks.check_recording(person, RATE)


def test_parts_of_one_person_are_near_and_a_higher_voice_is_not(person):
    assert checks._parts_apart(person) == []
    for factor, apart in ((1.5, np.log(1.5)), (0.6, np.log(1 / 0.6))):
        other = soxr.resample(person, factor * RATE, RATE).astype(np.float32)
        two = checks._parts_apart(np.concatenate([person[: 5 * RATE], other[: 5 * RATE]]))
        assert max(two) == pytest.approx(apart, abs=0.12)


def test_two_people_of_one_pitch_are_remarked_on(person, monkeypatch):
    monkeypatch.setattr(checks, "_parts_apart", lambda *_: [0.1])
    assert "More than one person may speak" in checks.check_recording(person, RATE)


def test_sounds_without_speech_are_not_two_people():
    for pcm in (np.zeros(10 * RATE), np.sin(np.arange(10 * RATE) * 0.06)):
        assert checks._parts_apart(pcm.astype(np.float32)) == []


@pytest.mark.parametrize(
    ("given", "understood", "fits"),
    [
        ("We will meet at seven.", None, True),
        ("We will meet at seven.", "we'll meet at seven", True),
        ("We will meet at seven.", "The weather is fine today.", False),
        ("We will meet at seven.", "", False),
        ("Yes.", None, False),
        ("", None, False),
    ],
)
def test_a_text_must_be_what_is_understood(given, understood, fits):
    if fits:
        checks.check_text(given, understood)
        return
    with pytest.raises(InvalidInput):
        checks.check_text(given, understood)


# ------------------------------------------------------------------------ of the result

SOUND = DRAW.normal(0, 0.1, RATE).astype(np.float32)
BLEND, LEARNT = small_voice(), small_learnt_voice()


def fault(after: np.ndarray, understood: str | None = None, learnt=LEARNT) -> str:
    def say(voice, text):
        return SOUND if voice is BLEND else after

    heard = iter([" ".join(checks.SENTENCES), understood])
    hear = None if understood is None else lambda pcm, rate: next(heard)
    return checks.fault(BLEND, learnt, say, hear)


def test_a_fit_as_loud_and_as_clear_as_the_blend_is_offered():
    assert fault(SOUND) == ""
    assert fault(SOUND, " ".join(checks.SENTENCES)) == ""
    assert fault(SOUND, " ".join(checks.SENTENCES).replace("lazy", "hazy")) == ""


@pytest.mark.parametrize(
    "after",
    [0.3 * SOUND, 4 * SOUND, np.where(np.arange(RATE) == 7, np.nan, SOUND)],
    ids=["quiet", "loud", "not a number"],
)
def test_a_fit_of_another_loudness_is_not(after):
    assert "too loud" in fault(after.astype(np.float32))


def test_a_fit_whose_words_are_lost_is_not():
    assert "understood" in fault(SOUND, "Nobody on the shore")


def test_a_fit_that_moved_too_far_is_not():
    for name, factor in (("style", -1), ("shift", 100), ("shift", np.nan)):
        values = LEARNT.tensors[name].copy()
        values[:128] *= factor
        moved = replace(LEARNT, tensors={**LEARNT.tensors, name: values})
        assert "too far" in fault(SOUND, learnt=moved)
