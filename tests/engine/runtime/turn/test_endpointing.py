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


@pytest.mark.parametrize("patience", PATIENCE)
def test_the_more_complete_the_words_the_shorter_the_silence(patience: str) -> None:
    silences = [after(completeness, patience) for completeness in FROM_OPEN]
    assert silences == sorted(silences, reverse=True)
    assert after(None, patience) == silences[0]
    assert silences[-1] > PAUSE_MS


@pytest.mark.parametrize("completeness", Completeness)
def test_more_patience_is_never_a_shorter_silence(completeness: Completeness) -> None:
    silences = [after(completeness, patience) for patience in PATIENCE]
    assert all(less < more for less, more in pairwise(silences))


def test_a_second_and_a_half_of_thinking_is_no_end_where_something_is_left_open() -> None:
    assert after(Completeness.OPEN, "balanced") > 1500


def test_every_patience_of_the_settings_is_known() -> None:
    rule = schema()["recogniser.patience"].rule
    assert isinstance(rule, Choice)
    assert rule.words == PATIENCE


@given(SPEECH, st.sampled_from(PATIENCE))
def test_who_holds_the_talk_key_is_never_ended_and_everybody_else_is(
    speech: Speech, patience: str
) -> None:
    assert (Patience.of(patience).silence_ms(speech) == NEVER_MS) == speech.key_held


@given(SPEECH, st.sampled_from(PATIENCE))
def test_who_speaks_for_too_long_without_the_key_has_ended_at_once(
    speech: Speech, patience: str
) -> None:
    too_long = speech.spoken_s >= LONGEST_S and not speech.key_held
    assert (Patience.of(patience).silence_ms(speech) == 0) == too_long


@pytest.mark.parametrize("completeness", [None, *Completeness])
def test_what_is_said_into_a_reply_ends_soon(completeness: Completeness | None) -> None:
    speech = Speech(1.0, completeness, overlapping=True)
    assert Patience.of("patient").silence_ms(speech) == OVERLAP_MS


def test_the_slowest_ears_that_auto_chooses_are_waited_for() -> None:
    slowest_s = (OVERLAP_MS + SLOWEST_MS) / 1000
    assert slowest_s < LONGEST_PAUSE_S  # of a reply that somebody speaks into
    assert slowest_s < TRANSCRIPT_S
