"""A server of this process: its start, the token of clients on other machines, and its end.

Invariant: listens on this machine's own addresses unless another one is named, and then every
client needs the token. No request is logged.
"""

import asyncio
import secrets
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Final

from engine.atomic_write import replace_file
from engine.errors import InvalidInput, ModelError, SettingsError
from engine.runtime.factories import standard_factories
from engine.serve.address import Address, listen
from engine.serve.limits import Limits
from engine.serve.service import Service
from engine.settings import Settings
from engine.settings_file import data_folder
from engine.tts import pick
from engine.typed_values import read_text

TOKEN_FILE: Final = "serve-token"
_LARGEST_TOKEN: Final = 1_000  # bytes of the file
_WATCH_INTERVAL_S: Final = 1.0
_NEEDED: Final = ("starlette", "uvicorn", "websockets", "python_multipart", "mcp", "wyoming")


def check_installed(more: tuple[str, ...] = (), extra: str = "serve") -> None:
    """ModelError if packages of an extra are missing: those for every server, and `more`."""
    if missing := [name for name in (*_NEEDED, *more) if find_spec(name) is None]:
        raise ModelError(
            "To serve, Rubato needs packages that are not installed: {names}.",
            hint="Install them with: {command}",
            names=", ".join(missing),
            command=f"pip install 'rubato[{extra}]'",
        )


def own_limits(settings: Settings) -> Limits:
    """Return the limits, with the user's number of slots, or this machine's."""
    engine = pick.resolve(settings.speech).engine
    return Limits(slots=settings.serve.places or pick.places(engine, data_folder()))


def own_token() -> str:
    """Return the secret of clients on other machines; created at first, and only the user can read
    its file. SettingsError if it cannot be saved.
    """
    path = data_folder() / TOKEN_FILE
    try:
        if path.exists():
            path.chmod(0o600)
            if kept := read_text(path, _LARGEST_TOKEN).strip():
                return kept
        made = secrets.token_urlsafe(32)
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, made + "\n")
    except (OSError, ValueError) as error:
        raise SettingsError(
            "The server's token cannot be saved in {path}: {error}.",
            hint="Check that there is room, and that you may write there.",
            path=path,
            error=error,
        ) from error
    return made


@dataclass(frozen=True)
class Watcher:
    """Callbacks of a server. `started` gets the base address and the token, `clients` the connected
    addresses at each change, each with its number of requests. `wanted` is polled; the server ends
    when it returns False.
    """

    started: Callable[[str, str], None]
    clients: Callable[[Mapping[str, int]], None] = lambda inside: None
    wanted: Callable[[], bool] = lambda: True


def serve(settings: Settings, address: Address, watcher: Watcher, *, ahead: bool = True) -> None:
    """Serve until the process has to end. `ahead`: load the recogniser at once, beside the
    requests, and not for the first one that needs it. InvalidInput for an unusable address,
    ModelError if the synthesiser cannot be loaded.
    """
    check_installed()
    from engine.serve.application import AGENTS, Access, application, http_server
    from engine.serve.doors.agents import agents_server
    from engine.serve.doors.wyoming import wyoming_server

    async def run() -> None:
        secret = own_token()
        async with AsyncExitStack() as stack:
            listener = stack.enter_context(listen(address.host, address.port))
            service = Service(settings, standard_factories(), own_limits(settings))
            stack.callback(service.stop)
            await service.start()
            # Other accounts on this machine must not use its loudspeaker and microphone.
            locked = (AGENTS,) if address.is_here else ("/",)
            access = Access(address.names(settings), secret, locked, watcher.clients)
            app = application(service, access, agents_server(service))
            if address.wyoming is not None:
                home = stack.enter_context(listen(address.host, address.wyoming))
                await stack.enter_async_context(wyoming_server(service, home))
            base = address.base(listener.getsockname()[1])
            if ahead:
                stack.callback(asyncio.create_task(service.ears.load_ahead()).cancel)
            # Soon: after signals end the server in order. Earlier connections wait.
            asyncio.get_running_loop().call_soon(watcher.started, base, secret)
            await http_server(app, service.limits, watcher.wanted).serve(sockets=[listener])

    asyncio.run(run())


def serve_cluster(settings: Settings, address: Address, replicas: int, watcher: Watcher) -> None:
    """Serve from `replicas` engines at once, each a replica of Ray Serve, on this machine or on the
    cluster of RAY_ADDRESS. Unlike serve(), without tools for agents, whose loudspeaker could be
    that of any machine. InvalidInput for an address with a port for Home Assistant, whose
    connections stay with one engine.
    """
    check_installed(("ray",), "cluster")
    if address.wyoming is not None:
        raise InvalidInput(
            "Several engines cannot serve Home Assistant.",
            hint="Leave out --wyoming or --replicas.",
        )
    from engine.serve.application import Access
    from engine.serve.deployment import Plan, start, stop
    from engine.serve.voices import copies

    access = Access(address.names(settings), own_token(), () if address.is_here else ("/",))
    gpus = float(settings.speech.device == "cuda")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl+C
    try:
        with suppress(KeyboardInterrupt, SystemExit):  # Ray's own handler exits
            start(Plan(settings, access, own_limits(settings), gpus), address, copies(), replicas)
            watcher.started(address.base(address.port), access.token)
            while watcher.wanted():
                time.sleep(_WATCH_INTERVAL_S)
    finally:
        stop()


def serve_agent(settings: Settings) -> None:
    """Offer the tools for agents over the standard streams, until they are closed. ModelError."""
    check_installed()
    from engine.serve.doors.agents import agents_server  # here: the extra may be missing

    async def run() -> None:
        service = Service(settings, standard_factories(), own_limits(settings))
        try:
            await service.start()
            await agents_server(service).run_stdio_async()
        finally:
            service.stop()

    asyncio.run(run())
