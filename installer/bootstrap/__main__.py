"""The bootstrapper's command line: start (after installing, if necessary), install, roll-back,
status, uninstall. Exit status 0, 1 with a sentence on standard error, 130 when interrupted.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from installer.bootstrap import desktop, installation, payload, removing, windows
from installer.bootstrap.paths import Home, default_folder
from installer.bootstrap.payload import Variant
from installer.commands import SetupError, say

HERE = Path(__file__).resolve().parents[3]  # the payload, or the environment it was copied into
COMMANDS = ("start", "install", "roll-back", "status", "uninstall")
INSTALLING = "Rubato is being installed. It opens when it is ready, after some minutes."


def main(arguments: Sequence[str] | None = None) -> int:
    windowless = windows.open_streams()
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words[0] not in (*COMMANDS, "-h", "--help"):
        words = ["start", *words]
    home = Home(default_folder())
    try:
        if words[0] == "start":
            return start(home, words[1:])
        return run_command(home, words)
    except SetupError as error:
        print(f"rubato: {error}", file=sys.stderr, flush=True)
        if windowless:
            windows.show(str(error))
        return 1
    except KeyboardInterrupt:
        print("Stopped; the same command continues from here.", file=sys.stderr, flush=True)
        return 130


def start(home: Home, words: Sequence[str]) -> int:
    """Start the program with its own arguments; install it first if the current version is missing
    or damaged.
    """
    name, _ = home.versions()
    if not home.is_complete(name):
        if words and not words[0].startswith("-"):  # a command must not wait for an installation
            raise SetupError("Rubato is not installed completely. Start it once without a command.")
        if not sys.stderr.isatty():
            windows.notify(INSTALLING)
        name = install(home)
    python = windows.like_us(home.python(name))
    return _become([str(python), "-P", "-m", "app", *words])


def _become(command: list[str]) -> int:
    """Replace this process by the command, or run it to its end on systems without exec."""
    sys.stdout.flush()
    if os.name == "nt":  # there execv returns to the shell while the program still runs
        return subprocess.call(command)
    return os.execv(command[0], command)


def install(home: Home, variant: Variant | None = None, wheels: Path | None = None) -> str:
    """Install this release and add it to the menu; return the environment's name."""
    name = installation.install(home, payload.read(source(home)), variant, wheels)
    try:
        desktop.put(home, name)
    except OSError as error:
        print(f"Rubato could not be added to the menu ({error}).", file=sys.stderr, flush=True)
    return name


def source(home: Home) -> Path:
    """Return the payload that this runs from, or the saved payload of the current version."""
    if (HERE / payload.LIST).is_file():
        return HERE
    return home.payloads / installation.version_of(home.versions()[0])


def run_command(home: Home, words: Sequence[str]) -> int:
    options = _parser().parse_args(list(words))
    if options.command == "install":
        variant = Variant(options.variant) if options.variant else None
        wheels = options.wheels.absolute() if options.wheels else None
        say(f"100%  {install(home, variant, wheels)} is now used")
    elif options.command == "roll-back":
        print(f"{home.roll_back()} is now used.")
    elif options.command == "status":
        print(json.dumps(status(home), indent=1))
    else:
        return uninstall(home, options.own_files)
    return 0


def status(home: Home) -> dict[str, object]:
    current, previous = home.versions()
    about = {"home": str(home.folder), "current": current, "previous": previous}
    return {**about, "whole": home.is_complete(current)}


def uninstall(home: Home, own_files: str | None) -> int:
    if own_files is None:
        folders = ", ".join(str(each) for each in removing.own_folders(os.environ))
        print(f"Your voices, conversations, models and settings are in {folders}.")
        answer = input("Remove them as well? Type yes to remove, anything else keeps them: ")
        own_files = "remove" if answer.strip().lower() == "yes" else "keep"
    left = removing.uninstall(home, own_files=own_files == "remove", env=os.environ)
    for path in left:
        print(f"could not be removed: {path}", file=sys.stderr)
    print("Rubato was removed." if not left else "Rubato was removed, except these files.")
    return 1 if left else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="rubato-setup", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    new = commands.add_parser("install", help="install this release")
    new.add_argument("--wheels", type=Path, help="a folder with all packages; no network is used")
    new.add_argument("--variant", choices=[each.value for each in Variant], help="else by driver")
    commands.add_parser("roll-back", help="return to the previous version")
    commands.add_parser("status", help="the current and the previous version, as JSON")
    gone = commands.add_parser("uninstall", help="remove the program")
    files = gone.add_mutually_exclusive_group()
    files.add_argument("--keep-own-files", dest="own_files", action="store_const", const="keep")
    files.add_argument("--remove-own-files", dest="own_files", action="store_const", const="remove")
    commands.add_parser("start", help="start Rubato with the arguments that follow")
    return parser


if __name__ == "__main__":
    sys.exit(main())
