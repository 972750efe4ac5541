"""Checks of the machine: packages, graphics card, disk space, display, files.

Heavy libraries are imported only inside the check that needs them.
"""

import ctypes
import importlib.util
import os
import platform
import re
import shutil
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from engine import machine as hardware
from engine import settings_file as file
from engine.doctor.finding import Finding, fault, ok, version_of, warning
from engine.settings import Settings

SETUP = "Run `make run`: it installs what is missing."
NAMED = ("PySide6-Essentials", "torch", "onnxruntime", "faster-whisper", "pocketsphinx", "moshi")
MIB = 1024 * 1024
LOW_DISK_MIB, FULL_DISK_MIB = 2048, 100  # a model is hundreds of MB; settings need almost nothing


def packages(settings: Settings) -> Iterator[Finding]:
    """Report Python and the packages that Rubato requires. Their versions are pinned."""
    yield ok("Python", f"{platform.python_version()} on {platform.system()} {platform.machine()}")
    try:
        required = metadata.requires("rubato") or []
    except metadata.PackageNotFoundError:
        yield fault("packages", "Not installed: rubato", SETUP)
        return
    names = [re.split(r"[^\w.-]", line)[0] for line in required if ";" not in line]
    if missing := [name for name in names if not version_of(name)]:
        yield fault("packages", "Not installed: " + ", ".join(missing), SETUP)
    found = [f"{name} {version_of(name)}" for name in ("rubato", *NAMED)]
    yield ok("packages", ", ".join(found))


def graphics_card(settings: Settings) -> Iterator[Finding]:
    """Return the devices torch can compute on. Imports torch, which takes seconds, only if a card
    may be usable: files show a torch without CUDA, and a machine without a driver.
    """
    part = "graphics card"
    if importlib.util.find_spec("torch") is None:
        yield fault(part, "torch is not installed.", SETUP)
        return
    version = version_of("torch")
    if hardware.has_usable_card():
        yield from _cuda()
    elif hardware.has_card_driver():
        advice = "Delete .venv/rubato-setup.json and run `make run`: it picks torch for the driver."
        if sys.platform == "win32":  # where the setup takes a build without CUDA
            advice = "The page resources/pages/installing.md has the command that installs another."
        text = f"There is an NVIDIA driver, but torch {version} cannot use it."
        yield warning(part, text, advice)
    else:
        yield ok(part, f"none; torch {version} computes on {os.cpu_count() or 1} CPU cores")
        if settings.speech.device == "cuda":
            yield warning(part, "The setting speech.device is 'cuda'.", "Set it to 'auto'.")


def _cuda() -> Iterator[Finding]:
    import torch

    built_for = torch.cuda.get_arch_list()
    versions = f"torch {torch.__version__}, CUDA {torch.version.cuda}"
    for number in range(torch.cuda.device_count()):
        major, minor = torch.cuda.get_device_capability(number)
        text = f"{torch.cuda.get_device_name(number)}, compute {major}.{minor}; {versions}"
        text += f", built for {' '.join(built_for)}"
        # code for an architecture runs on later ones of the same generation
        if any(arch.startswith(f"sm_{major}") for arch in built_for):
            yield ok("graphics card", text)
        else:
            advice = "Set speech.device to 'cpu', or install a torch built for this card."
            yield warning("graphics card", f"{text}: this torch has no code for it.", advice)


def room(settings: Settings) -> Iterator[Finding]:
    place = str(file.data_folder())
    free = shutil.disk_usage(_existing(file.data_folder())).free // MIB
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
        text = "Neither DISPLAY nor WAYLAND_DISPLAY is set, so no window can open."
        advice = "Start it in a desktop session, or use `rubato demo`, `say` and `converse`."
        yield warning("display", text, advice)
        return
    try:
        ctypes.CDLL("libxcb-cursor.so.0")  # Qt names every missing library except this, its newest
    except OSError:
        text = "libxcb-cursor is missing; Qt's window needs it on X11."
        advice = "Debian, Ubuntu: sudo apt-get install libxcb-cursor0; "
        yield fault("display", text, advice + "Fedora, Arch: the package xcb-util-cursor.")
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
