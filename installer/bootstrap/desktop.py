"""Launchers on Linux: a script, a link in the search path, an entry in the menu.

Invariant: only the user's own files are written, and each is either complete or unchanged. Windows
and macOS have their own wrappers.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from installer.bootstrap.paths import Home, write_atomically, xdg_folder

APP_ID = "org.rubato.Rubato"  # as in app/desktop_entry.py, which writes the entry
LAUNCHER = "rubato"
_TITLE = "#!/bin/sh\n# Starts the Rubato that "  # first line of the launcher, in every version
_SCRIPT = """\
#!/bin/sh
# Starts the Rubato that the file `current` beside this names. Its first line is the environment.
home=$(dirname "$(readlink -f "$0")")
export RUBATO_PROGRAM="$home" RUBATO_LAUNCHER="$home/rubato"
read -r name < "$home/current"
env="$home/$name"
if [ -x "$env/bin/python" ]; then
    exec "$env/bin/python" "$env/bootstrapper" start "$@"
fi
version=${name#env-}  # the interpreter it was made with has gone: it is made again
exec "$home/payload/${version%-*}/rubato-setup" start "$@"
"""
_ENTRY = """
import sys
from pathlib import Path
from app import desktop_entry
from engine.resources import resource
desktop_entry.install([sys.argv[1]], resource("icons", "rubato.svg"), desktop_entry.data_home())
"""


def launcher(home: Home) -> Path:
    return home.folder / LAUNCHER


def put(home: Home, name: str, env: Mapping[str, str] = os.environ) -> None:
    """Write them, for the program of environment `name`. OSError if that fails."""
    if not sys.platform.startswith("linux"):
        return
    path = launcher(home)
    write_atomically(path, _SCRIPT)
    path.chmod(0o755)
    link = _link()
    if not link.exists():
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)  # it pointed to a deleted home
        link.symlink_to(path)
    # -B: the disk may be full
    command = [str(home.python(name)), "-P", "-B", "-c", _ENTRY, str(path)]
    subprocess.run(command, env=dict(env), check=False, stdout=subprocess.DEVNULL)


def remove(home: Home, env: Mapping[str, str]) -> None:
    """Remove the launcher, unless the file of that name belongs to another program; the link to it,
    the menu entry, its icon, and the start at login.
    """
    path = launcher(home)
    with suppress(OSError, ValueError):
        if path.read_text(encoding="utf-8").startswith(_TITLE):
            path.unlink()
    if not sys.platform.startswith("linux"):
        return
    data, config = xdg_folder("XDG_DATA_HOME", env), xdg_folder("XDG_CONFIG_HOME", env)
    (data / "applications" / f"{APP_ID}.desktop").unlink(missing_ok=True)
    icons = data / "icons" / "hicolor" / "scalable" / "apps"
    (icons / f"{APP_ID}.svg").unlink(missing_ok=True)
    (config / "autostart" / f"{APP_ID}.desktop").unlink(missing_ok=True)
    link = _link()
    if link.is_symlink() and link.readlink().name == LAUNCHER and not link.exists():
        link.unlink()


def leave_speech_dispatcher(python: Path, env: Mapping[str, str]) -> None:
    """Let the program remove its module of speech-dispatcher and its line there, if there are
    any.
    """
    modules = xdg_folder("XDG_DATA_HOME", env).resolve().parent / "libexec"
    if (modules / "speech-dispatcher-modules" / "sd_rubato").is_file():
        command = [str(python), "-P", "-B", "-m", "app", "speech-dispatcher", "remove"]
        subprocess.run(command, env=dict(env), check=False, stdout=subprocess.DEVNULL)


def _link() -> Path:
    return Path.home() / ".local" / "bin" / LAUNCHER
