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

OWN = frozenset({"river", "hills"})


@pytest.mark.parametrize("nod", sorted(NODDING))
def test_a_nod_is_no_interruption(nod: str) -> None:
    assert not wants_floor(Evidence(WORDS_MS + 100, nod))
    assert not wants_floor(Evidence(WORDS_MS + 100, nod, final=True))


def test_a_sentence_is_an_interruption() -> None:
    assert wants_floor(Evidence(WORDS_MS, "what time is it"))
    assert wants_floor(Evidence(WORDS_MS, "what time is it", final=True))


def test_a_short_sound_is_none_whatever_the_recogniser_makes_of_it() -> None:
    assert not wants_floor(Evidence(WORDS_MS - 32, "thirty five", final=True))


def test_a_command_may_be_short() -> None:
    assert wants_floor(Evidence(COMMAND_MS, "stop"))
    assert not wants_floor(Evidence(COMMAND_MS - 32, "stop"))


def test_the_assistants_own_words_do_not_interrupt_it() -> None:
    assert not wants_floor(Evidence(WORDS_MS, "the river", own=OWN | {"the"}))
    assert wants_floor(Evidence(WORDS_MS, "which river", own=OWN))


def test_a_command_among_its_own_words_is_not_one() -> None:
    assert not wants_floor(Evidence(COMMAND_MS, "stop", own=frozenset({"stop"})))


@pytest.mark.parametrize("text", ["stop", "Wait a moment!", "No, no.", "hold on"])
def test_who_said_nothing_else_halts_the_reply_however_short_it_was(text: str) -> None:
    assert wants_floor(Evidence(32, text, final=True))
    assert not wants_floor(Evidence(32, text))
    assert not wants_floor(Evidence(32, text, own=words(text), final=True))
    assert not wants_floor(Evidence(32, f"{text} river", final=True))


def test_a_long_voice_needs_no_words() -> None:
    assert wants_floor(Evidence(LONG_MS))
    assert not wants_floor(Evidence(LONG_MS - 32))


def test_a_wish_about_the_pace_ends_no_reply() -> None:
    assert not wants_floor(Evidence(LONG_MS + 100, "slow", wish=True))
    assert not wants_floor(Evidence(WISH_MS, "slower please", wish=True, final=True))
    assert wants_floor(Evidence(WISH_MS, "slow", wish=True))


def test_what_only_began_like_a_wish_about_the_pace_is_an_interruption() -> None:
    assert wants_floor(Evidence(WORDS_MS, "slow", final=True))
    assert wants_floor(Evidence(WORDS_MS, "slower and tell me the time"))


def test_own_words_are_the_last_ones() -> None:
    spoken = ["Once,", *["word"] * 20, "The", "River."]
    assert own_words(spoken) == {"word", "the", "river"}
