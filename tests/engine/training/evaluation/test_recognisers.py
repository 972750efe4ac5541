"""The judges: they hear a good synthesiser well, and count what they say they count."""

from collections.abc import Iterator

import pytest

from engine.errors import InvalidInput
from engine.resources import resource
from engine.settings.systems import ESPEAK
from engine.text.phonemes import Espeak
from engine.training.evaluation.voices import (
    LiveVoice,
    WhisperJudge,
    loaded,
    voices_of,
    words_wrong,
)
from engine.training.teachers import synthesisers
from engine.training.teachers.synthesisers import Request, Take
from tests.engine.training.conftest import CASES, needs_flite
from tests.help.machine.packaged import packaged_asset


def said(*texts: str, stretch: float = 1.0) -> list[Take]:
    takes = [synthesisers.speak("flite", Request(text, "rms", stretch, 100.0)) for text in texts]
    return [take for take in takes if take]


@pytest.mark.parametrize(
    ("meant", "heard", "wrong"),
    CASES["words_wrong"],
)
def test_words_are_compared_by_sound(espeak, meant, heard, wrong):
    assert words_wrong(meant, heard, espeak) == wrong


def test_an_unstressed_vowel_alone_is_the_same_as_in_a_word():
    assert words_wrong("neuf degrés", "neuf de gré", Espeak("fr-fr")) == 0


@pytest.fixture(scope="module")
def whisper() -> WhisperJudge:
    return WhisperJudge(packaged_asset("whisper-base"))


@pytest.mark.long
@needs_flite
def test_it_writes_numbers_and_hears_what_flite_says(espeak, whisper):
    text = "It takes twenty three minutes and forty seconds."
    (take,) = said(text)
    heard = whisper.hear(take.pcm, take.sample_rate)
    assert not any(letter.isdigit() for letter in heard)
    assert words_wrong(text, heard, espeak) == 0


# ------------------------------------------------------------------ speaking for a measurement


ALAN = LiveVoice(ESPEAK, "Alan")
TEXT = "The train to the old town is at the station now and leaves in ten minutes."


@pytest.fixture(scope="module", autouse=True)
def _given_back() -> Iterator[None]:
    yield
    loaded(ESPEAK).close()
    loaded.cache_clear()


def test_an_utterance_has_an_onset_for_every_word_and_ends():
    (spoken,) = ALAN.speak([TEXT], 4.0)
    assert spoken.ended
    assert len(spoken.onsets) == len(TEXT.split())
    assert spoken.rate == pytest.approx(4.0, rel=0.2)


def test_a_pack_and_a_synthesiser_speak_with_their_own_voices():
    assert len(voices_of(str(resource("starter")))) == 6
    assert voices_of("espeak", ("Clara",)) == (LiveVoice("espeak", "Clara"),)
    for source, names in (("espeak", ("Clara", "Nobody")), ("nowhere", ())):
        with pytest.raises(InvalidInput, match=source):
            voices_of(source, names)
