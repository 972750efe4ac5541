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


StoreJob = (
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
    """`catalogue` tells who the synthesiser that runs can be, None = none runs yet; `remake` makes
    a voice again from its recording.
    """

    def __init__(
        self,
        tell: Callable[[Fact | Event], None],
        catalogue: Callable[[], VoiceCatalogue | None],
        remake: Callable[[str], None],
    ) -> None:
        self._tell = tell
        self._catalogue = catalogue
        self._remake = remake

    def do(self, job: StoreJob) -> None:
        """InvalidInput, UnreadableClip and ModelError say what could not be done, and why."""
        catalogue = self._catalogue()
        if catalogue is None:
            raise ModelError("No voice has loaded yet.", hint="Try again in a moment.")
        store = VoiceStore(catalogue)
        try:
            self._do(job, store)
        finally:
            entries = store.entries()
            here = tuple(each.name for each in entries if catalogue.voice_model in each.made_for)
            self._tell(VoicesListed(entries, store.removed(), here if catalogue.can_mix else ()))

    def _do(self, job: StoreJob, store: VoiceStore) -> None:
        match job:
            case ListVoices():
                pass  # done after every job
            case RenameVoice(name, new):
                self._tell(VoiceMoved(name, store.rename(name, new)))
            case RemoveVoice(name):
                self._tell(VoiceMoved(store.remove(name), ""))
            case RestoreVoice(name):
                self._tell(VoiceMoved("", store.restore(name)))
            case DiscardVoice(name):
                store.discard(name)
            case RemakeVoice(name):
                self._remake(name)
                self._tell(VoiceMoved(name, name))
            case SetVoicePace(name, pace):
                store.set_pace(name, pace)
            case MixVoices(name, mix):
                self._tell(VoiceMoved("", store.mix(name, mix)))
            case ExportVoice(name, path):
                written = store.export(name, path)
                self._tell(Notice.of("The voice and its recording are in {path}.", path=written))
            case ImportVoice(path, name):
                self._tell(VoiceMoved("", store.read_in(path, name)))
            case NoteUse(name, day):
                store.spoke(name, day)
            case _:
                assert_never(job)
