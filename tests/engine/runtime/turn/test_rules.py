"""The turn rules, one sentence per rule, and a law over random histories."""

from dataclasses import dataclass
from functools import reduce

import pytest
from hypothesis import given, settings
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
    Hold,
    HoldUtterance,
    JoinUtterance,
    OpenUtterance,
    Pause,
    ReadOut,
    Resume,
    TurnOrder,
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


def without_phases(orders: tuple[TurnOrder, ...]) -> list[TurnOrder]:
    return [order for order in orders if not isinstance(order, PhaseChanged)]


HANDS_FREE, KEY_ONLY = Floor(), Floor(hands_free=False)
HEADSET, CANCELLING = Floor(headset=True), Floor(cancelling=True)
SPOKEN = (SpeechStarted(0), ENDED)
HEARD = (SpeechStarted(800), ENDED, understood(1, "hi"), audible(1))
TYPED = (SendText("hi"), audible(1))
OVER_LOUDSPEAKER = (*TYPED, SpeechStarted(800))
BY_SPEECH, BY_TEXT = Ending.INTERRUPTED_BY_SPEECH, Ending.INTERRUPTED_BY_TEXT
AT_ONCE, LATER = SpeechStarted(9_000, 2.0 + REACTION_S / 2), SpeechStarted(9_000, 2.0 + REACTION_S)
DROPPED = DropUtterance(2, overlapping=True)
MAKERS = Part.LANGUAGE_MODEL, Part.SYNTHESISER, Part.LOUDSPEAKER
COMPLETE = ReplyEnded(1, Ending.COMPLETE)


@dataclass(frozen=True)
class Rule:
    """What happened on a floor, the last orders that come of it, and who has the floor then; None:
    whoever is shown.
    """

    history: tuple[Deciding, ...]
    orders: list[TurnOrder]
    floor: Floor = HANDS_FREE
    phase: Phase | None = None


RULES = {
    "a spoken question is heard, thought about and answered": Rule(
        (*HEARD, COMPLETE),
        [
            OpenUtterance(1, 800),
            CloseUtterance(1, ended_at=1.0),
            Answer(1, said("hi")),
            EndTurn(1, Ending.COMPLETE),
        ],
        phase=Phase.IDLE,
    ),
    "what is typed with accents apart is composed": Rule(
        (SendText("cafe\u0301"),), [Answer(1, typed("caf\u00e9"))]
    ),
    "the talk key opens and closes the utterance, and voice activity does not": Rule(
        (PressTalk(), SpeechStarted(5), ENDED, ReleaseTalk()),
        [OpenUtterance(1, None), CloseUtterance(1)],
        KEY_ONLY,
    ),
    "the talk key in the middle of an utterance holds it until it is let go": Rule(
        (SpeechStarted(800), PressTalk(), ENDED, ReleaseTalk()),
        [OpenUtterance(1, 800), HoldUtterance(1), CloseUtterance(1)],
    ),
    "the talk key during a reply stops it": Rule(
        (*TYPED, PressTalk()), [EndTurn(1, Ending.INTERRUPTED_BY_TALK_KEY), OpenUtterance(2, None)]
    ),
    "voice during a reply is the loudspeaker": Rule(
        (*TYPED, SpeechStarted(9)), [Answer(1, typed("hi"))], phase=Phase.SPEAKING
    ),
    "voice during a reply is a person where a headset is worn": Rule(
        (*TYPED, SpeechStarted(9)),
        [EndTurn(1, BY_SPEECH), OpenUtterance(2, 9)],
        HEADSET,
        phase=Phase.LISTENING,
    ),
    "a new text takes the floor from a reply": Rule(
        (SendText("one"), audible(1), SendText("two")),
        [EndTurn(1, BY_TEXT), Answer(2, typed("two"))],
    ),
    "a timer waits until nobody has the floor": Rule(
        (*TYPED, Speak("tea"), COMPLETE), [EndTurn(1, Ending.COMPLETE), ReadOut(2, "tea")]
    ),
    "who goes on before the reply is heard goes on with the same utterance": Rule(
        (*HEARD[:3], SpeechStarted(9_000), ENDED, understood(2, "hi you")),
        [
            JoinUtterance(1, 2),
            EndTurn(1, Ending.SUPERSEDED),
            CloseUtterance(2, ended_at=1.0),
            Answer(2, said("hi you")),
        ],
    ),
    "who goes on too soon to have heard the reply loses nothing of what was said": Rule(
        (*HEARD, AT_ONCE), [JoinUtterance(1, 2), EndTurn(1, Ending.SUPERSEDED)], HEADSET
    ),
    "what is said once the reply is heard is a turn of its own": Rule(
        (*HEARD, LATER), [EndTurn(1, BY_SPEECH), OpenUtterance(2, 9_000)], HEADSET
    ),
    "a voice is not joined to what was typed": Rule(
        (*TYPED, AT_ONCE), [EndTurn(1, BY_SPEECH), OpenUtterance(2, 9_000)], HEADSET
    ),
    "what was stopped is not joined, and neither is what follows a typed text": Rule(
        (*SPOKEN, StopReply(), SendText("hi"), SpeechStarted(9_000)),
        [Hold(2), OpenUtterance(3, 9_000)],
    ),
    "what was stopped is not joined, and neither is what follows a timer": Rule(
        (*SPOKEN, StopReply(), Speak("tea"), SpeechStarted(9_000)),
        [Hold(2), OpenUtterance(3, 9_000)],
    ),
    "a noise while a typed question is thought about puts the answer off": Rule(
        (SendText("hi"), *SPOKEN, understood(2, "")),
        [
            *(Answer(1, typed("hi")), Hold(1), OpenUtterance(2, 0)),
            CloseUtterance(2, ended_at=1.0),
            EndTurn(1, Ending.SUPERSEDED, again=True),
            EndTurn(2, Ending.NOTHING_HEARD),
            Answer(3, typed("hi")),
        ],
        phase=Phase.THINKING,
    ),
    "two noises put it off twice, and a nod is like a noise": Rule(
        (SendText("hi"), *SPOKEN, *SPOKEN, understood(3, "mhm"), *SPOKEN, understood(5, "")),
        [EndTurn(5, Ending.NOTHING_HEARD), Answer(6, typed("hi"))],
    ),
    "a noise whose words cannot be had puts it off too": Rule(
        (SendText("hi"), SpeechStarted(0), broke(2, Part.MICROPHONE)),
        [EndTurn(2, Ending.DEVICE_LOST), Answer(3, typed("hi"))],
    ),
    "who says something instead of a typed question is answered to that": Rule(
        (SendText("hi"), *SPOKEN, understood(2, "never mind")),
        [EndTurn(1, Ending.SUPERSEDED), Answer(2, said("never mind"))],
    ),
    "who stops a noise has stopped the question before it": Rule(
        (SendText("hi"), SpeechStarted(0), StopReply()),
        [
            EndTurn(1, Ending.INTERRUPTED_BY_STOP),
            *(DropUtterance(2), EndTurn(2, Ending.NOTHING_HEARD)),
        ],
        phase=Phase.IDLE,
    ),
    "a question asked with the talk key is answered after a noise": Rule(
        (PressTalk(), ReleaseTalk(), understood(1, "hi"), *SPOKEN, understood(2, "")),
        [EndTurn(2, Ending.NOTHING_HEARD), Answer(3, said("hi"))],
    ),
    "a noise before the words of the talk key are known belongs to them": Rule(
        (PressTalk(), ReleaseTalk(), SpeechStarted(9)),
        [JoinUtterance(1, 2), EndTurn(1, Ending.SUPERSEDED)],
    ),
    "a noise before a timer is heard puts it off": Rule(
        (Speak("tea"), *SPOKEN, understood(2, "")),
        [EndTurn(2, Ending.NOTHING_HEARD), ReadOut(3, "tea")],
    ),
    "words before a timer is heard are answered first": Rule(
        (Speak("tea"), *SPOKEN, understood(2, "hi"), ReplyEnded(2, Ending.COMPLETE)),
        [
            *(EndTurn(1, Ending.SUPERSEDED), Answer(2, said("hi"))),
            *(EndTurn(2, Ending.COMPLETE), ReadOut(3, "tea")),
        ],
    ),
    "a text before a timer is heard is answered first": Rule(
        (Speak("tea"), SendText("hi"), ReplyEnded(2, Ending.COMPLETE)),
        [
            *(EndTurn(1, BY_TEXT), Answer(2, typed("hi"))),
            *(EndTurn(2, Ending.COMPLETE), ReadOut(3, "tea")),
        ],
    ),
    "what is stopped before a timer is heard stops the timer": Rule(
        (Speak("tea"), StopReply()), [EndTurn(1, Ending.INTERRUPTED_BY_STOP)], phase=Phase.IDLE
    ),
    "voice during a cancelled reply makes it quiet and is listened to": Rule(
        OVER_LOUDSPEAKER, [Pause(1), OpenUtterance(2, 800)], CANCELLING, phase=Phase.SPEAKING
    ),
    "a confirmed voice ends the reply and is the next turn": Rule(
        (*OVER_LOUDSPEAKER, CONFIRMED, ENDED, understood(2, "stop")),
        [EndTurn(1, BY_SPEECH), CloseUtterance(2, ended_at=1.0), Answer(2, said("stop"))],
        CANCELLING,
    ),
    "a voice that said nothing gives the reply its volume back, even if it is confirmed then": Rule(
        (*OVER_LOUDSPEAKER, ENDED, understood(2, ""), CONFIRMED),
        [CloseUtterance(2, overlapping=True, ended_at=1.0), DROPPED, Resume(1)],
        CANCELLING,
        phase=Phase.SPEAKING,
    ),
    "a confirmed voice has the floor": Rule(
        (*OVER_LOUDSPEAKER, CONFIRMED), [EndTurn(1, BY_SPEECH)], CANCELLING, Phase.LISTENING
    ),
    "a suspected voice has the floor once the reply has ended": Rule(
        (*OVER_LOUDSPEAKER, COMPLETE), [EndTurn(1, Ending.COMPLETE)], CANCELLING, Phase.LISTENING
    ),
    "a fault of a part that makes the reply leaves the end to the reply": Rule(
        (SendText("hi"), *(broke(1, part) for part in MAKERS)),
        [Answer(1, typed("hi"))],
        phase=Phase.THINKING,
    ),
    "a short word that asks for the floor gets an answer": Rule(
        (*OVER_LOUDSPEAKER, ENDED, understood(2, "stop")),
        [EndTurn(1, BY_SPEECH), Answer(2, said("stop"))],
        CANCELLING,
    ),
    "a key during a candidate forgets the voice": Rule(
        (*OVER_LOUDSPEAKER, SendText("else")),
        [DROPPED, EndTurn(1, BY_TEXT), Answer(3, typed("else"))],
        CANCELLING,
    ),
    "a wish about the pace said into the reply goes with it": Rule(
        (*OVER_LOUDSPEAKER, ENDED, understood(2, "slower")),
        [DROPPED, Resume(1, "slower")],
        CANCELLING,
    ),
    "a candidate whose words cannot be had is none": Rule(
        (*OVER_LOUDSPEAKER, broke(2, Part.RECOGNISER)), [DROPPED, Resume(1)], CANCELLING
    ),
    "a stop while somebody is listened to drops the utterance": Rule(
        (SpeechStarted(0), StopReply()), [DropUtterance(1), EndTurn(1, Ending.NOTHING_HEARD)]
    ),
    "who goes on twice is joined twice": Rule(
        (*SPOKEN, *SPOKEN, SpeechStarted(0)), [JoinUtterance(2, 3), EndTurn(2, Ending.SUPERSEDED)]
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_of_what_happens_comes(rule):
    expected = RULES[rule]
    outcome = play(*expected.history, floor=expected.floor)
    assert without_phases(outcome.orders)[-len(expected.orders) :] == expected.orders
    shown = [order.phase for order in outcome.orders if isinstance(order, PhaseChanged)]
    assert shown[-1] is outcome.floor.phase is (expected.phase or shown[-1])


@pytest.mark.parametrize(
    ("history", "ending"),
    [
        ((*TYPED, StopReply()), Ending.INTERRUPTED_BY_STOP),
        ((SendText("hi"), StopReply(by_escape=True)), Ending.INTERRUPTED_BY_ESCAPE),
        ((*TYPED, ReplyEnded(1, Ending.FAILED)), Ending.FAILED),
        ((SendText("hi"), broke(1)), Ending.FAILED),
        ((PressTalk(), broke(1, Part.MICROPHONE)), Ending.DEVICE_LOST),
        ((PressTalk(), ReleaseTalk(), broke(1, Part.MICROPHONE)), Ending.DEVICE_LOST),
        ((*SPOKEN, understood(1, "")), Ending.NOTHING_HEARD),
        ((SpeechStarted(0), StopReply()), Ending.NOTHING_HEARD),
    ],
)
def test_a_turn_ends_by_its_cause_and_nobody_has_the_floor(history, ending):
    outcome = play(*history)
    assert outcome.orders[-2:] == (EndTurn(1, ending), PhaseChanged(1, Phase.IDLE))
    assert outcome.floor.phase is Phase.IDLE


def test_facts_of_an_older_turn_change_nothing():
    floor = play(SendText("one"), SendText("two")).floor
    for stale in (understood(1, "x"), audible(1), COMPLETE, broke(1)):
        assert advance(floor, stale) == Outcome(floor)


def test_what_is_heard_of_a_voice_is_weighed_while_it_goes_on():
    suspecting = play(*OVER_LOUDSPEAKER, SpeechGoesOn(300), floor=CANCELLING).floor
    assert suspecting.candidate == BargeInCandidate(2, evidence=Evidence(300))
    assert advance(suspecting, Peeked(1, "stop")) == Outcome(suspecting)
    assert advance(suspecting, Peeked(2, "stop"), frozenset({"stop"})).floor.turn == 1
    assert advance(suspecting, Peeked(2, "stop")).floor.turn == 2


def test_who_is_cancelled_out_is_listened_to_under_the_reply():
    assert play(EchoCancelled(True)).floor.cancelling
    assert not play(EchoCancelled(False), floor=CANCELLING).floor.cancelling


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


@settings(max_examples=200)
@given(facts, floors)
def test_every_turn_that_begins_ends_exactly_once(history, floor):
    """And a reply that is paused goes on or ends, a candidate has the floor or is forgotten."""
    # Timers that wait speak one after the other, so every one needs a stop of its own.
    outcome = play(*history, *[StopReply()] * (len(history) + 1), floor=floor)

    def turns_of(*kinds: type) -> list[int]:
        return [order.turn for order in outcome.orders if isinstance(order, kinds)]

    ended = turns_of(EndTurn)
    shown = [order for order in outcome.orders if isinstance(order, PhaseChanged)]
    begun = dict.fromkeys(order.turn for order in shown if order.phase is not Phase.IDLE)
    assert sorted(ended) == list(begun)
    assert outcome.floor.phase is Phase.IDLE
    paused = set()
    for order in outcome.orders:
        if isinstance(order, Pause):
            paused.add(order.turn)
        if isinstance(order, Resume | EndTurn):
            paused.discard(order.turn)
    assert not paused
    drops = [order for order in outcome.orders if isinstance(order, DropUtterance)]
    dropped = {order.turn for order in drops if order.overlapping}
    assert set(turns_of(OpenUtterance, JoinUtterance)) <= dropped | set(ended)
    assert dropped.isdisjoint(ended)
