"""What a part needs of this machine before it can be loaded.

Invariant: nothing is loaded and no library of a part is imported here.
"""

from pathlib import Path

from engine.assets import catalogue
from engine.assets.store import Store
from engine.settings import (
    LanguageModelSettings,
    PartSettings,
    RecogniserSettings,
    SpeechSettings,
)
from engine.settings_file import data_folder


def size_bytes(settings: PartSettings) -> int:
    """Size of the files these settings have loaded; 0 for what comes with the program, which is
    small.
    """
    match settings:
        case RecogniserSettings(engine="whisper", model=model) if model:
            return _size_bytes(Path(model).expanduser())
        case LanguageModelSettings(engine="llama", model=model) if model:
            return _size_bytes(Path(model).expanduser())
        case SpeechSettings(engine="voxtream2" as name):
            asset, store = catalogue.find(name), Store(data_folder() / "models")
            assets = (asset, *(catalogue.find(need) for need in asset.needs))
            return sum(_size_bytes(store.path(each)) for each in assets)
    return 0


def _size_bytes(path: Path) -> int:
    """Of a file, or of all below a folder; 0 when it is not there."""
    files = path.rglob("*") if path.is_dir() else (path,)
    return sum(file.stat().st_size for file in files if file.is_file())
