"""The folder of one user's installation: environments, their cache, the pointer and the launcher.

Invariant: everything that Rubato installs for a user is below one folder, except the menu entry and
the link in the search path. Voices, models and settings are elsewhere and never touched here. The
pointer names the current environment and the one it replaced, which stays until the next update: a
small file that is only replaced as a whole, by a process that holds the lock of the home. Its first
line is the current environment, so a launcher in any language can read it.
"""

import errno
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from installer.bootstrap import windows
from installer.commands import Cause, SetupError

VARIABLE = "RUBATO_PROGRAM"
NAME = "rubato-program"
XDG = {"XDG_CONFIG_HOME": ".config", "XDG_DATA_HOME": ".local/share"}
PREFIX = "env-"
# Free bytes on the disk. With less, Python writes no byte code: on a full disk it would cut a file
# short, and the program would not start again.
LEAST_FOR_BYTE_CODE = 64_000_000
GONE = "gone-env-"  # prefix of removed and of temporary environments
_ENVIRONMENT = re.compile(PREFIX + r"[0-9][\w.+!]*-(?:cpu|cuda)(?:\.2)?")
LIST = "payload.json"  # in a payload: its version and its files
_FRESH_PAYLOAD = re.compile(r"[0-9][\w.+!]*\.new")
_MADE = "made"  # written last: the environment is complete and was checked


@dataclass(frozen=True)
class Home:
    """The folder of the program, and the paths in it."""

    folder: Path

    @property
    def current_file(self) -> Path:
        return self.folder / "current"

    @property
    def cache(self) -> Path:
        return self.folder / "cache"

    @property
    def pythons(self) -> Path:
        """Interpreters that uv fetched because the machine has no suitable one."""
        return self.folder / "python"

    @property
    def payloads(self) -> Path:
        """Saved payloads, for repairs without their archives: payload/VERSION."""
        return self.folder / "payload"

    def versions(self) -> tuple[str, str]:
        """Return the environment in use and the one it replaced, each "" if there is none. An
        unreadable file counts as missing, and so does a name that is a path to somewhere else.
        """
        try:
            lines = self.current_file.read_text(encoding="utf-8").splitlines()
        except (OSError, ValueError):
            lines = []
        names = [line if _ENVIRONMENT.fullmatch(line) else "" for line in (*lines, "", "")]
        return names[0], names[1]

    def switch(self, name: str) -> None:
        """Make a complete environment current, keep the previous one. SetupError if incomplete."""
        if not self.is_complete(name):
            raise SetupError(f"{name} is not complete, so it is not used.")
        old = self.versions()
        if old[0] != name:
            before = (each for each in old if each != name)
            self._point_to(name, next(filter(self.is_complete, before), ""))

    def roll_back(self) -> str:
        """Make the previous environment current and return it. SetupError if there is none."""
        with opened(self):
            previous = self.versions()[1]
            if not self.is_complete(previous):
                raise SetupError("There is no earlier version to go back to.")
            self._point_to(previous, "")
        return previous

    def _point_to(self, *names: str) -> None:
        write_atomically(self.current_file, "".join(f"{name}\n" for name in names))

    def env(self, name: str) -> Path:
        return self.folder / name

    def python(self, name: str) -> Path:
        """Return the interpreter of an environment."""
        inside = Path("Scripts", "python.exe") if os.name == "nt" else Path("bin", "python")
        return self.env(name) / inside

    def is_complete(self, name: str) -> bool:
        """Return whether the environment is complete and its interpreter still exists."""
        return bool(name) and (self.env(name) / _MADE).is_file() and self.python(name).exists()

    def mark_complete(self, name: str) -> None:
        write_atomically(self.env(name) / _MADE, "")

    def environments(self) -> list[str]:
        """Return all environments, complete or not. Folders with other names are not Rubato's."""
        found = self.folder.glob(PREFIX + "*") if self.folder.is_dir() else ()
        own = (path for path in found if _ENVIRONMENT.fullmatch(path.name))
        return sorted(path.name for path in own if path.is_dir())

    def saved_payloads(self) -> list[Path]:
        """Return the saved payloads, complete or not."""
        found = self.payloads.iterdir() if self.payloads.is_dir() else ()
        return [
            path for path in found if (path / LIST).is_file() or _FRESH_PAYLOAD.fullmatch(path.name)
        ]

    def remove(self, name: str) -> None:
        """Remove an environment. Files that Windows holds open are removed by a later sweep()."""
        gone = self.folder / (GONE + name.removeprefix(PREFIX))
        _remove_tree(gone)
        try:
            self.env(name).rename(gone)
        except FileNotFoundError:
            return
        except OSError:
            (self.env(name) / _MADE).unlink(missing_ok=True)
        self.sweep()

    def sweep(self) -> None:
        """Remove files that an earlier run could not remove."""
        for path in self.folder.glob(GONE + "*"):
            _remove_tree(path)


def _remove_tree(path: Path) -> None:
    shutil.rmtree(windows.verbatim(path), ignore_errors=True)


def expand(chosen: str) -> Path:
    """Return the absolute path of a user's variable; '~' is the user's folder."""
    return Path(os.path.expanduser(chosen)).absolute()  # noqa: PTH111 - Path's raises for ~nobody


def default_folder() -> Path:
    """Return $RUBATO_PROGRAM, otherwise the platform's folder for the data of a user's programs."""
    chosen = os.environ.get(VARIABLE)
    return expand(chosen) if chosen else folder_named(NAME, "XDG_DATA_HOME", os.environ)


def folder_named(name: str, variable: str, env: Mapping[str, str]) -> Path:
    """Return a user's folder as platformdirs gives it for the name of a program without an author.
    `variable`: that of XDG for the kind of data, which Windows and macOS do not distinguish.
    """
    if sys.platform == "win32":
        local = env.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / name
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / name
    return xdg_folder(variable, env) / name


def xdg_folder(variable: str, env: Mapping[str, str]) -> Path:
    """Return the folder that a variable of XDG names, otherwise the usual one."""
    chosen = Path(env.get(variable, ""))
    return chosen if chosen.is_absolute() else Path.home() / XDG[variable]


@contextmanager
def opened(home: Home) -> Iterator[None]:
    """Create the home if it is missing, and lock it until the end, even of a killed process. A
    second process says that it waits. SetupError if nothing can be written.
    """
    try:
        home.folder.mkdir(parents=True, exist_ok=True)
        file = (home.folder / "installing.lock").open("a+b")
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise SetupError(
            f"Rubato's folder {home.folder} cannot be written ({error.strerror}). Set "
            f"{VARIABLE} to a folder on a disk that can, with 3 GB free, and start again."
        ) from error
    with file:
        lock(file.fileno(), "Another installation of Rubato is under way; waiting for it.")
        home.sweep()
        yield


def lock(file: int, waiting: str) -> None:
    """Lock the file until it is closed or the process ends, even by a kill."""
    if sys.platform == "win32":
        import msvcrt

        while True:
            try:
                return msvcrt.locking(file, msvcrt.LK_LOCK, 1)  # tries for 10 s
            except OSError:
                print(waiting, flush=True)
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print(waiting, flush=True)
        fcntl.flock(file, fcntl.LOCK_EX)
    return None


def check_room(home: Home, needed_gb: float) -> None:
    """SetupError if the disk has less free space than that."""
    free_gb = shutil.disk_usage(home.folder).free / 1e9
    if free_gb < needed_gb:
        raise SetupError(
            f"The disk of {home.folder} has {free_gb:.1f} GB free; {needed_gb:.1f} GB are needed. "
            f"Free some space, or set {VARIABLE} to a folder on another disk, and start again.",
            Cause.DISK,
        )


def write_atomically(path: Path, text: str) -> None:
    """Write a small file so that, whatever happens, it has either the old or the new text."""
    fresh = path.with_name(path.name + ".new")
    with fresh.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
