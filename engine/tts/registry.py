"""The synthesisers by name: their loaders, and their voices as a catalogue, without loading them.

Invariant: importing this module, or reading a catalogue, loads no synthesiser and no torch; a
catalogue comes from a few small files.
"""

import logging
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Final

from engine.errors import ModelError
from engine.languages import ENGLISH
from engine.settings import SpeechSettings, systems
from engine.settings.systems import KOKORO, SYSTEMS, System
from engine.settings_file import data_folder
from engine.translatable import Progress, Translatable, mark
from engine.tts import packs, pick, voices
from engine.tts.base import TtsModel
from engine.tts.kokoro import voices as kokoro
from engine.tts.llmvox.published import paths as llmvox
from engine.tts.packs import CONFIG_FILE, LARGEST_CONFIG, VOICES_FOLDER, edition_of
from engine.tts.voices import ABOUT
from engine.tts.voxtream.files import paths
from engine.tts.voxtream.files.paths import PUBLISHED
from engine.typed_values import read_json

Load = Callable[[SpeechSettings, Progress], TtsModel]

log = logging.getLogger(__name__)

ESPEAK: Final = "espeak"
VOXTREAM2_OWN: Final = "formant"
REINSTALL: Final = Translatable("Install the program again.")
# Measured on one sentence each: 98, 100, 173, 134, 174 and 169 Hz.
_STARTER: Final = {
    "Anton": mark("deep man"), "Bruno": mark("deep man"), "Clara": mark("woman"),
    "Dario": mark("man"), "Edda": mark("woman"), "Fanny": mark("woman"),
}  # fmt: skip


def _load_of(module: str, function: str = "load") -> Load:
    """Return a loader that imports its synthesiser when it is called."""
    return lambda settings, progress: getattr(import_module(module), function)(settings, progress)


def load_pack(name: str, folder: Path, device: str) -> TtsModel:
    """Load the pack of a system (engine/settings/systems.py). The ModelError names its fault."""
    (system,) = (each for each in SYSTEMS if each.name == name)
    load_it: Callable[[Path, str], TtsModel] = import_module(system.module).load
    return load_it(folder, device)


def _of_paper(system: System, settings: SpeechSettings, progress: Progress) -> TtsModel:
    folder = packs.pack_folder(system)
    progress(Translatable("Loading {name}", name=system.title), None)
    return load_pack(system.name, folder, settings.device)


_LOADERS: Final[dict[str, Load]] = {
    "espeak": _load_of("engine.tts.espeak.model"),
    "starter": _load_of("engine.tts.voxtream.files.pack", "load_starter"),
    KOKORO: _load_of("engine.tts.kokoro.synthesiser"),
    **{edition: _load_of("engine.tts.voxtream.files.pack") for edition in PUBLISHED},
    "llmvox-published": _load_of("engine.tts.llmvox.published.synthesiser"),
    **{system.name: partial(_of_paper, system) for system in SYSTEMS},
}

NAMES: Final = tuple(_LOADERS)  # and 'auto', which is one of them
BUILT_IN: Final = "espeak"  # needs no file of weights: it stands in when another will not load


def unknown(name: str) -> ModelError:
    """Return the error for an unknown synthesiser."""
    return ModelError(
        "There is no synthesiser called '{name}'.",
        hint="There are: {names}.",
        name=name,
        names=", ".join(NAMES),
    )


def load(settings: SpeechSettings, progress: Progress) -> TtsModel:
    """Load the synthesiser of the settings on the calling thread, which then owns it. ModelError
    when it is unknown or cannot be loaded.
    """
    settings = pick.resolve(settings)
    loader = _LOADERS.get(settings.engine)
    if loader is None:
        raise unknown(settings.engine)
    torch = sys.modules.get("torch")
    threads = torch.get_num_threads() if torch else None
    try:
        return loader(settings, progress)
    except BaseException:  # the current model goes on with its number of threads
        if torch:
            torch.set_num_threads(threads)
        raise


@dataclass(frozen=True)
class VoiceCatalogue:
    """The voices of a synthesiser. `voice_model`: its TtsInfo.voice_model; `own`: the names of its
    own voices, the default first; `about`: their descriptions by name, if any; `languages`: the
    codes of those that do not speak English, by name. `can_clone`: see pick.can_clone().
    """

    voice_model: str
    own: tuple[str, ...]
    can_mix: bool = False
    about: Mapping[str, str] = field(default_factory=dict)
    can_clone: bool = False
    languages: Mapping[str, str] = field(default_factory=dict)


def of_model(model: TtsModel) -> VoiceCatalogue:
    """Return the catalogue of a loaded synthesiser."""
    info, own = model.info, model.voices()
    names = tuple(voice.name for voice in own)
    about = {each.name: each.metadata[ABOUT] for each in own if ABOUT in each.metadata}
    about = about or _about_starter(info.voice_model, names)
    languages = {each.name: each.language for each in own if each.language != ENGLISH}
    return VoiceCatalogue(info.voice_model, names, info.can_mix, about, info.can_clone, languages)


def usable(settings: SpeechSettings) -> VoiceCatalogue:
    """Return the catalogue of the synthesiser of these settings, or espeak's if its files are
    incomplete and it is 'auto' or comes with the program. ModelError for any other one.
    """
    try:
        return of_settings(settings)
    except ModelError as error:
        if settings.engine not in (pick.AUTO, pick.BUILT_IN):
            raise
        log.warning("%s Until then %s speaks.", error, ESPEAK)
        return of_settings(replace(settings, engine=ESPEAK))


def of_settings(settings: SpeechSettings) -> VoiceCatalogue:
    """Return the catalogue of a synthesiser. ModelError when its files are incomplete."""
    settings = pick.resolve(settings)
    match settings.engine:
        case "espeak":
            from engine.tts.espeak.voices import VOICES

            about = {voice.name: voice.description for voice in VOICES}
            return VoiceCatalogue(ESPEAK, tuple(about), about=about)
        case "starter":
            return _of_pack(paths.pack_folder())
        case systems.KOKORO:
            if not kokoro.is_fetched():
                raise packs.not_fetched("Kokoro", systems.KOKORO)
            return VoiceCatalogue(
                systems.KOKORO,
                kokoro.fetched(kokoro.voices_folder()),
                can_mix=True,
                about=kokoro.ABOUT,
                can_clone=pick.can_clone(systems.KOKORO),
                languages=kokoro.LANGUAGES,
            )
        case llmvox.NAME:
            if not llmvox.is_fetched():
                raise packs.not_fetched(llmvox.VOICE, llmvox.NAME)
            return VoiceCatalogue(llmvox.NAME, (llmvox.VOICE,))
        case name if system := systems.find(name):
            files = voices.saved_voices(packs.pack_folder(system) / packs.VOICES_FOLDER)
            return VoiceCatalogue(system.name, tuple(file.name for file in files))
        case edition if edition not in paths.PUBLISHED:
            raise unknown(edition)
        case edition:
            if not (data_folder() / "models" / edition / "model.safetensors").is_file():
                raise packs.not_fetched(paths.PUBLISHED[edition], edition)
            return VoiceCatalogue(edition, (VOXTREAM2_OWN,), can_clone=pick.can_clone(edition))


def _of_pack(folder: Path) -> VoiceCatalogue:
    files = voices.saved_voices(folder / VOICES_FOLDER)
    try:
        name = read_json(folder / CONFIG_FILE, LARGEST_CONFIG)["name"]
        edition = edition_of(folder)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            "The voice pack {folder} is not whole: {error}.",
            hint=REINSTALL,
            folder=folder,
            error=error,
        ) from error
    if not files:
        raise ModelError("The voice pack {folder} holds no voice.", hint=REINSTALL, folder=folder)
    names = tuple(file.name for file in files)
    return VoiceCatalogue(f"{name} {edition}", names, about=_about_starter(name, names))


def _about_starter(voice_model: str, names: tuple[str, ...]) -> dict[str, str]:
    """Return the descriptions of the voices in the program's own pack; empty for another pack."""
    ours = voice_model.split(" ")[0] == "rubato-starter"
    return {name: Translatable(_STARTER[name]) for name in names if ours and name in _STARTER}
