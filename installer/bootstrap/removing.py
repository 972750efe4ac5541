"""Remove Rubato from a machine: the program and, only on request, the user's data.

Invariant: voices, conversations and settings are removed only after a clear yes. In a folder that
the user chose, only files with Rubato's names are removed: it may be a complete disk.
"""

import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from installer.bootstrap import desktop, windows
from installer.bootstrap.paths import XDG, Home, expand, folder_named, opened

NAME = "rubato"
# Paths as patterns of Path.glob, below the folder of the program, the data and the settings.
PROGRAM = (
    *("cache/*-v[0-9]*", "cache/CACHEDIR.TAG", "cache/.gitignore", "cache/.lock"),
    *("python/cpython-*", "python/.temp", "python/.gitignore", "python/.lock"),
    *("installing.lock", "current.new", "rubato.new"),
)
MODELS = (
    *("byt5-g2p", "kokoro", "kokoro-voices", "llmvox-published", "mimi", "qwen[0-9]*-*"),
    *("redimnet", "starter", "voxtream2", "voxtream2-1", "wavtokenizer", "whisper-*"),
)
DATA = (
    *(f"models/{name}" for name in MODELS),
    *(f"models/.{name}.lock" for name in MODELS),
    *(f"packs/{name}" for name in ("llmvox", "smlle", "speakstream", "starter", "voxtream")),
    *("voices/*.safetensors", "voices/removed/*.safetensors", "voices/notes*.json"),
    *("wake/*.safetensors", "takes/My voice*.wav", "takes/.*.part", "recordings/Rubato *.wav"),
    *("notes/rubato.log*", "notes/fatal.txt", "notes/*crashes.txt*"),
    *("conversations*.sqlite*", "timers*.json", "serve-token", "added-models.json"),
    *("screen-reader.lock", "espeak-*", ".espeak-*"),
    *("language-models.json", "profile.json", "recogniser.json", "speeds.json"),
    *("synthesiser.json", ".rubato-*.part", "voices/.rubato-*.part", "wake/.rubato-*.part"),
)
CONFIG = ("settings.toml", "settings.kept-*.toml", ".settings.lock", ".rubato-*.part")


def uninstall(home: Home, *, own_files: bool, env: Mapping[str, str]) -> list[Path]:
    """Remove environments, cache, launcher, menu entry, start at login and the module of
    speech-dispatcher; with `own_files` also voices, models, conversations and settings. Return the
    paths that could not be removed.
    """
    left: list[Path] = []
    if home.folder.exists():
        with opened(home):
            if found := home.versions()[0]:
                desktop.leave_speech_dispatcher(home.python(found), env)
                home.current_file.unlink(missing_ok=True)  # first: nothing incomplete is started
            own = [home.env(name) for name in home.environments()]
            left = _remove([*own, *home.saved_payloads()])
    desktop.remove(home, env)
    left += _remove_known(home.folder, PROGRAM)
    if own_files:
        for folder in _usual_folders(env):
            left += _remove([folder])
        for variable, names in (("RUBATO_CONFIG", CONFIG), ("RUBATO_DATA", DATA)):
            if env.get(variable):
                left += _remove_known(expand(env[variable]), names)
    return left


def own_folders(env: Mapping[str, str]) -> list[Path]:
    """Return the folders of the user's settings, and of data such as voices."""
    chosen = [expand(env[name]) for name in ("RUBATO_CONFIG", "RUBATO_DATA") if env.get(name)]
    return list(dict.fromkeys([*chosen, *_usual_folders(env)]))


def _usual_folders(env: Mapping[str, str]) -> list[Path]:
    return list(dict.fromkeys(folder_named(NAME, variable, env) for variable in XDG))


def _remove_known(folder: Path, patterns: Iterable[str]) -> list[Path]:
    """Remove the paths that match the patterns, then the folders that this left empty."""
    found = [path for pattern in patterns for path in folder.glob(pattern)]
    failed = _remove(found)
    parents = {path.parent for path in (folder / pattern for pattern in patterns)}
    for parent in sorted({*parents, folder, folder / "payload"}, reverse=True):
        if parent.is_dir() and not parent.is_symlink() and not any(parent.iterdir()):
            parent.rmdir()
    return failed


def _remove(paths: Iterable[Path]) -> list[Path]:
    """Remove files and folders, never a link's target. Return those that could not be removed."""
    failed: list[Path] = []

    def note(_: Callable[..., object], path: str, __: object) -> None:
        failed.append(Path(path))

    for path in paths:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(windows.verbatim(path), onerror=note)
            continue
        try:
            path.unlink(missing_ok=True)
        except OSError:
            failed.append(path)
    return failed
