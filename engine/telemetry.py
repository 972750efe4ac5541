"""What libraries below would report to their makers, switched off; and what they kept, removed.

Invariant: the switches are set before any of these libraries is imported, whichever way the program
starts: `engine/__init__.py` sets them, and no module here imports a library before that.
"""

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

import platformdirs

# No choice is asked for and none is taken from outside: nothing is reported.
_SWITCHES: Final = {
    # From 1.29 on it keeps a device id and queues events (machine, program path, model names) for
    # its maker. It decides while its library loads: `disable_telemetry_events()` is too late for
    # the id, the database and the first event (its Privacy.md).
    "ORT_DISABLE_TELEMETRY": "1",
    # huggingface_hub asks the hub how to tell which agent runs it, and tells; hf_xet reports
    # transfers. Both read it once.
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",  # the same wish in general; the two above heed it too
}
_FOLDER: Final = Path("Microsoft", "DeveloperTools", ".onnxruntime")  # also of other programs
_FILES: Final = ("deviceid*", "onnxruntime.db*")


def switch_off() -> None:
    """Tell every library that heeds the environment, here and in child processes."""
    os.environ.update(_SWITCHES)


def remove_traces(mark: Path) -> None:
    """Remove ONNX Runtime's device id and unsent events, which versions before this one had it
    keep. Once: then the file `mark` says so, and what comes later is another program's.
    """
    place = _place()
    if mark.exists() or not place.exists():
        return
    with suppress(OSError):  # in use or not ours: again at the next start
        _remove(place)
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()


def _place() -> Path:
    """Where ONNX Runtime keeps them (its core/platform/*/device_id.cc)."""
    if sys.platform in ("darwin", "win32"):
        return platformdirs.user_data_path(appname=None, appauthor=False) / _FOLDER
    return platformdirs.user_cache_path() / _FOLDER


def _remove(place: Path) -> None:
    for pattern in _FILES:
        for file in place.glob(pattern):
            file.unlink(missing_ok=True)
    with suppress(OSError):  # not there, or something of others is
        for folder in (place, *place.parents[:2]):
            folder.rmdir()
    if sys.platform == "win32":  # the id is in the registry there
        import winreg

        with suppress(FileNotFoundError):
            winreg.DeleteKey(winreg.HKEY_CURRENT_USER, f"SOFTWARE\\{_FOLDER}")
