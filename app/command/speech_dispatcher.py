"""`rubato speech-dispatcher`: the voice for Orca and other clients of speech-dispatcher."""

import argparse
from typing import Any

from app.command.terminal import answer, tell
from engine import api

_DEFAULT = (
    "speech-dispatcher finds it at its next start, at the latest at the next login.",
    "In Orca: Preferences, Voice, Speech synthesizer: rubato.",
    "For all programs: the line `DefaultModule rubato` in {path}.",
)


def add_command(commands: Any) -> None:  # Any: argparse names this type only privately
    """Add `speech-dispatcher` to the command line."""
    parser = commands.add_parser(
        "speech-dispatcher", help="speak for Orca and other programs of speech-dispatcher"
    )
    parser.add_argument("action", choices=("install", "remove", "module"), help=_HELP)
    parser.add_argument("ignored", nargs="*", help=argparse.SUPPRESS)  # of the daemon
    parser.set_defaults(command=_run)


_HELP = "add the voice, remove it; module: what the daemon itself starts"


def _run(options: argparse.Namespace) -> int:
    if options.action == "module":
        api.serve_daemon()
        return 0
    installation = api.SpeechDispatcherInstallation()
    if options.action == "remove":
        was_there = installation.remove()
        return answer(options, {}, "It was removed." if was_there else "It was not installed.")
    from app.background_job import own_command  # here: it imports Qt

    installation.install([*own_command(), *api.MODULE_COMMAND])
    for line in _DEFAULT:
        tell(line.format(path=installation.config))
    return answer(options, {}, f"The voice is installed: {installation.module}")
