"""Loaders of the synthesisers by name, each imported at its first use.

Invariant: importing this module loads no synthesiser and no torch.
"""

import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Final

from engine.errors import ModelError
from engine.settings import SpeechSettings
from engine.systems import KOKORO, SYSTEMS, System
from engine.translatable import Progress, Translatable
from engine.tts import packs, pick
from engine.tts.base import TtsModel
from engine.tts.voxtream.files.paths import PUBLISHED

Load = Callable[[SpeechSettings, Progress], TtsModel]


def _load_of(module: str, function: str = "load") -> Load:
    """Return a loader that imports its synthesiser when it is called."""
    return lambda settings, progress: getattr(import_module(module), function)(settings, progress)


def load_pack(name: str, folder: Path, device: str) -> TtsModel:
    """Load the pack of a system (engine/systems.py) from any folder. The ModelError names its
    fault.
    """
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
