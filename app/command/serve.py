"""`rubato serve`: the voice, the ears and the language model for other programs.

Invariant: without --network only this machine can reach it.
"""

import argparse
from typing import Any

from app.command.terminal import own_settings, tell, write, write_json
from engine import api

EVERYWHERE = "0.0.0.0"
HOME_ASSISTANT = 10_700  # the port that its satellites use, too


def add_command(commands: Any) -> None:  # Any: argparse names this type only privately
    """Add `serve` to the command line."""
    serve = commands.add_parser("serve", help="speak for other programs")
    serve.add_argument("--host", metavar="HOST", help="listen on this address only")
    serve.add_argument("--port", type=int, default=api.Address.port, help="default: %(default)s")
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
    serve.add_argument("--mcp", action="store_true", help="be an agent's tool on standard streams")
    serve.add_argument("--token", action="store_true", help="print the token, and serve nothing")
    serve.add_argument("--json", action="store_true", help="print address and token as JSON")
    serve.set_defaults(command=_serve)


def _serve(options: argparse.Namespace) -> int:
    if options.token:
        write(api.own_token())
        return 0
    if options.mcp:
        api.serve_agent(own_settings())
        return 0
    address = api.Address(options.host or _host(options), options.port, options.wyoming)
    if not (address.is_here or options.network):
        raise api.errors.InvalidInput(
            "{host} can be reached from other machines.",
            hint="Say --network if that is meant.",
            host=address.host,
        )

    def started(base: str, token: str) -> None:
        if options.json:
            write_json({"address": base, "token": token})
            return
        tell(f"Serving on {base}/v1")
        if address.wyoming is not None:
            tell(f"Home Assistant finds it at {address.host}, port {address.wyoming}")
        if not address.is_here:
            tell("Clients give the token that `rubato serve --token` prints.")

    try:
        if options.replicas:
            api.serve_cluster(own_settings(), address, options.replicas, started)
        else:
            api.serve(own_settings(), address, started)
    except KeyboardInterrupt:
        tell("")
    return 0


def _host(options: argparse.Namespace) -> str:
    return EVERYWHERE if options.network else api.Address.host
