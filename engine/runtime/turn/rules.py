"""Who has the floor: pure rules from what happened to what must be done.

Invariant: advance() is a function of its arguments; it reads no clock and owns nothing. A fact of
another turn changes nothing. Every turn that begins ends exactly once.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import assert_never

from engine.messages import Ending, Phase
from engine.runtime.turn.floor import (
    Doubt,
    DropDoubt,
    Effect,
    EndTurn,
    Floor,
    Input,
    Outcome,
    Pause,
    Recite,
    ReplyAudible,
    ReplyOver,
    Resume,
    ShowPhase,
    StopAsked,
    TalkPressed,
    TalkReleased,
    TextSent,
    Think,
    TimerRang,
    TurnBroke,
    Understood,
    VoiceBegan,
    VoiceConfirmed,
    VoiceStopped,
)
from engine.runtime.turn.orders import CloseUtterance, DropUtterance, JoinUtterance, OpenUtterance

__all__ = [
    "CloseUtterance",
    "Doubt",
    "DropDoubt",
    "DropUtterance",
    "Effect",
    "EndTurn",
    "Floor",
    "Input",
    "JoinUtterance",
    "OpenUtterance",
    "Outcome",
    "Pause",
    "Recite",
    "ReplyAudible",
    "ReplyOver",
    "Resume",
    "ShowPhase",
    "StopAsked",
    "TalkPressed",
    "TalkReleased",
    "TextSent",
    "Think",
    "TimerRang",
    "TurnBroke",
    "Understood",
    "VoiceBegan",
    "VoiceConfirmed",
    "VoiceStopped",
    "advance",
]


def advance(floor: Floor, happened: Input) -> Outcome:  # noqa: C901, PLR0912 - one case per kind
    """The floor after `happened`, and what must be done, in order."""
    match happened:
        case TalkPressed():
            return _talk_pressed(floor)
        case TalkReleased():
            return _talk_released(floor)
        case VoiceBegan():
            return _voice_began(floor, happened)
        case VoiceStopped():
            return _voice_stopped(floor)
        case VoiceConfirmed(turn):
            doubted = floor.doubt is not None and floor.doubt.turn == turn
            return _interrupted(floor) if doubted else Outcome(floor)
        case TextSent(text):
            return _begin(floor, lambda turn: Think(turn, text))
        case TimerRang(text):
            waiting = (*floor.waiting, text)
            return _rest(Outcome(replace(floor, waiting=waiting)))
        case StopAsked() if floor.phase is Phase.IDLE:
            return Outcome(floor)
        case StopAsked(ending):
            return _rest(_end(floor, ending))
        case Understood() | TurnBroke() if floor.doubt and happened.turn == floor.doubt.turn:
            return _doubt_over(floor, happened)
        case Understood() | ReplyAudible() | ReplyOver() | TurnBroke():
            return _progress(floor, happened) if _concerns(happened, floor) else Outcome(floor)
        case _:
            assert_never(happened)


def _talk_pressed(floor: Floor) -> Outcome:
    if floor.talk_held:
        return Outcome(floor)
    if floor.phase is Phase.LISTENING:
        return Outcome(replace(floor, talk_held=True))
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
    return _close_ears(released)


def _voice_began(floor: Floor, voice: VoiceBegan) -> Outcome:
    """Voice opens a turn when hands are free and the loudspeaker cannot be what was heard."""
    if not floor.hands_free or floor.phase is Phase.LISTENING:
        return Outcome(floor)
    if floor.phase is Phase.SPEAKING and not floor.headset:
        return _doubt(floor, voice.sample) if floor.cancelling else Outcome(floor)
    waiting = floor.phase is Phase.THINKING  # for a reply of which nothing was heard
    if floor.spoken and (waiting or (floor.phase is Phase.SPEAKING and voice.unmoved)):
        return _rejoined(floor)
    return _begin(
        floor,
        lambda turn: OpenUtterance(turn, voice.sample),
        phase=Phase.LISTENING,
        cause=Ending.SUPERSEDED if waiting else Ending.INTERRUPTED_BY_SPEECH,
    )


def _rejoined(floor: Floor) -> Outcome:
    """The end was no end: the person goes on, in a turn of both parts."""
    *cut, end = _end(floor, Ending.SUPERSEDED).effects
    turn = _next_turn(floor)
    begun = replace(floor, turn=turn, phase=Phase.LISTENING, spoken=False)
    effects = (*cut, JoinUtterance(floor.turn, turn), end, ShowPhase(turn, Phase.LISTENING))
    return Outcome(begun, effects)


def _voice_stopped(floor: Floor) -> Outcome:
    if floor.doubt is not None and not floor.doubt.closed:
        closed = replace(floor, doubt=replace(floor.doubt, closed=True))
        return Outcome(closed, (CloseUtterance(floor.doubt.turn, aside=True),))
    if floor.phase is not Phase.LISTENING or floor.talk_held:
        return Outcome(floor)
    return _close_ears(replace(floor, spoken=True))


def _doubt(floor: Floor, sample: int) -> Outcome:
    """Pause, and listen on: the words will tell. A doubt whose words are awaited makes room."""
    if floor.doubt is not None and not floor.doubt.closed:
        return Outcome(floor)
    older = (DropDoubt(floor.doubt.turn),) if floor.doubt else ()
    doubt = Doubt(_next_turn(floor))
    doubting = replace(floor, doubt=doubt, last=doubt.turn)
    return Outcome(doubting, (*older, Pause(floor.turn), OpenUtterance(doubt.turn, sample)))


def _doubt_over(floor: Floor, happened: Understood | TurnBroke) -> Outcome:
    """The words of a doubt are there: an interruption, or nothing that ends a reply."""
    assert floor.doubt is not None
    doubt = floor.doubt
    if isinstance(happened, Understood) and happened.text:
        taken = _interrupted(floor)
        return Outcome(taken.floor, (*taken.effects, Think(doubt.turn, happened.text)))
    return Outcome(replace(floor, doubt=None), (DropDoubt(doubt.turn), Resume(floor.turn)))


def _interrupted(floor: Floor) -> Outcome:
    """The person takes the floor from the reply."""
    assert floor.doubt is not None
    return _hand_over(_end(replace(floor, doubt=None), Ending.INTERRUPTED_BY_SPEECH), floor.doubt)


def _hand_over(ended: Outcome, doubt: Doubt) -> Outcome:
    """Nobody has the floor: it goes to who was doubted, whose words are heard already."""
    phase = Phase.THINKING if doubt.closed else Phase.LISTENING
    begun = replace(ended.floor, turn=doubt.turn, phase=phase, doubt=None, spoken=doubt.closed)
    return Outcome(begun, (*ended.effects, ShowPhase(doubt.turn, phase)))


def _next_turn(floor: Floor) -> int:
    return max(floor.turn, floor.last) + 1


def _concerns(happened: Understood | ReplyAudible | ReplyOver | TurnBroke, floor: Floor) -> bool:
    """Whether a report is about the turn that has the floor, and possible in its phase."""
    if happened.turn != floor.turn or floor.phase is Phase.IDLE:
        return False
    return floor.phase is not Phase.LISTENING or isinstance(happened, TurnBroke)


def _progress(floor: Floor, happened: Understood | ReplyAudible | ReplyOver | TurnBroke) -> Outcome:
    """What the parts report of the turn that has the floor."""
    match happened:
        case Understood(turn, text) if text:
            return Outcome(floor, (Think(turn, text),))
        case Understood():
            return _rest(_end(floor, Ending.NOTHING_HEARD))
        case ReplyAudible(turn):
            spoken = replace(floor, phase=Phase.SPEAKING)
            return Outcome(spoken, (ShowPhase(turn, Phase.SPEAKING),))
        case ReplyOver(ending=ending):
            idle = replace(floor, phase=Phase.IDLE, spoken=False)
            over = Outcome(idle, (EndTurn(floor.turn, ending),))
            return _hand_over(over, floor.doubt) if floor.doubt else _rest(over)
        case TurnBroke(ending=ending):
            return _rest(_end(floor, ending))
        case _:
            assert_never(happened)


def _begin(
    floor: Floor,
    effect: Callable[[int], Effect],
    *,
    phase: Phase = Phase.THINKING,
    cause: Ending = Ending.INTERRUPTED_BY_TEXT,
) -> Outcome:
    """End what is going on because of `cause` and give the floor to a new turn."""
    before = _end(floor, cause)
    turn = _next_turn(before.floor)
    begun = replace(before.floor, turn=turn, phase=phase)
    return Outcome(begun, (*before.effects, ShowPhase(turn, phase), effect(turn)))


def _end(floor: Floor, ending: Ending) -> Outcome:
    """End the turn that has the floor, if one has; nobody has it afterwards."""
    idle = replace(floor, phase=Phase.IDLE, doubt=None, talk_held=False, spoken=False)
    if floor.phase is Phase.IDLE:
        return Outcome(idle)
    doubted = (DropDoubt(floor.doubt.turn),) if floor.doubt else ()
    if floor.phase is Phase.LISTENING:
        faults = (Ending.FAILED, Ending.DEVICE_LOST)
        ending = ending if ending in faults else Ending.NOTHING_HEARD
        return Outcome(idle, (*doubted, DropUtterance(floor.turn), EndTurn(floor.turn, ending)))
    return Outcome(idle, (*doubted, EndTurn(floor.turn, ending)))


def _rest(ended: Outcome) -> Outcome:
    """When nobody has the floor: show it, or let the next waiting timer speak."""
    floor = ended.floor
    if floor.phase is not Phase.IDLE:
        return ended
    if not floor.waiting:
        return Outcome(floor, (*ended.effects, ShowPhase(floor.turn, Phase.IDLE)))
    text = floor.waiting[0]
    begun = _begin(replace(floor, waiting=floor.waiting[1:]), lambda turn: Recite(turn, text))
    return Outcome(begun.floor, ended.effects + begun.effects)


def _close_ears(floor: Floor) -> Outcome:
    closed = replace(floor, phase=Phase.THINKING)
    effects = (CloseUtterance(floor.turn), ShowPhase(floor.turn, Phase.THINKING))
    return Outcome(closed, effects)
