"""`rubato serve`: the voice, the ears and the language model for other programs; and
`rubato speech-dispatcher`: the voice for Orca and other clients of speech-dispatcher.

Invariant: without --network only this machine can reach the server. With --json, which the window
asks for, lines of JSON on standard error report events, one document on standard output reports a
failure, and if standard input is a pipe, the server ends with the program at the other end of it.
"""

import argparse
import json
import os
import select
import stat
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from app.command.terminal import answer, own_settings, tell, with_failure, write
from engine import api

EVERYWHERE = "0.0.0.0"
HOME_ASSISTANT = 10_700  # the port that its satellites use, too


def add_command(commands: Any) -> None:  # Any: argparse names this type only privately
    """Add `serve` and `speech-dispatcher` to the command line."""
    serve = commands.add_parser("serve", help="speak for other programs")
    serve.add_argument("--host", metavar="HOST", help="listen on this address only")
    serve.add_argument("--port", type=int, help="instead of that of the settings")
    serve.add_argument(
        "--places",
        metavar="COUNT",
        type=int,
        choices=range(9),
        help="speak for so many at once, not as the settings say; 0: by what bench measured",
    )
    serve.add_argument(
        "--names", metavar="HOSTS", help="let clients without a token call this machine so, too"
    )
    serve.add_argument("--network", action="store_true", help="let other machines in, by a token")
    serve.add_argument(
        "--wyoming",
        metavar="PORT",
        nargs="?",
        type=int,
        const=HOME_ASSISTANT,
        help=f"be there for Home Assistant too, which knows no token; default: {HOME_ASSISTANT}",
    )
    serve.add_argument(
        "--replicas", metavar="COUNT", type=int, help="speak from so many engines (Ray Serve)"
    )
    serve.add_argument("--token", action="store_true", help="print the token, and serve nothing")
    output = serve.add_mutually_exclusive_group()  # an agent's standard output is its own
    output.add_argument("--mcp", action="store_true", help="be an agent's tool on standard streams")
    output.add_argument("--json", action="store_true", help="tell as JSON what happens")
    serve.set_defaults(command=with_failure(_serve))
    daemon = commands.add_parser(
        "speech-dispatcher", help="speak for Orca and other programs of speech-dispatcher"
    )
    does = "add the voice, remove it; module: what the daemon itself starts"
    daemon.add_argument("action", choices=("install", "remove", "module"), help=does)
    daemon.add_argument("ignored", nargs="*", help=argparse.SUPPRESS)  # of the daemon
    daemon.set_defaults(command=_speak_for_screen_readers)


def _serve(options: argparse.Namespace) -> int:
    if options.token:
        write(api.own_token())
        return 0
    settings = own_settings()
    given = {key: getattr(options, key) for key in ("places", "names")}
    given = {key: value for key, value in given.items() if value is not None}
    settings = replace(settings, serve=replace(settings.serve, **given))
    if options.mcp:
        api.serve_agent(settings)
        return 0
    host = options.host or (EVERYWHERE if options.network else api.Address.host)
    port = settings.serve.port if options.port is None else options.port
    address = api.Address(host, port, options.wyoming)
    if not (address.is_here or options.network):
        raise api.errors.InvalidInput(
            "{host} can be reached from other machines.",
            hint="Say --network if that is meant.",
            host=host,
        )
    agents = "" if options.replicas else ", and agents at /mcp,"
    started = api.Watcher(lambda base, token: _started(base, agents))
    watcher = _for_window() if options.json else started
    try:
        if options.replicas:
            api.serve_cluster(settings, address, options.replicas, watcher)
        else:
            # Beside the window, which has a recogniser of its own, this one waits for a client.
            api.serve(settings, address, watcher, ahead=not options.json)
    except KeyboardInterrupt:
        tell("")
    return 0


def _started(base: str, agents: str) -> None:
    tell(f"Serving on {base}/v1")
    tell(f"Other machines{agents} give the token that `rubato serve --token` prints.")


def _for_window() -> "api.Watcher":
    def started(base: str, token: str) -> None:
        tell(json.dumps({"address": base, "token": token}))

    def clients(inside: Mapping[str, int]) -> None:
        tell(json.dumps({"clients": inside}))

    return api.Watcher(started, clients, is_caller_there)


def is_caller_there() -> bool:
    """Return False once the other end of standard input is closed, because the program there has
    ended. The parent process cannot be used for that: on Windows it is the launcher, which waits
    for this process.
    """
    descriptor = sys.__stdin__.fileno() if sys.__stdin__ is not None else -1
    if descriptor < 0 or not stat.S_ISFIFO(os.fstat(descriptor).st_mode):
        return True
    if sys.platform == "win32":
        import _winapi
        import msvcrt

        try:
            _winapi.PeekNamedPipe(msvcrt.get_osfhandle(descriptor), 0)
        except OSError:
            return False
        return True
    readable, _, _ = select.select([descriptor], [], [], 0)
    return not readable or os.read(descriptor, 4096) != b""


_DEFAULT = (
    "speech-dispatcher finds it at its next start, at the latest at the next login.",
    "In Orca: Preferences, Voice, Speech synthesizer: rubato.",
    "For all programs: the line `DefaultModule rubato` in {path}.",
)


def _speak_for_screen_readers(options: argparse.Namespace) -> int:
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
