"""Changes the library of voices as the person asks, and tells which voices there are then.

Invariant: runs on the thread of background jobs. Whether a change succeeds or not, the list that is
told next is the one on disk.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from engine.errors import ModelError
from engine.messages.events import Event, Notice
from engine.messages.voices import (
    DiscardVoice,
    ExportVoice,
    ImportVoice,
    ListVoices,
    MixVoices,
    RemakeVoice,
    RemoveVoice,
    RenameVoice,
    RestoreVoice,
    SetVoicePace,
    VoicesListed,
)
from engine.runtime.turn.facts import Fact, VoiceMoved
from engine.tts.voice_catalogue import VoiceCatalogue
from engine.tts.voice_store import VoiceStore


@dataclass(frozen=True)
class NoteUse:
    """A voice spoke on a day (an ISO date)."""

    name: str
    day: str


ShelfJob = (
    ListVoices
    | RenameVoice
    | RemoveVoice
    | RestoreVoice
    | DiscardVoice
    | RemakeVoice
    | SetVoicePace
    | MixVoices
    | ExportVoice
    | ImportVoice
    | NoteUse
)


class VoiceKeeper:
    """`roster` tells who the synthesiser that runs can be, None = none runs yet; `remake` makes a
    voice again from its recording.
    """

    def __init__(
        self,
        tell: Callable[[Fact | Event], None],
        roster: Callable[[], VoiceCatalogue | None],
        remake: Callable[[str], None],
    ) -> None:
        self._tell = tell
        self._roster = roster
        self._remake = remake

    def do(self, job: ShelfJob) -> None:
        """InvalidInput, UnreadableClip and ModelError say what could not be done, and why."""
        roster = self._roster()
        if roster is None:
            raise ModelError("No voice has loaded yet.", hint="Try again in a moment.")
        shelf = VoiceStore(roster)
        try:
            self._do(job, shelf)
        finally:
            entries = shelf.entries()
            here = tuple(each.name for each in entries if roster.voice_model in each.made_for)
            self._tell(VoicesListed(entries, shelf.removed(), here if roster.can_mix else ()))

    def _do(self, job: ShelfJob, shelf: VoiceStore) -> None:
        match job:
            case ListVoices():
                pass  # done after every job
            case RenameVoice(name, new):
                self._tell(VoiceMoved(name, shelf.rename(name, new)))
            case RemoveVoice(name):
                self._tell(VoiceMoved(shelf.remove(name), ""))
            case RestoreVoice(name):
                self._tell(VoiceMoved("", shelf.restore(name)))
            case DiscardVoice(name):
                shelf.discard(name)
            case RemakeVoice(name):
                self._remake(name)
                self._tell(VoiceMoved(name, name))
            case SetVoicePace(name, pace):
                shelf.set_pace(name, pace)
            case MixVoices(name, mix):
                self._tell(VoiceMoved("", shelf.mix(name, mix)))
            case ExportVoice(name, path):
                written = shelf.export(name, path)
                self._tell(Notice.of("The voice and its recording are in {path}.", path=written))
            case ImportVoice(path, name):
                self._tell(VoiceMoved("", shelf.read_in(path, name)))
            case NoteUse(name, day):
                shelf.spoke(name, day)
            case _:
                assert_never(job)
