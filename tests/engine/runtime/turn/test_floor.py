"""What ends a reply and what does not, one sentence per rule."""

import pytest

from engine.runtime.turn.floor import (
    COMMAND_MS,
    LONG_MS,
    WISH_MS,
    WORDS_MS,
    Evidence,
    own_words,
    wants_floor,
)
from engine.text.interaction import NODDING, words


@pytest.mark.parametrize("nod", sorted(NODDING))
def test_a_nod_is_no_interruption(nod: str) -> None:
    assert not wants_floor(Evidence(WORDS_MS + 100, nod))
    assert not wants_floor(Evidence(WORDS_MS + 100, nod, final=True))


STOP, RIVER, ASKS = frozenset({"stop"}), frozenset({"the", "river"}), "what time is it"
INTERRUPTS = {
    "a sentence": Evidence(WORDS_MS, ASKS),
    "a sentence that has ended": Evidence(WORDS_MS, ASKS, final=True),
    "a command, which may be short": Evidence(COMMAND_MS, "stop"),
    "words the assistant did not say": Evidence(WORDS_MS, "which river", own=RIVER),
    "a long voice, which needs no words": Evidence(LONG_MS),
    "what may become a wish, until it has ended": Evidence(WISH_MS, "slow", wish=True),
    "what only began like a wish": Evidence(WORDS_MS, "slow", final=True),
    "a wish and a question": Evidence(WORDS_MS, "slower and tell me the time"),
}
DOES_NOT = {
    "a short sound, whatever it is taken for": Evidence(WORDS_MS - 32, "thirty five", final=True),
    "less than a command": Evidence(COMMAND_MS - 32, "stop"),
    "the assistant's own words": Evidence(WORDS_MS, "the river", own=RIVER),
    "a command among its own words": Evidence(COMMAND_MS, "stop", own=STOP),
    "a voice not long enough": Evidence(LONG_MS - 32),
    "a wish about the pace": Evidence(LONG_MS + 100, "slow", wish=True),
    "a wish that has ended": Evidence(WISH_MS, "slower please", wish=True, final=True),
}


@pytest.mark.parametrize("what", [*INTERRUPTS, *DOES_NOT])
def test_the_reply_is_ended_or_not_by(what: str) -> None:
    assert wants_floor((INTERRUPTS | DOES_NOT)[what]) == (what in INTERRUPTS)


@pytest.mark.parametrize("text", ["stop", "Wait a moment!", "No, no.", "hold on"])
def test_who_said_nothing_else_halts_the_reply_however_short_it_was(text: str) -> None:
    assert wants_floor(Evidence(32, text, final=True))
    assert not wants_floor(Evidence(32, text))
    assert not wants_floor(Evidence(32, text, own=words(text), final=True))
    assert not wants_floor(Evidence(32, f"{text} river", final=True))


def test_own_words_are_the_last_ones() -> None:
    spoken = ["Once,", *["word"] * 20, "The", "River."]
    assert own_words(spoken) == {"word", "the", "river"}
