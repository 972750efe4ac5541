"""The turn rules: pure functions from facts to orders that decide who has the floor.

Invariant: advance() is a function of its arguments; it reads no clock and owns nothing. A fact of
another turn changes nothing. Every turn that begins ends exactly once.
"""

import unicodedata
from collections.abc import Callable
from dataclasses import replace
from typing import assert_never

from engine.asr.base import Transcript
from engine.audio.vad import SpeechEnded, SpeechStarted
from engine.messages.commands import PressTalk, ReleaseTalk, SendText, Speak, StopReply
from engine.messages.events import KEYBOARD, Failed, PhaseChanged
from engine.messages.words import Ending, Part, Phase
from engine.runtime.turn import facts
from engine.runtime.turn.floor import BargeInCandidate, Evidence, Floor, Outcome, wants_floor
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
from engine.text.barge_in_words import nods

REACTION_S = 0.5  # after a sound: speech that starts sooner does not react to it
# Endings by something newer. An unheard timer text is spoken after that.
ENDED_BY_NEWER = (Ending.SUPERSEDED, Ending.INTERRUPTED_BY_TEXT, Ending.INTERRUPTED_BY_TALK_KEY)
NOT_SAID = frozenset((Part.LANGUAGE_MODEL, Part.SYNTHESISER, Part.LOUDSPEAKER))  # see _failed

Deciding = (  # the facts that the rules use
    PressTalk
    | ReleaseTalk
    | SendText
    | Speak
    | StopReply
    | SpeechStarted
    | facts.SpeechGoesOn
    | SpeechEnded
    | facts.EchoCancelled
    | facts.Peeked
    | facts.Transcribed
    | facts.ReplyAudible
    | facts.ReplyEnded
    | facts.ReplayAsked
    | facts.ReadingAsked
    | Failed
)


def advance(floor: Floor, fact: Deciding, reply_words: frozenset[str] = frozenset()) -> Outcome:  # noqa: C901, PLR0912 - one case per kind
    """Return the floor after `fact`, and the orders in sequence. `reply_words` are the words of the
    reply that may be audible in the room.
    """
    match fact:
        case PressTalk():
            return _talk_pressed(floor)
        case ReleaseTalk():
            return _talk_released(floor)
        case SendText(text):
            composed = unicodedata.normalize("NFC", text)  # the form of words in the rules
            typed = Transcript(composed, confidence=1.0, recogniser=KEYBOARD)
            return _begin(floor, lambda turn: Answer(turn, typed))
        case StopReply() if floor.phase is Phase.IDLE:
            return Outcome(floor)
        case StopReply(by_escape):
            cause = Ending.INTERRUPTED_BY_ESCAPE if by_escape else Ending.INTERRUPTED_BY_STOP
            return _rest(_end(floor, cause))
        case SpeechStarted():
            return _speech_started(floor, fact)
        case facts.SpeechGoesOn(spoken_ms):
            return _weigh(
                floor, lambda known: replace(known, reply_words=reply_words, spoken_ms=spoken_ms)
            )
        case SpeechEnded(at=at):
            return _speech_ended(floor, at)
        case facts.EchoCancelled(cancels):
            return Outcome(replace(floor, cancelling=cancels))
        case facts.Peeked(turn, text, wish) if floor.is_candidate(turn):
            return _weigh(
                floor, lambda known: replace(known, reply_words=reply_words, text=text, wish=wish)
            )
        case facts.Transcribed():
            return _transcribed(floor, fact, reply_words)
        case facts.ReplyAudible(turn, at) if _awaits(floor, turn):
            spoken = replace(floor, phase=Phase.SPEAKING, audible_at=at)
            return Outcome(spoken, (PhaseChanged(turn, Phase.SPEAKING),))
        case facts.ReplyEnded(turn, ending) if _awaits(floor, turn):
            return _reply_ended(floor, ending)
        case facts.Peeked() | facts.ReplyAudible() | facts.ReplyEnded():
            return Outcome(floor)
        case Speak(text):
            waiting = (*floor.waiting, text)
            return _rest(Outcome(replace(floor, waiting=waiting)))
        case facts.ReplayAsked(text):
            cause = Ending.INTERRUPTED_BY_STOP
            return _begin(floor, lambda turn: ReadOut(turn, text, fact), cause=cause)
        case facts.ReadingAsked():
            cause = Ending.INTERRUPTED_BY_STOP
            return _begin(floor, lambda turn: ReadOut(turn, "", fact), cause=cause)
        case Failed():
            return _failed(floor, fact)
        case _:
            assert_never(fact)


def _talk_pressed(floor: Floor) -> Outcome:
    if floor.talk_held:
        return Outcome(floor)
    if floor.phase is Phase.LISTENING:
        return Outcome(replace(floor, talk_held=True), (HoldUtterance(floor.turn),))
    opened = _begin(
        floor,
        lambda turn: OpenUtterance(turn, None),
        phase=Phase.LISTENING,
        cause=Ending.INTERRUPTED_BY_TALK_KEY,
    )
    return replace(opened, floor=replace(opened.floor, talk_held=True))


def _talk_released(floor: Floor) -> Outcome:
    released = replace(floor, talk_held=False)
    if not floor.talk_held or floor.phase is not Phase.LISTENING:
        return Outcome(released)
    return _close(released, ended_at=None)


def _speech_started(floor: Floor, speech: SpeechStarted) -> Outcome:
    """Open a turn by voice if hands are free and the sound cannot come from the loudspeaker."""
    if not floor.hands_free or floor.phase is Phase.LISTENING:
        return Outcome(floor)
    speaking = floor.phase is Phase.SPEAKING
    if speaking and not floor.headset:
        return _suspect(floor, speech.sample) if floor.cancelling else Outcome(floor)
    waiting = floor.phase is Phase.THINKING  # for a reply that is not audible yet
    unmoved = speaking and speech.at - floor.audible_at < REACTION_S
    if floor.spoken and (waiting or unmoved):
        return _rejoined(floor)
    if waiting:
        return (
            _rejoined(floor)
            if floor.asked is None
            else _hold_turn(floor, floor.asked, speech.sample)
        )
    return _begin(
        floor,
        lambda turn: OpenUtterance(turn, speech.sample),
        phase=Phase.LISTENING,
        cause=Ending.INTERRUPTED_BY_SPEECH,
    )


def _hold_turn(floor: Floor, asked: Answer | ReadOut, sample: int) -> Outcome:
    """Hold the turn and listen to a voice before its reply was heard: perhaps a cough."""
    turn = _next_turn(floor)
    begun = replace(floor, turn=turn, phase=Phase.LISTENING, asked=None, held=asked)
    shown = PhaseChanged(turn, Phase.LISTENING)
    return Outcome(begun, (Hold(floor.turn), shown, OpenUtterance(turn, sample)))


def _end_held_turn(floor: Floor, ending: Ending = Ending.SUPERSEDED) -> Outcome:
    """End the held turn, if there is one. If it was about a timer, that rings after this turn."""
    held = floor.held
    if held is None:
        return Outcome(floor)
    free = replace(floor, held=None, waiting=_still_waiting(floor, held, ending))
    return Outcome(free, (EndTurn(held.turn, ending),))


def _still_waiting(
    floor: Floor, unheard: Answer | ReadOut | None, ending: Ending
) -> tuple[str, ...]:
    """Return the texts to speak once the floor is free, including the text of a timer's turn that
    lost the floor before any of it was heard.
    """
    if not isinstance(unheard, ReadOut) or unheard.replayed or ending not in ENDED_BY_NEWER:
        return floor.waiting
    return (unheard.text, *floor.waiting)


def _without_words(floor: Floor, ending: Ending) -> Outcome:
    """End a turn without words; the held order begins again."""
    held = floor.held
    if held is None:
        return _rest(_end(floor, ending))
    before = EndTurn(held.turn, Ending.SUPERSEDED, again=True)
    ended = _end(replace(floor, held=None), ending)
    begun = _begin(ended.floor, lambda turn: replace(held, turn=turn))
    return Outcome(begun.floor, (before, *ended.orders, *begun.orders))


def _rejoined(floor: Floor) -> Outcome:
    """The user had not finished and continues: one turn contains both parts."""
    *cut, end = _end(replace(floor, held=None), Ending.SUPERSEDED).orders
    turn = _next_turn(floor)
    begun = replace(floor, turn=turn, phase=Phase.LISTENING, spoken=False, asked=None)
    join = JoinUtterance(floor.turn, turn)
    return Outcome(begun, (*cut, join, end, PhaseChanged(turn, Phase.LISTENING)))


def _speech_ended(floor: Floor, at: float) -> Outcome:
    if floor.candidate is not None and not floor.candidate.closed:
        closed = replace(floor, candidate=replace(floor.candidate, closed=True))
        return Outcome(
            closed, (CloseUtterance(floor.candidate.turn, overlapping=True, ended_at=at),)
        )
    if floor.phase is not Phase.LISTENING or floor.talk_held:
        return Outcome(floor)
    return _close(replace(floor, spoken=True), ended_at=at)


def _suspect(floor: Floor, sample: int) -> Outcome:
    """Pause the reply and listen: the words decide. An earlier candidate is dropped."""
    if floor.candidate is not None and not floor.candidate.closed:
        return Outcome(floor)
    older = (DropUtterance(floor.candidate.turn, overlapping=True),) if floor.candidate else ()
    candidate = BargeInCandidate(_next_turn(floor))
    suspecting = replace(floor, candidate=candidate, last=candidate.turn)
    return Outcome(suspecting, (*older, Pause(floor.turn), OpenUtterance(candidate.turn, sample)))


def _weigh(floor: Floor, learn: Callable[[Evidence], Evidence]) -> Outcome:
    """Update the evidence of a voice during the reply; interrupt if it wants the floor."""
    if floor.candidate is None:
        return Outcome(floor)
    evidence = learn(floor.candidate.evidence)
    weighed = replace(floor, candidate=replace(floor.candidate, evidence=evidence))
    return _interrupted(weighed) if wants_floor(evidence) else Outcome(weighed)


def _transcribed(floor: Floor, fact: facts.Transcribed, reply_words: frozenset[str]) -> Outcome:
    """Handle the words of the turn, or of a candidate, which may interrupt the reply."""
    turn, said = fact.turn, fact.transcript
    before: tuple[TurnOrder, ...] = ()
    if floor.is_candidate(turn):
        final = Evidence(text=said.text, wish=fact.wish, reply_words=reply_words, final=True)
        taken = _weigh(floor, lambda known: replace(final, spoken_ms=known.spoken_ms))
        if taken.floor.candidate is not None:
            return _candidate_over(floor, said.text if fact.wish else "")
        floor, before = taken.floor, taken.orders
    if not _awaits(floor, turn):
        return Outcome(floor, before)
    if said.text and not (floor.held and (fact.wish or nods(said.text))):
        freed, answer = _end_held_turn(floor), Answer(turn, said)
        answered = replace(freed.floor, asked=answer)
        return Outcome(answered, (*before, *freed.orders, answer))
    nothing = _without_words(floor, Ending.NOTHING_HEARD)
    return replace(nothing, orders=before + nothing.orders)


def _candidate_over(floor: Floor, wish: str = "") -> Outcome:
    """The candidate does not end the reply, which continues."""
    assert floor.candidate is not None
    drop = DropUtterance(floor.candidate.turn, overlapping=True)
    return Outcome(replace(floor, candidate=None), (drop, Resume(floor.turn, wish)))


def _interrupted(floor: Floor) -> Outcome:
    """The user takes the floor from the reply."""
    assert floor.candidate is not None
    return _hand_over(
        _end(replace(floor, candidate=None), Ending.INTERRUPTED_BY_SPEECH), floor.candidate
    )


def _hand_over(ended: Outcome, candidate: BargeInCandidate) -> Outcome:
    """Give the free floor to the candidate, who is already speaking."""
    phase = Phase.THINKING if candidate.closed else Phase.LISTENING
    begun = replace(
        ended.floor, turn=candidate.turn, phase=phase, candidate=None, spoken=candidate.closed
    )
    return Outcome(begun, (*ended.orders, PhaseChanged(candidate.turn, phase)))


def _next_turn(floor: Floor) -> int:
    return max(floor.turn, floor.last) + 1


def _awaits(floor: Floor, turn: int) -> bool:
    """Return whether this turn has the floor and the user has finished: the assistant is next."""
    return turn == floor.turn and floor.phase in (Phase.THINKING, Phase.SPEAKING)


def _reply_ended(floor: Floor, ending: Ending) -> Outcome:
    idle = replace(floor, phase=Phase.IDLE, spoken=False, asked=None)
    over = Outcome(idle, (EndTurn(floor.turn, ending),))
    return _hand_over(over, floor.candidate) if floor.candidate else _rest(over)


def _failed(floor: Floor, fault: Failed) -> Outcome:
    """End a turn whose words cannot be recognised, or which makes no progress. A fault of a part
    that makes the reply does not end it here: ReplyEnded does, after the last sample.
    """
    if fault.turn is None or fault.part in NOT_SAID:
        return Outcome(floor)
    if floor.is_candidate(fault.turn):
        return _candidate_over(floor)
    if fault.turn != floor.turn or floor.phase is Phase.IDLE:
        return Outcome(floor)
    lost = fault.part is Part.MICROPHONE
    return _without_words(floor, Ending.DEVICE_LOST if lost else Ending.FAILED)


def _begin(
    floor: Floor,
    order: Callable[[int], TurnOrder],
    *,
    phase: Phase = Phase.THINKING,
    cause: Ending = Ending.INTERRUPTED_BY_TEXT,
) -> Outcome:
    """End the current turn because of `cause` and give the floor to a new turn."""
    before = _end(floor, cause)
    turn = _next_turn(before.floor)
    first = order(turn)
    asked = first if isinstance(first, Answer | ReadOut) else None
    begun = replace(before.floor, turn=turn, phase=phase, asked=asked)
    return Outcome(begun, (*before.orders, PhaseChanged(turn, phase), first))


def _end(floor: Floor, ending: Ending) -> Outcome:
    """End the turn that has the floor, if there is one; the floor is free afterwards."""
    freed = _end_held_turn(floor, ending)
    floor = freed.floor
    unheard = floor.asked if floor.phase is Phase.THINKING else None
    idle = replace(
        floor,
        phase=Phase.IDLE,
        candidate=None,
        talk_held=False,
        spoken=False,
        asked=None,
        waiting=_still_waiting(floor, unheard, ending),
    )
    if floor.phase is Phase.IDLE:
        return Outcome(idle)
    dropped = (DropUtterance(floor.candidate.turn, overlapping=True),) if floor.candidate else ()
    before = (*freed.orders, *dropped)
    if floor.phase is Phase.LISTENING:
        faults = (Ending.FAILED, Ending.DEVICE_LOST)
        ending = ending if ending in faults else Ending.NOTHING_HEARD
        return Outcome(idle, (*before, DropUtterance(floor.turn), EndTurn(floor.turn, ending)))
    return Outcome(idle, (*before, EndTurn(floor.turn, ending)))


def _rest(ended: Outcome) -> Outcome:
    """If the floor is free, show that, or let the next waiting timer speak."""
    floor = ended.floor
    if floor.phase is not Phase.IDLE:
        return ended
    if not floor.waiting:
        return Outcome(floor, (*ended.orders, PhaseChanged(floor.turn, Phase.IDLE)))
    text = floor.waiting[0]
    begun = _begin(replace(floor, waiting=floor.waiting[1:]), lambda turn: ReadOut(turn, text))
    return Outcome(begun.floor, ended.orders + begun.orders)


def _close(floor: Floor, *, ended_at: float | None) -> Outcome:
    """The user has finished speaking in the current turn."""
    closed = replace(floor, phase=Phase.THINKING)
    close = CloseUtterance(floor.turn, ended_at=ended_at)
    return Outcome(closed, (close, PhaseChanged(floor.turn, Phase.THINKING)))
