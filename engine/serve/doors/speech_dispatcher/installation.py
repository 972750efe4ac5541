"""Install the module for one person, and remove it.

The daemon finds modules in ~/.local/libexec/speech-dispatcher-modules by itself, unless its
configuration lists modules; then one more line is needed there. Invariant: a person's own
configuration keeps its bytes, its permissions and its place, and remove() restores it exactly.
"""

import os
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import platformdirs

from engine.atomic_write import replace_file
from engine.errors import InvalidInput, SettingsError

NAME: Final = "rubato"  # of the module, for the daemon's clients
COMMAND: Final = ("speech-dispatcher", "module")  # what Rubato's own command gets
_TITLE: Final = "#!/bin/sh\n# Rubato's voice for speech-dispatcher, written by Rubato.\n"
_BEGIN, _END = "\n# Rubato: begin\n", "# Rubato: end\n"
_SYSTEM: Final = Path("/etc/speech-dispatcher/speechd.conf")
_KEPT: Final = ("RUBATO_CONFIG", "RUBATO_DATA", "RUBATO_PROGRAM")  # the daemon may not have them


class Installation:
    """The files of one person. `system`: the daemon's configuration for everybody."""

    def __init__(self, system: Path = _SYSTEM) -> None:
        self._system = system
        self._data = platformdirs.user_data_path()
        modules = _target(self._data).parent / "libexec"  # "..", as the system follows it
        self.module = modules / "speech-dispatcher-modules" / f"sd_{NAME}"
        config = platformdirs.user_config_path() / "speech-dispatcher" / "speechd.conf"
        self.config = _target(config)  # it may be a link, and stays one

    @property
    def is_installed(self) -> bool:
        """True if the module is ours, not a file of the same name."""
        try:
            return self.module.read_bytes().startswith(_TITLE.encode())
        except OSError:
            return False

    def install(self, command: Sequence[str]) -> None:
        """Let the daemon start `command` as a module. InvalidInput without speech-dispatcher, or if
        another program's module has this name; SettingsError if the files cannot be written.
        """
        if shutil.which("speech-dispatcher") is None:
            raise InvalidInput(
                "speech-dispatcher is not installed.",
                hint="Install it, for example with: {command}",
                command="sudo apt install speech-dispatcher",
            )
        if os.path.lexists(self.module) and not self.is_installed:
            raise InvalidInput(
                "{file} was not written by Rubato.",
                hint="Move that file away, then install again.",
                file=self.module,
            )
        kept = [
            f"export {each}={shlex.quote(os.environ[each])}"
            for each in _KEPT
            if os.environ.get(each)
        ]
        lines = [*kept, f"exec {shlex.join(command)}"]
        try:
            self._data.mkdir(parents=True, exist_ok=True)  # or the daemon's path leads nowhere
            self.module.parent.mkdir(parents=True, exist_ok=True)
            replace_file(self.module, _TITLE + "\n".join(lines) + "\n", mode=0o755)
            self._list(wanted=True)
        except OSError as error:
            raise _unwritable(error) from error

    def remove(self) -> bool:
        """Undo install(); return whether it was installed. SettingsError if that fails."""
        try:
            if is_ours := self.is_installed:
                self.module.unlink()
                _remove_empty(self.module.parent)
                _remove_empty(self.module.parent.parent)
            self._list(wanted=False)
        except OSError as error:
            raise _unwritable(error) from error
        return is_ours

    def _list(self, *, wanted: bool) -> None:
        """Remove our lines from the configuration; if `wanted`, and if it lists modules (the
        person's, or else the system's), add them again. A file of nothing else goes with its
        folder.
        """
        line = f'AddModule "{NAME}" "{self.module}" "{NAME}.conf"\n{_END}'
        old = self.config.read_bytes() if self.config.is_file() else None
        common = self._system.read_bytes() if self._system.is_file() else b""
        new = old
        before, begin, rest = (old or b"").partition(_BEGIN.encode())
        _, end, after = rest.partition(_END.encode())
        if begin and end:
            new = before + after or None
        if wanted and new is not None and _lists_modules(new):
            new += f"{_BEGIN}{line}".encode()
        elif wanted and new is None and _lists_modules(common):
            new = f'{_BEGIN}Include "{self._system}"\n{line}'.encode()
        if new is None and old is not None:
            self.config.unlink()
            _remove_empty(self.config.parent)
        elif new is not None and new != old:
            self.config.parent.mkdir(parents=True, exist_ok=True)
            mode = 0o644 if old is None else self.config.stat().st_mode & 0o777
            replace_file(self.config, new, mode=mode)


def _lists_modules(config: bytes) -> bool:
    return any(line.strip().lower().startswith(b"addmodule") for line in config.splitlines())


def _target(path: Path) -> Path:
    """Return where a link leads. Path.resolve() fails for a link to itself."""
    return Path(os.path.realpath(path))


def _remove_empty(folder: Path) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def _unwritable(error: OSError) -> SettingsError:
    return SettingsError(
        "The files of speech-dispatcher cannot be written: {error}.",
        hint="Check that there is room, and that you may write in your home folder.",
        error=error,
    )
