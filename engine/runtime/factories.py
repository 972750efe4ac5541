"""Where the threads get their parts from: the real ones, or others for files and tests.

Invariant: nothing is opened here; each call is made by the thread that will own the result, and
only then is the library behind it imported.
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
from engine.llm.base import Progress as LoadProgress
from engine.runtime.host.requirements import check, size_bytes
from engine.settings import (
    LanguageModelSettings,
    PartSettings,
    RecogniserSettings,
    Settings,
    SpeechSettings,
    WakeSettings,
)
from engine.tts.base import Progress, TtsModel


class Watch(Protocol):
    """Sees devices come and go."""

    def poll(self) -> Devices | None:
        """The list when it changed since the last call, else None; cheap."""
        ...

    def close(self) -> None: ...


def _later(place: str) -> Callable[..., Any]:
    """The function at a place ("engine.asr.registry:load"), imported when it is called first."""
    return lambda *given: resolve_name(place)(*given)


_spotter = _later("engine.asr.wake.choice:spotter")


def _pace_wish(text: str, whole: bool) -> bool:
    from engine.llm.skills.pace_wishes import may_become_pace_wish, pace_wish

    return pace_wish(text) is not None if whole else may_become_pace_wish(text)


@dataclass(frozen=True)
class Factories:
    """How to make each part. Device names are empty for the system's default."""

    microphone: Callable[[str], Microphone]
    loudspeaker: Callable[[str], Loudspeaker]
    canceller: Callable[[Cleaning], EchoCanceller]
    recogniser: Callable[[RecogniserSettings, Sequence[str]], Recogniser]
    language_model: Callable[[LanguageModelSettings, LoadProgress], LanguageModel]
    synthesiser: Callable[[SpeechSettings, Progress], TtsModel]
    phrases: Callable[[], Sequence[str]]  # sentences the recogniser should expect
    # how complete what was said is, for the language of these settings
    completeness: Callable[[RecogniserSettings], Callable[[str], Completeness]]
    devices: Watch
    size_bytes: Callable[[PartSettings], int]  # of what would be loaded
    # raises InvalidInput when a changed setting cannot work here
    check: Callable[[Settings, str, Devices | None], None]
    # raises InvalidInput for a phrase that will not do, ModelError where it cannot be listened for
    spotter: Callable[[WakeSettings], KeywordSpotter] = _spotter
    history: Path | None = None  # the file conversations are kept in; None = they are not
    # whether these words are (if they are all), or may become, a wish about the pace of a reply
    pace_wish: Callable[[str, bool], bool] = _pace_wish
    has_window: bool = True  # whether the host shows what UseWindow asks for


def standard_factories() -> Factories:
    """The sound card, and what the settings name."""
    return Factories(
        microphone=_later("engine.audio.devices.portaudio:open_microphone"),
        loudspeaker=_later("engine.audio.devices.portaudio:open_loudspeaker"),
        canceller=open_canceller,
        recogniser=_later("engine.asr.registry:load"),
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
