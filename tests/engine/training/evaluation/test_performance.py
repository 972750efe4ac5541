"""Speaking for a measurement: word by word, at the rates asked for, and never for ever."""

from collections.abc import Iterator

import pytest

from engine.errors import InvalidInput
from engine.resources import resource
from engine.training.evaluation.parts import judge_long
from engine.training.evaluation.performance import say, syllables_of
from engine.training.evaluation.voices import FORMANT, LiveVoice, loaded, voices_of
from engine.tts.delays import LONGEST, SLACK_SECONDS
from tests.fakes_tts import LostTts

ALAN = LiveVoice(FORMANT, "Alan")
TEXT = "The train to the old town is at the station now and leaves in ten minutes."


@pytest.fixture(scope="module", autouse=True)
def _given_back() -> Iterator[None]:
    yield
    loaded(FORMANT).close()
    loaded.cache_clear()


def test_an_utterance_has_an_onset_for_every_word_and_ends() -> None:
    (spoken,) = ALAN.speak([TEXT], (4.0,))
    assert spoken.ended
    assert len(spoken.onsets) == len(TEXT.split())
    assert spoken.rate == pytest.approx(4.0, rel=0.2)
    (changed,) = ALAN.speak([TEXT], (2.0, 6.0))
    middle = changed.onsets[len(changed.onsets) // 2]
    assert middle - changed.onsets[0] > 1.5 * (changed.onsets[-1] - middle)
    assert changed.switched == pytest.approx(middle, abs=0.5)


def test_a_session_that_lost_its_way_is_left() -> None:
    model = LostTts()
    spoken = say(model, model.voices()[0], TEXT, (2.0,))
    assert not spoken.ended
    longest = LONGEST * syllables_of(TEXT) / 2.0 + SLACK_SECONDS
    assert len(spoken.pcm) / spoken.sample_rate == pytest.approx(longest, abs=0.2)


def test_a_long_text_is_judged_minute_by_minute() -> None:
    found = judge_long(ALAN, " ".join([TEXT] * 3), 4.0, minute=5.0)
    assert len(found["minutes"]) == int(found["seconds"] // 5) == 2
    assert found["ended"]


def test_a_pack_and_a_synthesiser_speak_with_their_own_voices() -> None:
    assert len(voices_of(str(resource("starter")))) == 6
    assert voices_of("espeak", ("Clara",)) == (LiveVoice("espeak", "Clara"),)
    for source, names in (("espeak", ("Clara", "Nobody")), ("nowhere", ())):
        with pytest.raises(InvalidInput, match=source):
            voices_of(source, names)
