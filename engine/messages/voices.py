"""Commands and events about the library of voices.

Invariant: names are as the person sees them; a voice is found by its name whatever its case.
"""

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

# ------------------------------------------------------------------ commands


@dataclass(frozen=True)
class ListVoices:
    """Tell VoicesListed now, and again after each change."""


@dataclass(frozen=True)
class Mix:
    """A voice between two others; `share` of `one`, 0 to 1, the rest of `other`."""

    one: str
    other: str
    share: float = 0.5


@dataclass(frozen=True)
class PreviewVoice:
    """Say a text (empty: a fixed sentence) in a voice, at that voice's default pace; once nobody
    else speaks. Another one takes its place. PreviewChanged tells how it goes. `mix`: say it in a
    mixture that need not be kept, with an empty `name`.
    """

    name: str
    text: str = ""
    mix: Mix | None = None


@dataclass(frozen=True)
class MixVoices:
    """Keep a mixture of two voices as a voice called `name`."""

    name: str
    mix: Mix


@dataclass(frozen=True)
class StopPreview:
    """Say no more of it."""


@dataclass(frozen=True)
class RenameVoice:
    name: str
    new: str


@dataclass(frozen=True)
class RemoveVoice:
    """Remove a voice the person made; it can be brought back for some days."""

    name: str


@dataclass(frozen=True)
class RestoreVoice:
    """Bring back what was removed."""

    name: str


@dataclass(frozen=True)
class DiscardVoice:
    """Delete what was removed for good."""

    name: str


@dataclass(frozen=True)
class RemakeVoice:
    """Make a voice again from the recording kept with it, for the synthesiser that runs."""

    name: str


@dataclass(frozen=True)
class LearnVoice:
    """Note whether a voice is to be learnt from its recording, in which these `words` are said
    (empty: not known). The host runs the learning (`rubato voices learn`).
    """

    name: str
    on: bool = True
    words: str = ""


@dataclass(frozen=True)
class ChooseLearnt:
    """Keep what was learnt in place of a voice, or the voice; it is not to be learnt any more."""

    name: str
    learnt: bool


@dataclass(frozen=True)
class SetVoicePace:
    """The pace (SPS, 1 to 7) a voice begins with when it is chosen; None = the slider's."""

    name: str
    pace: float | None


@dataclass(frozen=True)
class ExportVoice:
    """Write a voice with its recording to one file."""

    name: str
    path: Path


@dataclass(frozen=True)
class ImportVoice:
    """Take a voice from a file that ExportVoice wrote; `name` empty = as it is called there."""

    path: Path
    name: str = ""


@dataclass(frozen=True)
class RecordClip:
    """Record what the microphone hears, to make a voice of; nobody is answered meanwhile. False
    ends it, and what was recorded is inspected as a dropped file is.
    """

    on: bool


@dataclass(frozen=True)
class DropClip:
    """Stop recording a clip, or forget the one that was recorded."""


@dataclass(frozen=True)
class Comparing:
    """Another process of this program speaks, to compare systems, or no longer: what is heard
    meanwhile was not said to the assistant.
    """

    on: bool


@dataclass(frozen=True)
class TryMicrophone:
    """The person tries the microphone, or no longer: its level is reported, and what is said is not
    taken as said to the assistant.
    """

    on: bool


VoiceCommand = (
    ListVoices
    | PreviewVoice
    | StopPreview
    | MixVoices
    | RenameVoice
    | RemoveVoice
    | RestoreVoice
    | DiscardVoice
    | RemakeVoice
    | LearnVoice
    | ChooseLearnt
    | SetVoicePace
    | ExportVoice
    | ImportVoice
    | RecordClip
    | DropClip
    | Comparing
    | TryMicrophone
)

# -------------------------------------------------------------------- events


@dataclass(frozen=True)
class VoiceEntry:
    """One voice. `own`: it comes with the synthesiser. `description` says how it sounds or of what
    it was made, empty = not known. `clip_s` and `snr_db` of the recording it
    was made of, None = not kept. `made_for`: the models it exists for; `usable`: the synthesiser
    that runs can speak with it, else `why_not` is a sentence; `again`: it can be made again.
    `pace` is its default pace in SPS, None = the slider's; `used` an ISO date, empty = never.
    `resembles`: in the synthesiser that runs it only resembles its recording; `learnt`: from that.
    `can_learn`: it can be; `words`: it is to be, with these words in it (None = it is not); `fit`:
    the file of what was learnt, to be heard and chosen. `nearest`: the largest part of a blend.
    `recording`: hash of the recording, the same whatever the voice is called; empty = not known.
    `sex` and `accent` of a voice that comes with it: words in lower case, empty = not known.
    """

    name: str
    own: bool = False
    clip_s: float | None = None
    snr_db: float | None = None
    made_for: tuple[str, ...] = ()
    usable: bool = True
    why_not: str = ""
    again: bool = False
    pace: float | None = None
    used: str = ""
    description: str = ""
    resembles: bool = False
    learnt: bool = False
    can_learn: bool = False
    words: str | None = None
    fit: Path | None = None
    nearest: str = ""
    recording: str = ""
    sex: str = ""
    accent: str = ""


@dataclass(frozen=True)
class VoicesListed:
    """All voices there are, and the names of those that were removed and can be brought back.
    `mixable`: names of those that can be mixed; none = the synthesiser cannot mix voices.
    """

    voices: tuple[VoiceEntry, ...]
    removed: tuple[str, ...] = ()
    mixable: tuple[str, ...] = ()


class PreviewState(Enum):
    """How far a preview is."""

    WAITING = "waiting"  # for a reply to end
    MAKING = "making"  # nothing of it is heard yet
    SPEAKING = "speaking"
    OVER = "over"  # to its end, stopped, or broken; a fault is told apart


@dataclass(frozen=True)
class PreviewChanged:
    name: str
    state: PreviewState


@dataclass(frozen=True)
class ClipRecording:
    """A clip is being recorded (`seconds` so far), or no longer. `ended_by` is a sentence on why
    it ended by itself, empty when the person ended it.
    """

    on: bool
    seconds: float = 0.0
    ended_by: str = ""


VoiceEvent = VoicesListed | PreviewChanged | ClipRecording
