"""The real pocketsphinx by voices it has not been set up with; which phrases will do as a name."""

import numpy as np
import pytest

from engine.asr.base import SAMPLE_RATE
from engine.asr.sphinx import searches
from engine.asr.wake.phrase import USUAL, examine, normal
from engine.asr.wake.spotter import spotter
from engine.audio.base import Pcm
from engine.errors import InvalidInput
from engine.settings import WakeSettings
from tests.simulation import people

PIECE = SAMPLE_RATE // 20
MARGIN = np.zeros(SAMPLE_RATE, np.float32)


def said(*texts: str, voice: str = "rms") -> Pcm:
    parts = [part for text in texts for part in (people.spoken(text, voice).pcm, MARGIN)]
    pcm = np.concatenate([MARGIN, *parts])
    return (pcm + np.random.default_rng(1).normal(0, 3e-4, len(pcm))).astype(np.float32)


def found(phrase: str, pcm: Pcm) -> list[int]:
    """Samples at which the phrase had ended, each time it was found."""
    listening, ends = spotter(WakeSettings(on=True, phrase=phrase)), []
    for first in range(0, len(pcm), PIECE):
        ago = listening.push(pcm[first : first + PIECE])
        if ago is not None:
            ends.append(first + PIECE - ago)
            listening.reset()
    return ends


@pytest.mark.parametrize(
    ("phrase", "voice"),
    [
        ("computer please", "rms"),
        ("computer please", "kal16"),
        ("good evening zaphod", "slt"),  # no dictionary has it
    ],
)
def test_the_phrase_is_found_once_however_the_samples_are_cut(phrase, voice):
    pcm = said(phrase, voice=voice)
    (end,) = found(phrase, pcm)
    assert abs(end - (len(pcm) - len(MARGIN))) < 0.35 * SAMPLE_RATE
    at_once = spotter(WakeSettings(on=True, phrase=phrase)).push(pcm)
    assert at_once is not None
    assert abs(len(pcm) - at_once - end) <= PIECE


@pytest.mark.parametrize(
    ("talk", "calls"),
    [
        (("what time is it", "set a timer for ten minutes", "the compost is pleasant"), 0),
        (("they told him that computer please is what he said",), 0),  # no pause before it
        (("what did you say", "computer please what time is it"), 1),
    ],
)
def test_a_call_comes_after_a_pause_and_other_talk_does_not_wake(talk, calls):
    assert len(found("computer please", said(*talk))) == calls


def test_after_a_reset_nothing_of_before_counts():
    listening = spotter(WakeSettings(on=True, phrase="good evening zaphod"))
    assert listening.push(said("good evening")) is None
    listening.reset()
    assert listening.push(said("zaphod")) is None


def test_a_name_that_is_seldom_said_will_do_and_its_words_have_sounds():
    for phrase in ("hey rubato", "okay computer", "good evening zaphod", USUAL):
        assert normal(f"  {phrase.title()}, ") == phrase  # without case, marks and spare spaces
        found = examine(phrase)
        assert sorted(found) == sorted(phrase.split())
        assert all(found.values())


REFUSED = {
    "too short": ("hey", "jarvis"),
    "too often": ("computer", "good morning", "what time is it"),
    "too long": ("one two three four five six seven",),
    "English words": ("", "hey 5", "große nase", "antidisestablishmentarianism computer jarvis"),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_others_are_refused_with_a_proposal_that_will_do(reason):
    for phrase in REFUSED[reason]:
        with pytest.raises(InvalidInput, match=reason) as refused:
            examine(phrase)
        assert examine(refused.value.hint.partition("“")[2].partition("”")[0])


def test_every_file_is_opened_by_a_path_that_a_library_in_c_can_open(monkeypatch):
    """On Windows a user folder may be called Jörg."""
    asked = []

    def short(path: object) -> str:
        asked.append(str(path).replace("\\", "/"))
        return str(path)

    monkeypatch.setattr(searches, "native_path", short)
    spotter(WakeSettings(on=True, phrase="computer please"))
    assert [path.rpartition("/")[2] for path in asked] == ["en-us", "phrase.dict"]
