"""Checks of the machine: Python, packages, graphics card, disk space, display, files.

Heavy libraries are imported only inside the check that needs them.
"""

import ctypes
import importlib.util
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from engine import settings_file as file
from engine.doctor.finding import Finding, fault, ok, version_of, warning
from engine.machine import graphics_card as card
from engine.settings import Settings

SETUP = "Run `make run`: it installs what is missing."
NEEDED = (
    "PySide6-Essentials",
    "sounddevice",
    "rtmixer",
    "soxr",
    "soundfile",
    "pocketsphinx",
    "faster-whisper",
    "espeakng-loader",
    "hassil",
    "pint",
    "httpx",
    "moshi",
    "torch",
)
MIB = 1024 * 1024
LOW_DISK_MIB, FULL_DISK_MIB = 2048, 100  # a model is hundreds of MB; settings need almost nothing


def python(settings: Settings) -> Iterator[Finding]:
    version = platform.python_version()
    where = f"Python {version} on {platform.system()} {platform.machine()}"
    if (3, 11) <= sys.version_info[:2] < (3, 14):
        yield ok("Python", where)
    else:
        yield fault("Python", where, "Rubato needs Python 3.11 to 3.13; run `make run` with one.")


def packages(settings: Settings) -> Iterator[Finding]:
    found, missing = {}, []
    for name in ("rubato", *NEEDED):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            missing.append(name)
    if found:
        yield ok("packages", ", ".join(f"{name} {version}" for name, version in found.items()))
    if missing:
        yield fault("packages", "Not installed: " + ", ".join(missing), SETUP)
    # 6.12 loses a reference to None at every setPen, which ends the process before Python 3.12
    window = tuple(int(part) for part in found.get("PySide6-Essentials", "0.0").split(".")[:2])
    if window >= (6, 12) and sys.version_info < (3, 12):
        yield fault("packages", "PySide6 6.12 and later crash on Python 3.11.", SETUP)


def graphics_card(settings: Settings) -> Iterator[Finding]:
    """Return the devices torch can compute on. Imports torch, which takes seconds, only if a card
    may be usable: files show a torch without CUDA, and a machine without a driver.
    """
    part = "graphics card"
    if importlib.util.find_spec("torch") is None:
        yield fault(part, "torch is not installed.", SETUP)
        return
    version = version_of("torch", "of unknown version")
    if card.is_usable():
        import torch

        yield from _cuda(f"torch {torch.__version__}, CUDA {torch.version.cuda}")
        return
    if card.has_driver():
        again = "Delete .venv/rubato-setup.json and run `make run`: it picks torch for the driver."
        advice = _cuda_on_windows(version) if sys.platform == "win32" else again
        yield warning(
            part, f"There is an NVIDIA driver, but torch {version} cannot use it.", advice
        )
        return
    yield ok(part, f"none; torch {version} computes on {os.cpu_count() or 1} CPU cores")
    if settings.speech.device == "cuda":
        yield warning(part, "The setting speech.device is 'cuda'.", "Set it to 'auto'.")


def _cuda_on_windows(version: str) -> str:
    """The setup uses a build without CUDA on Windows; installer/plan.py has the same options."""
    build = f"--torch-backend=cu130 torch=={version.partition('+')[0]}+cu130"
    install = f'uv pip install --python "{sys.executable}" --no-deps --reinstall-package torch'
    return f"The CUDA build for Windows is not pinned. From PyTorch's own index: {install} {build}"


def _cuda(versions: str) -> Iterator[Finding]:
    import torch

    for number in range(torch.cuda.device_count()):
        name = torch.cuda.get_device_name(number)
        major, minor = torch.cuda.get_device_capability(number)
        built_for = torch.cuda.get_arch_list()
        text = f"{name}, compute {major}.{minor}; {versions}, built for {' '.join(built_for)}"
        # code for an architecture runs on later ones of the same generation
        if any(arch.startswith(f"sm_{major}") for arch in built_for):
            yield ok("graphics card", text)
        else:
            yield warning(
                "graphics card",
                text + ": this torch has no code for it.",
                "Set speech.device to 'cpu', or install a torch built for this card.",
            )


def room(settings: Settings) -> Iterator[Finding]:
    folder = _existing(file.data_folder())
    free = shutil.disk_usage(folder).free // MIB
    place = str(file.data_folder())
    text = f"{free / 1024:.1f} GiB free for voices and models in {place}"
    if free < FULL_DISK_MIB:
        yield fault("disk", text, "Free some space: even settings may not be saved.", place)
    elif free < LOW_DISK_MIB:
        yield warning("disk", text, "Free some space before fetching a model.", place)
    else:
        yield ok("disk", text, place)


def display(settings: Settings) -> Iterator[Finding]:
    if sys.platform in ("win32", "darwin"):
        yield ok("display", "the system's own")
        return
    name = os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY")
    if not name:
        yield warning(
            "display",
            "Neither DISPLAY nor WAYLAND_DISPLAY is set, so no window can open.",
            "Start it in a desktop session, or use `rubato demo`, `say` and `converse`.",
        )
        return
    try:
        ctypes.CDLL("libxcb-cursor.so.0")  # Qt names every missing library except this, its newest
    except OSError:
        yield fault(
            "display",
            "libxcb-cursor is missing; Qt's window needs it on X11.",
            "Debian, Ubuntu: sudo apt-get install libxcb-cursor0; "
            "Fedora, Arch: the package xcb-util-cursor.",
        )
    else:
        yield ok("display", name, name)


def settings_file(settings: Settings) -> Iterator[Finding]:
    path = file.default_path()
    _, notes = file.load(path)
    for note in notes:
        yield warning("settings", note, f"Mend {path}, or delete the line.", note, str(path))
    folder = _existing(path.parent)
    if not os.access(folder, os.W_OK):
        text = f"{folder} cannot be written."
        yield warning("settings", text, "Changes will not be kept.", str(folder))
    elif not notes:
        text = str(path) if path.exists() else f"all default; {path} does not exist"
        yield ok("settings", text, str(path))


def _existing(folder: Path) -> Path:
    """Return the folder, or its closest existing parent."""
    return next(path for path in (folder, *folder.absolute().parents) if path.is_dir())
