"""Check what settings need of this machine: files, packages, devices, memory.

Nothing is loaded and no library of a part is imported here, except the dictionary that checks a
wake phrase.
"""

from pathlib import Path

from engine.asr.pick import check_language
from engine.asr.wake.phrase import examine, normal
from engine.asr.whisper.model import checked_folder
from engine.assets.catalogue import catalogue
from engine.assets.store import State
from engine.audio.devices.portaudio import Devices
from engine.errors import InvalidInput, ModelError
from engine.llm.local.gguf import check_library, checked_file
from engine.models.storage import default_store, size_on_disk, with_needs
from engine.settings import (
    LanguageModelSettings,
    PartSettings,
    RecogniserSettings,
    SettingKey,
    Settings,
    SpeechSettings,
    systems,
)
from engine.translatable import Translatable
from engine.tts import packs


def check(settings: Settings, key: str, devices: Devices | None) -> None:
    """Refuse a changed setting that cannot work here. InvalidInput gives the remedy.

    Each setting is checked with the engine in force. An engine is checked without its model, which
    is chosen next and is empty until then. `devices` are the connected ones; None = not known.
    """
    try:
        _check(settings, key)
    except ModelError as error:
        raise InvalidInput(error.message, hint=error.hint) from error
    if devices is not None and key == SettingKey.MICROPHONE:
        noun = Translatable("The microphone")
        _check_device(noun, settings.audio.microphone, devices.microphones)
    if devices is not None and key == SettingKey.LOUDSPEAKER:
        noun = Translatable("The loudspeaker")
        _check_device(noun, settings.audio.loudspeaker, devices.loudspeakers)


def _check(settings: Settings, key: str) -> None:
    """ModelError for a setting that cannot be loaded."""
    ears, mind = settings.recogniser, settings.language_model
    match key:
        case SettingKey.RECOGNISER | SettingKey.RECOGNISER_LANGUAGE if ears.engine == "sphinx":
            check_language(ears.language)
        case SettingKey.RECOGNISER_MODEL if ears.model.strip():
            checked_folder(ears.model)
        case SettingKey.WAKE_PHRASE:
            examine(normal(settings.wake.phrase))
        case SettingKey.WAKE if settings.wake.on:
            examine(normal(settings.wake.phrase))
        case SettingKey.LANGUAGE_MODEL if mind.engine == "llama":
            check_library()
        case SettingKey.MODEL_NAME if mind.engine == "llama" and mind.model:
            checked_file(mind.model)
        case SettingKey.SYNTHESISER:
            _check_fetched(settings.speech.engine)


def _check_fetched(engine: str) -> None:
    """Check that each asset of a fetched voice, or the pack of a paper's system, exists. Loading
    checks more.
    """
    if system := systems.find(engine):
        packs.pack_folder(system)
    if engine not in catalogue():
        return
    store = default_store()
    lacking = [each.title for each in with_needs(engine) if store.state(each) is State.MISSING]
    if lacking:
        raise ModelError(
            "The voice is not on this machine: {names}.",
            hint="Fetch what is missing with: {command}",
            names="; ".join(lacking),
            command=f"rubato models get {engine}",
        )


def _check_device(noun: str, name: str, connected: tuple[str, ...]) -> None:
    if name and name not in connected:
        raise InvalidInput(
            "{noun} '{name}' is not connected.",
            hint="Connect it, or choose another: {names}." if connected else "Connect it.",
            noun=noun,
            name=name,
            names=", ".join(connected),
        )


def size_bytes(settings: PartSettings) -> int:
    """Return the size of the files that these settings load; 0 for built-in parts, which are
    small.
    """
    match settings:
        case RecogniserSettings(engine="whisper", model=model) if model:
            return size_on_disk(Path(model).expanduser())
        case LanguageModelSettings(engine="llama", model=model) if model:
            return size_on_disk(Path(model).expanduser())
        case SpeechSettings(engine=name) if name in catalogue():
            store = default_store()
            return sum(size_on_disk(store.path(each)) for each in with_needs(name))
    return 0
