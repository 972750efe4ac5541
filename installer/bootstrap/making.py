"""A new environment: created beside the current one, checked, and only then made current.

Invariant: an environment without its mark is never started. One that an earlier run left without a
mark is removed and created again, which is fast, because uv caches every complete package.
"""

import errno
import shutil
from dataclasses import dataclass
from pathlib import Path

from installer.bootstrap import pointer
from installer.bootstrap.maker import Maker
from installer.bootstrap.payload import Payload
from installer.bootstrap.places import PREFIX, Home, check_room, opened
from installer.bootstrap.progress import Progress
from installer.bootstrap.variant import Variant, fitting
from installer.commands import Cause, SetupError, advice, cause_of

WAITING = "Another installation of Rubato is under way; waiting for it."


@dataclass(frozen=True)
class Choice:
    """How to install. `variant` None: chosen by the driver. `wheels`: a folder instead of the
    network."""

    variant: Variant | None = None
    wheels: Path | None = None
    window: bool = False


def install(
    home: Home, payload: Payload, choice: Choice | None = None, progress: Progress | None = None
) -> str:
    """Make this release the current one and return its environment's name; fast if it already is.

    SetupError with a sentence for the person; then the current environment is unchanged.
    """
    choice, progress = choice or Choice(), progress or Progress()
    try:
        with opened(home, WAITING):
            name = whole(home, payload, choice, progress)
            progress.step("switch", 0.99, "Putting it in force")
            pointer.switch(home, name)
            tidy(home)
            return name
    except OSError as error:
        raise SetupError(sentence_on(error)) from error


def sentence_on(error: OSError) -> str:
    # shutil.Error, of a folder that was copied, has only the words
    if error.errno in (errno.ENOSPC, errno.EDQUOT) or cause_of(str(error)) is Cause.DISK:
        return advice(Cause.DISK)
    return f"The installation stopped: {error}. Mend what it says and start again."


def whole(home: Home, payload: Payload, choice: Choice, progress: Progress) -> str:
    """A complete and checked environment of this release, created if it is missing."""
    variant = choice.variant or fitting_in(payload)
    name = base = f"{PREFIX}{payload.version}-{variant.value}"
    if home.is_whole(name):
        return name
    if name == pointer.read(home).current:  # broken, perhaps still running
        name = base + ".2"
    if home.is_whole(name):
        return name
    home.remove(name)
    payload = kept(home, payload)
    check_room(home, variant.room_gb)
    try:
        _make(Maker(home, name, payload, variant, choice.wheels, progress), window=choice.window)
    except BaseException:
        home.remove(name)
        raise
    return name


def fitting_in(payload: Payload) -> Variant:
    """The variant that fits the machine; the CPU one if this release has no other."""
    found = fitting()
    return found if payload.has_torch(found) else Variant.CPU


def kept(home: Home, payload: Payload) -> Payload:
    """Check the payload, and save it in the home for repairs without the archive it came in."""
    payload.check()
    folder = home.payloads / payload.version
    if payload.folder.resolve() != folder.resolve():
        fresh = home.payloads / (payload.version + ".new")
        shutil.rmtree(fresh, ignore_errors=True)
        try:
            shutil.copytree(payload.folder, fresh)
        except OSError:
            shutil.rmtree(fresh, ignore_errors=True)
            raise
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
    return Payload(folder, payload.version, payload.files)


def _make(maker: Maker, *, window: bool) -> None:
    """Run the steps in order; the last one writes the mark."""
    step, torch = maker.progress.step, maker.torch_pins()
    step("environment", 0.02, "Making a place for Rubato")
    maker.check_system()
    maker.make_environment()
    step("window", 0.04, "Getting what windows are drawn with (80 MB)")
    maker.get_window()
    if window:
        maker.open_window()
    step("packages", 0.12, "Getting the packages (230 MB)")
    maker.get_packages()
    step("torch", 0.5, f"Getting torch ({maker.torch_size})")
    maker.get_torch(torch)
    step("rubato", 0.85, "Putting Rubato in")
    maker.put_rubato()
    step("check", 0.9, "Trying it: a window off screen and a spoken sentence")
    maker.check()
    step("mark", 0.98, "It works")
    maker.home.mark_whole(maker.name)


def tidy(home: Home) -> None:
    """Remove environments and payloads that no pointer can reach any more."""
    found = pointer.read(home)
    reachable = {found.current, found.previous}
    for name in home.environments():
        if name not in reachable:
            home.remove(name)
    versions = {version_of(name) for name in reachable}
    folders = home.payloads.iterdir() if home.payloads.is_dir() else ()
    for folder in folders:
        if folder.name not in versions:
            shutil.rmtree(folder, ignore_errors=True)


def version_of(name: str) -> str:
    """The version in an environment's name: '0.1.0' for 'env-0.1.0-cpu.2'."""
    return name.removeprefix(PREFIX).rpartition("-")[0]
