"""The state of every part, of hearing as a whole, and of the assistant in one word, its mood. The
orb, the status rows and their summary, the talk button and the greeting have no other source.

Invariant: no Qt here. A failed part counts as failed until it reports that it is ready, or until a
later reply that was spoken to its end has shown that the part works. During a turn the mood is its
phase; at rest it depends on the parts. It is never "listening" before a microphone is open.
"""

from dataclasses import dataclass, replace
from enum import Enum

from app.language import mark
from engine.api import (
    DevicesChanged,
    Ending,
    Event,
    Failed,
    Loading,
    Part,
    Phase,
    Ready,
    SleepChanged,
    TurnEnded,
)

# The parts that a reply heard to its end has shown to work; a typed turn says nothing about
# microphone and recogniser.
_IN_A_REPLY = (None, Part.LANGUAGE_MODEL, Part.SYNTHESISER)


class PartState(Enum):
    """The state of a part."""

    WAITING = "waiting"  # nothing was reported yet
    LOADING = "loading"
    WORKS = "works"
    FAILED = "failed"


@dataclass(frozen=True)
class PartRecord:
    """State, name and faults of a part, as its row shows them."""

    state: PartState = PartState.WAITING
    turn: int | None = None  # the turn in which it failed; None = outside of turns
    name: str = "working"  # as it was last ready, like the next two
    detail: str = ""
    why: str = ""  # it was chosen, where the person left that open
    text: str = ""  # of its loading or its failure
    fraction: float | None = None  # of its loading, 0..1; None = not known


class Parts:
    """Collects the engine's events about parts for everything that shows their state.

    The window sets `is_muted` and `is_hands_free`, because it knows them before the engine answers.
    """

    def __init__(self) -> None:
        self._of = {part: PartRecord() for part in Part}
        self._devices = DevicesChanged((), (), "", "")
        self.is_hands_free = True
        self.is_muted = False  # not listening at all
        self.is_asleep = False  # listening for the wake phrase alone
        self.wake_phrase = ""

    def on_event(self, event: Event) -> None:
        match event:
            case Loading(part, text, fraction):
                self._of[part] = PartRecord(PartState.LOADING, text=text, fraction=fraction)
            case Ready(part, name, detail, why=why):
                self._of[part] = PartRecord(PartState.WORKS, name=name, detail=detail, why=why)
            case Failed(part=Part() as part, turn=turn, message=message):
                record = replace(self._of[part], state=PartState.FAILED, turn=turn, text=message)
                self._of[part] = record
            case DevicesChanged():
                self._devices = event
            case SleepChanged(asleep, phrase):
                self.is_asleep, self.wake_phrase = asleep, phrase
            case TurnEnded(turn=turn, ending=Ending.COMPLETE):
                for part, each in self._of.items():
                    if each.state is PartState.FAILED and shown_to_work(part, each.turn, turn):
                        self._of[part] = replace(each, state=PartState.WORKS)

    def record(self, part: Part) -> PartRecord:
        return self._of[part]

    def devices(self, part: Part) -> tuple[str, ...]:
        """Return the devices of MICROPHONE or LOUDSPEAKER, without the system's default."""
        known = self._devices
        return known.microphones if part is Part.MICROPHONE else known.loudspeakers

    @property
    def failed(self) -> tuple[Part, ...]:
        """The parts that do not work."""
        return self._in(PartState.FAILED)

    @property
    def loading(self) -> tuple[Part, ...]:
        """The parts that are being loaded."""
        return self._in(PartState.LOADING)

    @property
    def is_starting(self) -> bool:
        """True until every part is ready or has failed."""
        return bool(self._in(PartState.WAITING) or self._in(PartState.LOADING))

    @property
    def cannot_hear(self) -> bool:
        """True if speech is lost because a part of hearing does not work."""
        return bool({Part.MICROPHONE, Part.RECOGNISER} & set(self.failed))

    @property
    def is_deaf(self) -> bool:
        """True until a microphone has been opened; speech is lost before that."""
        return self._of[Part.MICROPHONE].state is PartState.WAITING

    def _in(self, state: PartState) -> tuple[Part, ...]:
        return tuple(part for part, each in self._of.items() if each.state is state)


def shown_to_work(part: Part | None, failed: int | None, turn: int) -> bool:
    """Return True if a part that failed in turn `failed` works again, because turn `turn` used the
    part and was spoken to its end.
    """
    return failed is not None and failed < turn and part in _IN_A_REPLY


class Mood(Enum):
    """The moods; the values are the words on the screen."""

    STARTING = mark("Getting ready")
    READY = mark("Ready")
    ASLEEP = mark("Asleep")  # shown with the phrase that wakes it
    MUTED = mark("Microphone muted")
    NO_MICROPHONE = mark("No microphone")
    ATTENTION = mark("Needs attention")
    LISTENING = mark("Listening")
    THINKING = mark("Thinking")
    SPEAKING = mark("Speaking")

    @property
    def rests(self) -> bool:
        """True while nobody speaks and the assistant does not think."""
        return self not in (Mood.LISTENING, Mood.THINKING, Mood.SPEAKING)


_OF_A_TURN = {
    Phase.LISTENING: Mood.LISTENING,
    Phase.THINKING: Mood.THINKING,
    Phase.SPEAKING: Mood.SPEAKING,
}


def mood(phase: Phase, parts: Parts) -> Mood:
    """Return the mood in a phase of a turn."""
    if phase is Phase.LISTENING and parts.is_deaf:
        return Mood.STARTING  # the talk key was pressed too soon
    if phase is not Phase.IDLE:
        return _OF_A_TURN[phase]
    rest = _at_rest(parts)
    if rest is not Mood.READY:
        return rest
    if parts.is_muted:
        return Mood.MUTED
    return Mood.ASLEEP if parts.is_asleep else Mood.READY


def _at_rest(parts: Parts) -> Mood:
    """The mood at rest. A missing microphone alone is less serious, because typing works."""
    if parts.failed == (Part.MICROPHONE,):
        return Mood.STARTING if parts.is_starting else Mood.NO_MICROPHONE
    if parts.failed:
        return Mood.ATTENTION
    return Mood.STARTING if parts.is_starting else Mood.READY
