"""The turn rules, one sentence per rule, and a law over random histories."""

from dataclasses import replace
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.asr.base import Transcript
from engine.audio.vad import SpeechEnded, SpeechStarted
from engine.messages.commands import PressTalk, ReleaseTalk, SendText, Speak, StopReply
from engine.messages.events import Failed, PhaseChanged
from engine.messages.words import Ending, Part, Phase
from engine.runtime.turn.facts import (
    EchoCancelled,
    Peeked,
    ReplyAudible,
    ReplyEnded,
    SpeechGoesOn,
    Transcribed,
)
from engine.runtime.turn.floor import LONG_MS, BargeInCandidate, Evidence, Floor, Outcome
from engine.runtime.turn.orders import (
    Answer,
    CloseUtterance,
    DropUtterance,
    EndTurn,
    HoldUtterance,
    JoinUtterance,
    OpenUtterance,
    Order,
    Pause,
    ReadOut,
    Resume,
)
from engine.runtime.turn.rules import REACTION_S, Deciding, advance

ENDED = SpeechEnded(16_000, 1.0)
CONFIRMED = SpeechGoesOn(LONG_MS)  # nobody nods that long


def said(text: str) -> Transcript:
    return Transcript(text, 0.9, "fake")


def typed(text: str) -> Transcript:
    return Transcript(text, 1.0, "keyboard")


def understood(turn: int, text: str) -> Transcribed:
    return Transcribed(turn, said(text), 1.2, wish=text == "slower")


def audible(turn: int) -> ReplyAudible:
    return ReplyAudible(turn, 2.0)


def broke(turn: int, part: Part | None = None) -> Failed:
    return Failed("fault", "It broke.", "", turn, part)


def play(*facts: Deciding, floor: Floor | None = None) -> Outcome:
    """All orders of a history, and the floor at its end."""

    def step(so_far: Outcome, fact: Deciding) -> Outcome:
        outcome = advance(so_far.floor, fact)
        return Outcome(outcome.floor, so_far.orders + outcome.orders)

    return reduce(step, facts, Outcome(floor or Floor()))


def without_phases(orders: tuple[Order, ...]) -> list[Order]:
    return [order for order in orders if not isinstance(order, PhaseChanged)]


def test_a_spoken_question_is_heard_thought_about_and_answered() -> None:
    outcome = play(
        SpeechStarted(800),
        ENDED,
        understood(1, "hello"),
        audible(1),
        ReplyEnded(1, Ending.COMPLETE),
    )
    assert without_phases(outcome.orders) == [
        OpenUtterance(1, 800),
        CloseUtterance(1, ended_at=1.0),
        Answer(1, said("hello")),
        EndTurn(1, Ending.COMPLETE),
    ]
    assert outcome.floor.phase is Phase.IDLE


def test_what_is_typed_with_accents_apart_is_composed() -> None:
    outcome = play(SendText("cafe\u0301"))
    assert [order.said.text for order in outcome.orders if isinstance(order, Answer)] == [
        "caf\u00e9"
    ]


def test_talk_key_opens_and_closes_the_utterance_and_voice_activity_does_not() -> None:
    outcome = play(
        PressTalk(), SpeechStarted(5), ENDED, ReleaseTalk(), floor=Floor(hands_free=False)
    )
    assert without_phases(outcome.orders) == [OpenUtterance(1, None), CloseUtterance(1)]


def test_talk_key_in_the_middle_of_an_utterance_holds_it_until_it_is_let_go() -> None:
    outcome = play(SpeechStarted(800), PressTalk(), ENDED, ReleaseTalk())
    assert without_phases(outcome.orders) == [
        OpenUtterance(1, 800),
        HoldUtterance(1),
        CloseUtterance(1),
    ]


def test_talk_key_during_a_reply_stops_it() -> None:
    outcome = play(SendText("hi"), audible(1), PressTalk())
    assert EndTurn(1, Ending.INTERRUPTED_BY_TALK_KEY) in outcome.orders
    assert outcome.orders[-1] == OpenUtterance(2, None)


def test_voice_during_a_reply_is_the_loudspeaker_unless_a_headset_is_worn() -> None:
    speaking = (SendText("hi"), audible(1), SpeechStarted(9))
    assert play(*speaking).floor.phase is Phase.SPEAKING
    interrupted = play(*speaking, floor=Floor(headset=True))
    assert EndTurn(1, Ending.INTERRUPTED_BY_SPEECH) in interrupted.orders
    assert interrupted.floor.phase is Phase.LISTENING


SPOKEN = (SpeechStarted(0), ENDED)


@pytest.mark.parametrize(
    ("history", "ending"),
    [
        ((SendText("hi"), audible(1), StopReply()), Ending.INTERRUPTED_BY_STOP),
        ((SendText("hi"), StopReply(by_escape=True)), Ending.INTERRUPTED_BY_ESCAPE),
        ((SendText("hi"), audible(1), ReplyEnded(1, Ending.FAILED)), Ending.FAILED),
        ((SendText("hi"), broke(1)), Ending.FAILED),
        ((PressTalk(), broke(1, Part.MICROPHONE)), Ending.DEVICE_LOST),
        ((PressTalk(), ReleaseTalk(), broke(1, Part.MICROPHONE)), Ending.DEVICE_LOST),
        ((*SPOKEN, understood(1, "")), Ending.NOTHING_HEARD),
        ((SpeechStarted(0), StopReply()), Ending.NOTHING_HEARD),
    ],
)
def test_a_turn_ends_by_its_cause_and_nobody_has_the_floor(
    history: tuple[Deciding, ...], ending: Ending
) -> None:
    outcome = play(*history)
    assert outcome.orders[-2:] == (EndTurn(1, ending), PhaseChanged(1, Phase.IDLE))
    assert outcome.floor.phase is Phase.IDLE


def test_who_speaks_on_before_the_reply_is_heard_supersedes_it() -> None:
    outcome = play(*SPOKEN, understood(1, "and"), SpeechStarted(9))
    assert EndTurn(1, Ending.SUPERSEDED) in outcome.orders


def test_stop_while_listening_drops_the_utterance() -> None:
    assert DropUtterance(1) in play(SpeechStarted(0), StopReply()).orders


def test_a_new_text_takes_the_floor_from_a_reply() -> None:
    outcome = play(SendText("one"), audible(1), SendText("two"))
    assert without_phases(outcome.orders)[1:] == [
        EndTurn(1, Ending.INTERRUPTED_BY_TEXT),
        Answer(2, typed("two")),
    ]


def test_a_timer_waits_until_nobody_has_the_floor() -> None:
    outcome = play(SendText("hi"), audible(1), Speak("tea"), ReplyEnded(1, Ending.COMPLETE))
    assert without_phases(outcome.orders)[1:] == [EndTurn(1, Ending.COMPLETE), ReadOut(2, "tea")]


def test_facts_of_an_older_turn_change_nothing() -> None:
    floor = play(SendText("one"), SendText("two")).floor
    for stale in (understood(1, "x"), audible(1), ReplyEnded(1, Ending.COMPLETE), broke(1)):
        assert advance(floor, stale) == Outcome(floor)


turns = st.integers(min_value=0, max_value=6)
facts = st.lists(
    st.one_of(
        st.just(PressTalk()),
        st.just(ReleaseTalk()),
        st.builds(SpeechStarted, st.integers(0, 10**6), st.floats(0.0, 9.0)),
        st.just(ENDED),
        st.builds(SpeechGoesOn, st.sampled_from([32, LONG_MS])),
        st.builds(Peeked, turns, st.sampled_from(["stop", "mhm"])),
        st.builds(EchoCancelled, st.booleans()),
        st.builds(SendText, st.just("text")),
        st.builds(understood, turns, st.sampled_from(["", "words", "stop", "slower"])),
        st.builds(audible, turns),
        st.builds(ReplyEnded, turns, st.sampled_from([Ending.COMPLETE, Ending.FAILED])),
        st.just(StopReply()),
        st.builds(broke, turns, st.sampled_from([None, *Part])),
        st.builds(Speak, st.just("ring")),
    ),
    max_size=60,
)


floors = st.builds(Floor, hands_free=st.booleans(), headset=st.booleans(), cancelling=st.booleans())


@given(facts, floors)
def test_every_turn_that_begins_ends_exactly_once(history: list[Deciding], floor: Floor) -> None:
    # Timers that wait speak one after the other, so every one needs a stop of its own.
    stops = [StopReply()] * (len(history) + 1)
    outcome = play(*history, *stops, floor=floor)
    ended = [order.turn for order in outcome.orders if isinstance(order, EndTurn)]
    shown = [order for order in outcome.orders if isinstance(order, PhaseChanged)]
    begun = dict.fromkeys(order.turn for order in shown if order.phase is not Phase.IDLE)
    assert ended == list(begun)
    assert ended == sorted(ended)
    assert outcome.floor.phase is Phase.IDLE


@given(facts, floors)
def test_a_reply_that_is_paused_goes_on_or_ends(history: list[Deciding], floor: Floor) -> None:
    outcome = play(*history, *[StopReply()] * (len(history) + 1), floor=floor)
    paused = set()
    for order in outcome.orders:
        if isinstance(order, Pause):
            paused.add(order.turn)
        if isinstance(order, Resume | EndTurn):
            paused.discard(order.turn)
    assert not paused


@given(facts, floors)
def test_every_barge_in_candidate_gets_the_floor_or_is_forgotten(
    history: list[Deciding], floor: Floor
) -> None:
    outcome = play(*history, *[StopReply()] * (len(history) + 1), floor=floor)
    opening = OpenUtterance | JoinUtterance
    ears = [order for order in outcome.orders if isinstance(order, opening)]
    opened = {order.turn for order in ears}
    drops = [order for order in outcome.orders if isinstance(order, DropUtterance)]
    dropped = {order.turn for order in drops if order.overlapping}
    ended = {order.turn for order in outcome.orders if isinstance(order, EndTurn)}
    assert opened <= dropped | ended
    assert not dropped & ended


def test_who_goes_on_before_the_reply_is_heard_goes_on_with_the_same_utterance() -> None:
    closed = play(SpeechStarted(800), ENDED, understood(1, "what time is it"))
    outcome = advance(closed.floor, SpeechStarted(9_000))
    assert outcome.orders == (
        JoinUtterance(1, 2),
        EndTurn(1, Ending.SUPERSEDED),
        PhaseChanged(2, Phase.LISTENING),
    )
    rest = play(ENDED, understood(2, "what time is it in Tokyo"), floor=outcome.floor)
    assert without_phases(rest.orders) == [
        CloseUtterance(2, ended_at=1.0),
        Answer(2, said("what time is it in Tokyo")),
    ]


def test_who_goes_on_twice_is_joined_twice() -> None:
    outcome = play(*[SpeechStarted(0), ENDED] * 3)
    joined = [order for order in outcome.orders if isinstance(order, JoinUtterance)]
    assert joined == [JoinUtterance(1, 2), JoinUtterance(2, 3)]


@pytest.mark.parametrize("first", [SendText("hi"), Speak("tea")])
def test_what_was_not_ended_by_a_silence_is_not_joined(first: Deciding) -> None:
    outcome = play(SpeechStarted(0), ENDED, StopReply(), first, SpeechStarted(9_000))
    assert OpenUtterance(3, 9_000) in outcome.orders


def test_what_is_said_once_the_reply_is_heard_is_a_turn_of_its_own() -> None:
    spoken = play(SpeechStarted(0), ENDED, understood(1, "hi"), audible(1))
    late = SpeechStarted(9_000, 2.0 + REACTION_S)
    outcome = advance(replace(spoken.floor, headset=True), late)
    assert OpenUtterance(2, 9_000) in outcome.orders


def test_who_goes_on_too_soon_to_have_heard_the_reply_loses_nothing_of_what_was_said() -> None:
    spoken = play(SpeechStarted(0), ENDED, understood(1, "hi"), audible(1))
    outcome = advance(
        replace(spoken.floor, headset=True), SpeechStarted(9_000, 2.0 + REACTION_S / 2)
    )
    assert without_phases(outcome.orders) == [
        JoinUtterance(1, 2),
        EndTurn(1, Ending.SUPERSEDED),
    ]


def test_a_voice_is_not_joined_to_what_was_typed() -> None:
    spoken = play(SendText("hi"), audible(1), floor=Floor(headset=True))
    outcome = advance(spoken.floor, SpeechStarted(9_000, 2.0 + REACTION_S / 2))
    assert OpenUtterance(2, 9_000) in outcome.orders


OVER_LOUDSPEAKER = (SendText("hi"), audible(1), SpeechStarted(800))
CANCELLING = Floor(cancelling=True)


def test_voice_during_a_cancelled_reply_makes_it_quiet_and_is_listened_to() -> None:
    outcome = play(*OVER_LOUDSPEAKER, floor=CANCELLING)
    assert outcome.orders[-2:] == (Pause(1), OpenUtterance(2, 800))
    assert outcome.floor.phase is Phase.SPEAKING
    assert outcome.floor.candidate == BargeInCandidate(2)


def test_a_confirmed_voice_ends_the_reply_and_is_the_next_turn() -> None:
    outcome = play(*OVER_LOUDSPEAKER, CONFIRMED, floor=CANCELLING)
    assert outcome.orders[-2:] == (
        EndTurn(1, Ending.INTERRUPTED_BY_SPEECH),
        PhaseChanged(2, Phase.LISTENING),
    )
    rest = play(ENDED, understood(2, "stop"), floor=outcome.floor)
    assert without_phases(rest.orders) == [CloseUtterance(2, ended_at=1.0), Answer(2, said("stop"))]


def test_a_voice_that_said_nothing_gives_the_reply_its_volume_back() -> None:
    outcome = play(*OVER_LOUDSPEAKER, ENDED, understood(2, ""), floor=CANCELLING)
    assert outcome.orders[-3:] == (
        CloseUtterance(2, overlapping=True, ended_at=1.0),
        DropUtterance(2, overlapping=True),
        Resume(1),
    )
    assert outcome.floor.phase is Phase.SPEAKING
    assert advance(outcome.floor, CONFIRMED) == Outcome(outcome.floor)


def test_a_short_word_that_asks_for_the_floor_gets_an_answer() -> None:
    outcome = play(*OVER_LOUDSPEAKER, ENDED, understood(2, "stop"), floor=CANCELLING)
    assert without_phases(outcome.orders)[-2:] == [
        EndTurn(1, Ending.INTERRUPTED_BY_SPEECH),
        Answer(2, said("stop")),
    ]


def test_a_reply_that_ends_during_a_candidate_leaves_the_floor_to_the_voice() -> None:
    outcome = play(*OVER_LOUDSPEAKER, ReplyEnded(1, Ending.COMPLETE), floor=CANCELLING)
    assert outcome.orders[-2:] == (EndTurn(1, Ending.COMPLETE), PhaseChanged(2, Phase.LISTENING))


def test_a_key_during_a_candidate_forgets_the_voice() -> None:
    outcome = play(*OVER_LOUDSPEAKER, SendText("else"), floor=CANCELLING)
    assert without_phases(outcome.orders)[-3:] == [
        DropUtterance(2, overlapping=True),
        EndTurn(1, Ending.INTERRUPTED_BY_TEXT),
        Answer(3, typed("else")),
    ]


def test_what_is_heard_of_a_voice_is_weighed_while_it_goes_on() -> None:
    suspecting = play(*OVER_LOUDSPEAKER, SpeechGoesOn(300), floor=CANCELLING).floor
    assert suspecting.candidate == BargeInCandidate(2, evidence=Evidence(300))
    assert advance(suspecting, Peeked(1, "stop")) == Outcome(suspecting)
    assert advance(suspecting, Peeked(2, "stop"), frozenset({"stop"})).floor.turn == 1
    assert advance(suspecting, Peeked(2, "stop")).floor.turn == 2


def test_a_wish_about_the_pace_said_into_the_reply_goes_with_it() -> None:
    outcome = play(*OVER_LOUDSPEAKER, ENDED, understood(2, "slower"), floor=CANCELLING)
    assert outcome.orders[-1] == Resume(1, "slower")


@pytest.mark.parametrize("part", [Part.LANGUAGE_MODEL, Part.SYNTHESISER, Part.LOUDSPEAKER])
def test_a_fault_of_what_makes_the_reply_leaves_the_end_to_the_reply(part: Part) -> None:
    outcome = play(SendText("hi"), broke(1, part))
    assert outcome.floor.phase is Phase.THINKING


def test_a_candidate_whose_words_cannot_be_had_is_none() -> None:
    outcome = play(*OVER_LOUDSPEAKER, broke(2, Part.RECOGNISER), floor=CANCELLING)
    assert outcome.orders[-2:] == (DropUtterance(2, overlapping=True), Resume(1))


def test_who_is_cancelled_out_is_listened_to_under_the_reply() -> None:
    assert play(EchoCancelled(True)).floor.cancelling
    assert not play(EchoCancelled(False), floor=CANCELLING).floor.cancelling
