"""Who has the floor: pure rules from what happened to what must be done.

Invariant: advance() is a function of its arguments; it reads no clock and owns nothing. A happening
of another turn changes nothing. Every turn that begins ends exactly once.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import assert_never

from engine.messages import Ending, Phase

# ------------------------------------------------------------------ what can happen


@dataclass(frozen=True)
class TalkPressed:
    pass


@dataclass(frozen=True)
class TalkReleased:
    pass


@dataclass(frozen=True)
class VoiceBegan:
    """Voice activity; `sample` is where on the listener's count."""

    sample: int


@dataclass(frozen=True)
class VoiceStopped:
    pass


@dataclass(frozen=True)
class TextSent:
    text: str


@dataclass(frozen=True)
class Understood:
    """The transcript of the turn is final; empty text means that no words were found."""

    turn: int
    text: str


@dataclass(frozen=True)
class ReplyAudible:
    turn: int


@dataclass(frozen=True)
class ReplyOver:
    turn: int


@dataclass(frozen=True)
class StopAsked:
    pass


@dataclass(frozen=True)
class TurnBroke:
    """Recogniser, language model or synthesiser failed in this turn.

    `speech_goes_on`: what was already written is still spoken to its end.
    """

    turn: int
    speech_goes_on: bool


@dataclass(frozen=True)
class TimerRang:
    text: str


Input = (
    TalkPressed
    | TalkReleased
    | VoiceBegan
    | VoiceStopped
    | TextSent
    | Understood
    | ReplyAudible
    | ReplyOver
    | StopAsked
    | TurnBroke
    | TimerRang
)

# ------------------------------------------------------------------ what must be done


@dataclass(frozen=True)
class OpenEars:
    """Feed the recogniser from `from_sample` on; None = from now (with the usual pre-roll)."""

    turn: int
    from_sample: int | None


@dataclass(frozen=True)
class CloseEars:
    """The utterance is complete: transcribe it."""

    turn: int


@dataclass(frozen=True)
class DropEars:
    turn: int


@dataclass(frozen=True)
class Think:
    turn: int
    said: str


@dataclass(frozen=True)
class Recite:
    """Speak a text of the assistant's own accord."""

    turn: int
    text: str


@dataclass(frozen=True)
class Silence:
    """Stop thinking and speaking in this turn, now."""

    turn: int


@dataclass(frozen=True)
class EndTurn:
    turn: int
    ending: Ending


@dataclass(frozen=True)
class ShowPhase:
    turn: int
    phase: Phase


Effect = OpenEars | CloseEars | DropEars | Think | Recite | Silence | EndTurn | ShowPhase


@dataclass(frozen=True)
class Floor:
    """Everything the rules remember.

    `headset` True: the microphone does not hear the loudspeaker, so voice interrupts a reply.
    `waiting` are timer texts that rang while someone had the floor; they are spoken after the turn.
    """

    turn: int = 0
    phase: Phase = Phase.IDLE
    hands_free: bool = True
    headset: bool = False
    talk_held: bool = False
    broke: bool = False
    waiting: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    floor: Floor
    effects: tuple[Effect, ...] = ()


# ------------------------------------------------------------------ the rules


def advance(floor: Floor, happened: Input) -> Outcome:  # noqa: C901 - one case per kind
    """The floor after `happened`, and what must be done, in order."""
    match happened:
        case TalkPressed():
            return _talk_pressed(floor)
        case TalkReleased():
            return _talk_released(floor)
        case VoiceBegan(sample):
            return _voice_began(floor, sample)
        case VoiceStopped():
            return _voice_stopped(floor)
        case TextSent(text):
            return _begin(floor, lambda turn: Think(turn, text))
        case TimerRang(text):
            waiting = (*floor.waiting, text)
            return _rest(Outcome(replace(floor, waiting=waiting)))
        case StopAsked() if floor.phase is Phase.IDLE:
            return Outcome(floor)
        case StopAsked():
            return _rest(_end(floor, Ending.INTERRUPTED_BY_KEY))
        case Understood() | ReplyAudible() | ReplyOver() | TurnBroke():
            return _progress(floor, happened) if _concerns(happened, floor) else Outcome(floor)
        case _:
            assert_never(happened)


def _talk_pressed(floor: Floor) -> Outcome:
    if floor.talk_held:
        return Outcome(floor)
    if floor.phase is Phase.LISTENING:
        return Outcome(replace(floor, talk_held=True))
    opened = _begin(floor, lambda turn: OpenEars(turn, None), phase=Phase.LISTENING)
    return replace(opened, floor=replace(opened.floor, talk_held=True))


def _talk_released(floor: Floor) -> Outcome:
    released = replace(floor, talk_held=False)
    if not floor.talk_held or floor.phase is not Phase.LISTENING:
        return Outcome(released)
    return _close_ears(released)


def _voice_began(floor: Floor, sample: int) -> Outcome:
    """Voice opens a turn when hands are free and the loudspeaker cannot be what was heard."""
    if not floor.hands_free or floor.phase is Phase.LISTENING:
        return Outcome(floor)
    if floor.phase is Phase.SPEAKING and not floor.headset:
        return Outcome(floor)
    return _begin(
        floor,
        lambda turn: OpenEars(turn, sample),
        phase=Phase.LISTENING,
        cause=Ending.INTERRUPTED_BY_SPEECH,
    )


def _voice_stopped(floor: Floor) -> Outcome:
    if floor.phase is not Phase.LISTENING or floor.talk_held or not floor.hands_free:
        return Outcome(floor)
    return _close_ears(floor)


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
        case ReplyOver():
            ending = Ending.FAILED if floor.broke else Ending.COMPLETE
            idle = replace(floor, phase=Phase.IDLE, broke=False)
            return _rest(Outcome(idle, (EndTurn(floor.turn, ending),)))
        case TurnBroke(speech_goes_on=True):
            return Outcome(replace(floor, broke=True))
        case TurnBroke():
            return _rest(_end(floor, Ending.FAILED))
        case _:
            assert_never(happened)


def _begin(
    floor: Floor,
    effect: Callable[[int], Effect],
    *,
    phase: Phase = Phase.THINKING,
    cause: Ending = Ending.INTERRUPTED_BY_KEY,
) -> Outcome:
    """End what is going on because of `cause` and give the floor to a new turn."""
    before = _end(floor, cause)
    turn = floor.turn + 1
    begun = replace(before.floor, turn=turn, phase=phase)
    return Outcome(begun, (*before.effects, ShowPhase(turn, phase), effect(turn)))


def _end(floor: Floor, ending: Ending) -> Outcome:
    """End the turn that has the floor, if one has; nobody has it afterwards."""
    idle = replace(floor, phase=Phase.IDLE, talk_held=False, broke=False)
    match floor.phase:
        case Phase.IDLE:
            return Outcome(idle)
        case Phase.LISTENING:
            cut: Effect = DropEars(floor.turn)
            ending = Ending.FAILED if ending is Ending.FAILED else Ending.NOTHING_HEARD
        case Phase.THINKING | Phase.SPEAKING:
            cut = Silence(floor.turn)
        case _:
            assert_never(floor.phase)
    return Outcome(idle, (cut, EndTurn(floor.turn, ending)))


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
    effects = (CloseEars(floor.turn), ShowPhase(floor.turn, Phase.THINKING))
    return Outcome(closed, effects)
