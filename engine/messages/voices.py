"""Messages about the library of voices.

Invariant: names are as shown to the user; look-ups ignore case.
"""

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from engine.languages import ENGLISH

# ------------------------------------------------------------------ commands


@dataclass(frozen=True)
class ListVoices:
    """Send VoicesListed now, and again after each change."""


@dataclass(frozen=True)
class Mix:
    """A mixture of two voices: `share` (0 to 1) of `one`, the rest of `other`."""

    one: str
    other: str
    share: float = 0.5


@dataclass(frozen=True)
class PreviewVoice:
    """Speak a text (empty: a fixed sentence of its language) in a voice, at its default pace, at
    the next silence. A later preview replaces it; PreviewChanged reports its progress. `mix`:
    preview an unsaved mixture, with an empty `name`. `said`, `language`: how the text is said, if
    it is a name (see Name).
    """

    name: str
    text: str = ""
    mix: Mix | None = None
    said: str = ""
    language: str = ""


@dataclass(frozen=True)
class MixVoices:
    """Save a mixture of two voices as a voice called `name`."""

    name: str
    mix: Mix


@dataclass(frozen=True)
class StopPreview:
    """Stop the preview."""


@dataclass(frozen=True)
class RenameVoice:
    name: str
    new: str


@dataclass(frozen=True)
class RemoveVoice:
    """Remove a voice made by the user; it can be restored for some days."""

    name: str


@dataclass(frozen=True)
class RestoreVoice:
    """Restore a removed voice."""

    name: str


@dataclass(frozen=True)
class DiscardVoice:
    """Delete a removed voice for good."""

    name: str


@dataclass(frozen=True)
class RemakeVoice:
    """Make a voice again from its stored recording, for the running synthesiser."""

    name: str


@dataclass(frozen=True)
class LearnVoice:
    """Set whether a voice is to be learnt from its recording, which contains these `words` (empty:
    unknown). The host runs the learning (`rubato voices learn`).
    """

    name: str
    on: bool = True
    words: str = ""


@dataclass(frozen=True)
class ChooseLearnt:
    """Keep either the learnt voice or the original; the voice is then not learnt again."""

    name: str
    learnt: bool


@dataclass(frozen=True)
class SetVoicePace:
    """Set the pace (SPS, 1 to 13) with which a voice starts when it is chosen; None = keep the
    slider's.
    """

    name: str
    pace: float | None


@dataclass(frozen=True)
class ExportVoice:
    """Write a voice with its recording to one file."""

    name: str
    path: Path


@dataclass(frozen=True)
class ImportVoice:
    """Import a voice from a file of ExportVoice; `name` empty = its name in the file."""

    path: Path
    name: str = ""


@dataclass(frozen=True)
class RecordClip:
    """Start to record a clip for a voice, or with `on` False end it. The assistant does not answer
    meanwhile. The clip is then inspected like a dropped file.
    """

    on: bool


@dataclass(frozen=True)
class DropClip:
    """Stop recording a clip, or delete the recorded one."""


@dataclass(frozen=True)
class Comparing:
    """Another process of this program starts or stops speaking, to compare systems. Sound in the
    meantime is not addressed to the assistant.
    """

    on: bool


@dataclass(frozen=True)
class TryMicrophone:
    """The user starts or stops a microphone test: its level is reported, and speech is not
    addressed to the assistant.
    """

    on: bool


# About the library of voices.
StoreCommand = (
    ListVoices
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
)
VoiceCommand = (
    StoreCommand | PreviewVoice | StopPreview | RecordClip | DropClip | Comparing | TryMicrophone
)

# -------------------------------------------------------------------- events


@dataclass(frozen=True)
class VoiceEntry:
    """One voice. `own`: it comes with the synthesiser. `description` describes its sound or its
    origin, empty = not known. `clip_s` and `snr_db` of its recording, None = not saved. `made_for`:
    the models it exists for; `usable`: the synthesiser that runs can speak with it, else `why_not`
    is a sentence; `again`: it can be made again. `pace` is its default pace in SPS, None = the
    slider's; `used` an ISO date, empty = never. `resembles`: in the synthesiser that runs it only
    resembles its recording; `learnt`: it was learnt from that. `can_learn`: it can be learnt;
    `words`: it is to be learnt, with these words in the recording (None = it is not); `fit`: the
    file of the learning's result, to be heard and chosen. `nearest`: the largest part of a blend.
    `recording`: hash of the recording, the same whatever the voice is called; empty = not known.
    `sex` and `accent` of a voice that comes with it: words in lower case, empty = not known.
    `language` is a code of engine/languages.py.
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
    language: str = ENGLISH


@dataclass(frozen=True)
class VoicesListed:
    """All voices, and the names of removed ones that can be restored. `mixable`: names of voices
    that can be mixed; () = the synthesiser cannot mix voices.
    """

    voices: tuple[VoiceEntry, ...]
    removed: tuple[str, ...] = ()
    mixable: tuple[str, ...] = ()


class PreviewState(Enum):
    """State of a preview."""

    WAITING = "waiting"  # until a reply ends
    MAKING = "making"  # nothing is audible yet
    SPEAKING = "speaking"
    OVER = "over"  # complete, stopped, or failed; a fault is reported separately


@dataclass(frozen=True)
class PreviewChanged:
    name: str
    state: PreviewState


@dataclass(frozen=True)
class ClipRecording:
    """A clip is being recorded (`seconds` so far), or the recording ended. `ended_by` is the reason
    if it ended by itself, empty if the user ended it.
    """

    on: bool
    seconds: float = 0.0
    ended_by: str = ""


VoiceEvent = VoicesListed | PreviewChanged | ClipRecording
