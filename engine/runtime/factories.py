"""Factories of the threads' parts: the real ones, or substitutes for files and tests.

Invariant: nothing is opened here. Each factory is called by the thread that will own the result,
and only then imports its library.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Protocol

from engine.asr.base import KeywordSpotter, Recogniser
from engine.asr.completeness import Completeness
from engine.audio.base import Loudspeaker, Microphone
from engine.audio.devices.hotplug import DeviceWatch
from engine.audio.devices.portaudio import Devices
from engine.audio.echo.canceller import Cleaning, EchoCanceller, open_canceller
from engine.llm.base import LanguageModel
from engine.runtime.host.requirements import check, size_bytes
from engine.settings import (
    LanguageModelSettings,
    PartSettings,
    RecogniserSettings,
    Settings,
    SpeechSettings,
    WakeSettings,
)
from engine.translatable import Progress
from engine.tts.base import TtsModel


class DeviceMonitor(Protocol):
    """Notices devices that come and go."""

    def poll(self) -> Devices | None:
        """Return the list if it changed since the last call, otherwise None; cheap."""
        ...

    def close(self) -> None: ...


def _later(place: str) -> Callable[..., Any]:
    """Return the function at a place ("engine.asr.pick:load"); imported at its first call."""
    return lambda *given: resolve_name(place)(*given)


_spotter = _later("engine.asr.wake.spotter:spotter")
_open_document = _later("engine.reading.document:open_document")
_shelf = _later("engine.reading.shelf:Shelf")


def _speech_wish(text: str, whole: bool) -> bool:
    from engine.llm.skills.control import may_become_speech_wish, speech_wish

    return speech_wish(text) is not None if whole else may_become_speech_wish(text)


@dataclass(frozen=True)
class Factories:
    """The factory of each part. A device name is empty for the system's default."""

    microphone: Callable[[str], Microphone]
    loudspeaker: Callable[[str], Loudspeaker]
    canceller: Callable[[Cleaning], EchoCanceller]
    recogniser: Callable[[RecogniserSettings, Sequence[str]], Recogniser]
    language_model: Callable[[LanguageModelSettings, Progress], LanguageModel]
    synthesiser: Callable[[SpeechSettings, Progress], TtsModel]
    phrases: Callable[[], Sequence[str]]  # sentences the recogniser should expect
    # returns a function that rates how complete a text is, for the language of these settings
    completeness: Callable[[RecogniserSettings], Callable[[str], Completeness]]
    devices: DeviceMonitor
    size_bytes: Callable[[PartSettings], int]  # size of the files that would be loaded
    # raises InvalidInput if a changed setting cannot work here
    check: Callable[[Settings, str, Devices | None], None]
    # raises InvalidInput for an unsuitable phrase, ModelError if it cannot be detected
    spotter: Callable[[WakeSettings], KeywordSpotter] = _spotter
    history: Path | None = None  # the file of saved conversations; None = they are not saved
    open_document: Callable[[Path], Any] = _open_document
    shelf: Callable[[Path], Any] = _shelf  # the list of opened documents, in a file
    # whether these words are (if complete), or may become, a wish about a reply's pace or volume
    speech_wish: Callable[[str, bool], bool] = _speech_wish
    has_window: bool = True  # whether the host handles UseWindow


def standard_factories() -> Factories:
    """Return the factories of the sound card and the parts in the settings."""
    return Factories(
        microphone=_later("engine.audio.devices.portaudio:open_microphone"),
        loudspeaker=_later("engine.audio.devices.portaudio:open_loudspeaker"),
        canceller=open_canceller,
        recogniser=_later("engine.asr.pick:load"),
        language_model=_later("engine.llm.registry:load"),
        synthesiser=_later("engine.tts.registry:load"),
        phrases=_later("engine.llm.skills:sentences"),
        completeness=_completeness,
        devices=DeviceWatch(),
        size_bytes=size_bytes,
        check=check,
    )


def _completeness(settings: RecogniserSettings) -> Callable[[str], Completeness]:
    from engine.asr.completeness import Judge, chance_of_end
    from engine.llm.skills import sentences
    from engine.llm.skills.model import understands

    if settings.language not in ("", "auto", "en"):
        return lambda _text: Completeness.UNSURE  # the rules are English
    return Judge(sentences(), understands, chance_of_end()).judge
