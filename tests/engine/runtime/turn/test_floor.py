"""Who has the floor: what ends a reply and what does not, and when a turn has ended."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.asr.completeness import Completeness
from engine.asr.pick import SLOWEST_MS
from engine.runtime.turn import floor, waiting
from engine.runtime.turn.waiting import TRANSCRIPT_S
from engine.runtime.workers.voice.speech_worker import LONGEST_PAUSE_S
from engine.settings import Choice, schema
from engine.text.barge_in_words import NODDING, words


@pytest.mark.parametrize("nod", sorted(NODDING))
def test_a_nod_is_no_interruption(nod):
    assert not floor.wants_floor(floor.Evidence(floor.WORDS_MS + 100, nod))
    assert not floor.wants_floor(floor.Evidence(floor.WORDS_MS + 100, nod, final=True))


STOP, RIVER, ASKS = frozenset({"stop"}), frozenset({"the", "river"}), "what time is it"
INTERRUPTS = {
    "a sentence": floor.Evidence(floor.WORDS_MS, ASKS),
    "a sentence that has ended": floor.Evidence(floor.WORDS_MS, ASKS, final=True),
    "a command, which may be short": floor.Evidence(floor.COMMAND_MS, "stop"),
    "words the assistant did not say": floor.Evidence(
        floor.WORDS_MS, "which river", reply_words=RIVER
    ),
    "a long voice, which needs no words": floor.Evidence(floor.LONG_MS),
    "what may become a wish, until it has ended": floor.Evidence(floor.WISH_MS, "slow", wish=True),
    "what only began like a wish": floor.Evidence(floor.WORDS_MS, "slow", final=True),
    "a wish and a question": floor.Evidence(floor.WORDS_MS, "slower and tell me the time"),
}
DOES_NOT = {
    "a short sound, whatever it is taken for": floor.Evidence(
        floor.WORDS_MS - 32, "thirty five", final=True
    ),
    "less than a command": floor.Evidence(floor.COMMAND_MS - 32, "stop"),
    "the assistant's own words": floor.Evidence(floor.WORDS_MS, "the river", reply_words=RIVER),
    "a command among its own words": floor.Evidence(floor.COMMAND_MS, "stop", reply_words=STOP),
    "a voice not long enough": floor.Evidence(floor.LONG_MS - 32),
    "a wish about the pace": floor.Evidence(floor.LONG_MS + 100, "slow", wish=True),
    "a wish that has ended": floor.Evidence(floor.WISH_MS, "slower please", wish=True, final=True),
}


@pytest.mark.parametrize("what", [*INTERRUPTS, *DOES_NOT])
def test_the_reply_is_ended_or_not_by(what):
    assert floor.wants_floor((INTERRUPTS | DOES_NOT)[what]) == (what in INTERRUPTS)


@pytest.mark.parametrize("text", ["stop", "Wait a moment!", "No, no.", "hold on"])
def test_who_said_nothing_else_halts_the_reply_however_short_it_was(text):
    assert floor.wants_floor(floor.Evidence(32, text, final=True))
    assert not floor.wants_floor(floor.Evidence(32, text))
    assert not floor.wants_floor(floor.Evidence(32, text, reply_words=words(text), final=True))
    assert not floor.wants_floor(floor.Evidence(32, f"{text} river", final=True))


def test_own_words_are_the_last_ones():
    spoken = ["Once,", *["word"] * 20, "The", "River."]
    assert floor.reply_words(spoken) == {"word", "the", "river"}


FROM_OPEN = (Completeness.OPEN, Completeness.UNSURE, Completeness.WHOLE, Completeness.SETTLED)
PATIENCE = ("quick", "balanced", "patient")
SPEECH = st.builds(
    waiting.Speech,
    st.floats(0.0, 2 * waiting.LONGEST_S),
    st.sampled_from([None, *Completeness]),
    st.booleans(),
    st.booleans(),
)


def after(completeness: Completeness | None, patience: str) -> int:
    return waiting.Patience.of(patience).silence_ms(waiting.Speech(completeness=completeness))


def test_the_more_complete_the_words_and_the_less_the_patience_the_shorter_the_silence():
    rule = schema()["recogniser.patience"].rule
    assert isinstance(rule, Choice)
    assert rule.words == PATIENCE
    for patience in PATIENCE:
        silences = [after(completeness, patience) for completeness in FROM_OPEN]
        assert silences == sorted(silences, reverse=True)
        assert after(None, patience) == silences[0]
        assert silences[-1] > waiting.PAUSE_MS
    for completeness in Completeness:
        silences = [after(completeness, patience) for patience in PATIENCE]
        assert all(less < more for less, more in pairwise(silences))
    assert after(Completeness.OPEN, "balanced") > 1500  # of thinking, with something left open


@given(SPEECH, st.sampled_from(PATIENCE))
def test_who_speaks_for_too_long_has_ended_at_once_and_who_holds_the_talk_key_never(
    speech, patience
):
    silence_ms = waiting.Patience.of(patience).silence_ms(speech)
    assert (silence_ms == waiting.NEVER_MS) == speech.key_held
    assert (silence_ms == 0) == (speech.spoken_s >= waiting.LONGEST_S and not speech.key_held)
    if speech.overlapping:  # what is said into a reply ends soon
        assert silence_ms in (0, waiting.NEVER_MS, waiting.OVERLAP_MS)


def test_the_slowest_ears_that_auto_chooses_are_waited_for():
    slowest_s = (waiting.OVERLAP_MS + SLOWEST_MS) / 1000
    assert slowest_s < LONGEST_PAUSE_S  # of a reply that somebody speaks into
    assert slowest_s < TRANSCRIPT_S
