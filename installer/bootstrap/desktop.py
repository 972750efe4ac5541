"""Launchers on Linux: a script, a link in the search path, an entry in the menu.

Invariant: only the user's own files are written, and each is either complete or unchanged. Windows
and macOS have their own wrappers.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from installer.bootstrap.paths import Home, write_atomically

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


def remove_launcher(home: Home) -> None:
    """Remove the launcher, unless the file of that name belongs to another program."""
    path = launcher(home)
    try:
        own = path.read_text(encoding="utf-8").startswith(_TITLE)
    except (OSError, ValueError):
        return
    if own:
        path.unlink()


def leave_speech_dispatcher(python: Path, env: Mapping[str, str]) -> None:
    """Let the program remove its module of speech-dispatcher and its line there, if there are
    any.
    """
    modules = _folder(env, "XDG_DATA_HOME", ".local/share").resolve().parent / "libexec"
    if (modules / "speech-dispatcher-modules" / "sd_rubato").is_file():
        command = [str(python), "-P", "-B", "-m", "app", "speech-dispatcher", "remove"]
        subprocess.run(command, env=dict(env), check=False, stdout=subprocess.DEVNULL)


def files(env: Mapping[str, str]) -> list[Path]:
    """Return the files to remove with the program: menu entry, icon, start at login, our link."""
    if not sys.platform.startswith("linux"):
        return []
    data = _folder(env, "XDG_DATA_HOME", ".local/share")
    found = [
        data / "applications" / f"{APP_ID}.desktop",
        data / "icons" / "hicolor" / "scalable" / "apps" / f"{APP_ID}.svg",
        _folder(env, "XDG_CONFIG_HOME", ".config") / "autostart" / f"{APP_ID}.desktop",
    ]
    link = _link()
    ours = link.is_symlink() and link.readlink().name == LAUNCHER
    return [*found, link] if ours and not link.exists() else found


def _link() -> Path:
    return Path.home() / ".local" / "bin" / LAUNCHER


def _folder(env: Mapping[str, str], name: str, usual: str) -> Path:
    chosen = env.get(name, "")
    return Path(chosen) if Path(chosen).is_absolute() else Path.home() / usual
