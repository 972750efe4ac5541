"""When a turn has ended."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.asr.completeness import Completeness
from engine.asr.pick import SLOWEST_MS
from engine.runtime.turn.endpointing import (
    LONGEST_S,
    NEVER_MS,
    OVERLAP_MS,
    PAUSE_MS,
    Patience,
    Speech,
)
from engine.runtime.turn.watchdog import TRANSCRIPT_S
from engine.runtime.workers.voice.speech_worker import LONGEST_PAUSE_S
from engine.settings import Choice, schema

FROM_OPEN = (Completeness.OPEN, Completeness.UNSURE, Completeness.WHOLE, Completeness.SETTLED)
PATIENCE = ("quick", "balanced", "patient")
SPEECH = st.builds(
    Speech,
    st.floats(0.0, 2 * LONGEST_S),
    st.sampled_from([None, *Completeness]),
    st.booleans(),
    st.booleans(),
)


def after(completeness: Completeness | None, patience: str) -> int:
    return Patience.of(patience).silence_ms(Speech(completeness=completeness))


def test_the_more_complete_the_words_and_the_less_the_patience_the_shorter_the_silence() -> None:
    rule = schema()["recogniser.patience"].rule
    assert isinstance(rule, Choice)
    assert rule.words == PATIENCE
    for patience in PATIENCE:
        silences = [after(completeness, patience) for completeness in FROM_OPEN]
        assert silences == sorted(silences, reverse=True)
        assert after(None, patience) == silences[0]
        assert silences[-1] > PAUSE_MS
    for completeness in Completeness:
        silences = [after(completeness, patience) for patience in PATIENCE]
        assert all(less < more for less, more in pairwise(silences))
    assert after(Completeness.OPEN, "balanced") > 1500  # of thinking, with something left open


@given(SPEECH, st.sampled_from(PATIENCE))
def test_who_speaks_for_too_long_has_ended_at_once_and_who_holds_the_talk_key_never(
    speech: Speech, patience: str
) -> None:
    silence_ms = Patience.of(patience).silence_ms(speech)
    assert (silence_ms == NEVER_MS) == speech.key_held
    assert (silence_ms == 0) == (speech.spoken_s >= LONGEST_S and not speech.key_held)


@pytest.mark.parametrize("completeness", [None, *Completeness])
def test_what_is_said_into_a_reply_ends_soon(completeness: Completeness | None) -> None:
    speech = Speech(1.0, completeness, overlapping=True)
    assert Patience.of("patient").silence_ms(speech) == OVERLAP_MS


def test_the_slowest_ears_that_auto_chooses_are_waited_for() -> None:
    slowest_s = (OVERLAP_MS + SLOWEST_MS) / 1000
    assert slowest_s < LONGEST_PAUSE_S  # of a reply that somebody speaks into
    assert slowest_s < TRANSCRIPT_S
