"""A repository of updates on loopback, with keys of its own, and a copy that was installed.

All of it is real but the making of an environment: that takes a folder with an empty interpreter
instead of a gigabyte of packages.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from securesystemslib.signer import CryptoSigner

from engine.updates import Updates
from engine.updates.source import Installation, Source, system
from installer import bundle
from installer.bootstrap import pointer, starting
from installer.bootstrap.payload import write_list
from installer.bootstrap.places import Home
from installer.signing.repository import Repository, add_signature

SOON, LONG_AGO = datetime(2900, 1, 1, tzinfo=UTC), datetime(2001, 1, 1, tzinfo=UTC)
OLD = "env-0.1.0-cpu"

# The bootstrapper of the tests: environments are made of nothing, and $BREAK fills the disk.
MAIN = (
    bundle.ROOM
    + """
from installer.bootstrap import desktop, making, uv
from installer.bootstrap.__main__ import main
from installer.bootstrap.variant import Variant

def make(maker, *, window):
    if os.environ.get("BREAK"):
        raise OSError(28, "No space left on device")
    env = maker.home.env(maker.name)
    maker.python.parent.mkdir(parents=True)
    maker.python.touch()
    shutil.copytree(maker.payload.folder / "bootstrapper", env / "bootstrapper")
    if os.environ.get("STALL"):
        open(os.environ["STALL"], "w").close()
        uv.follow(["sleep", "600"], os.environ, maker.progress.detail, maker.progress.watch)
        maker.progress.check()
    maker.home.mark_whole(maker.name)

making._make = make
making.check_room = lambda home, needed_gb: None
making.fitting = lambda: Variant.CPU
desktop.put = lambda home, name: None
sys.exit(main())
"""
)


class Keys:
    """Three root keys, one for targets and one online."""

    def __init__(self) -> None:
        self.root = [CryptoSigner.generate_ed25519() for _ in range(3)]
        self.targets = CryptoSigner.generate_ed25519()
        self.online = CryptoSigner.generate_ed25519()


def payload(folder: Path, version: str) -> Path:
    """A release as installer.bundle makes it, but for the size of what is in it."""
    (folder / "pins").mkdir(parents=True)
    (folder / f"rubato-{version}-py3-none-any.whl").write_text(f"wheel of {version}" * 100)
    (folder / "pins" / "run.txt").write_text("numpy==2.0\n")
    (folder / "uv").write_text("the same in every version")
    (folder / "uv").chmod(0o755)
    bundle.put_bootstrapper(folder / "bootstrapper")
    (folder / "bootstrapper" / "__main__.py").write_text(MAIN)
    write_list(folder, version)
    return folder


def new_root(repository: Repository, keys: Keys, signers: list[CryptoSigner]) -> bytes:
    public = [each.public_key for each in keys.root]
    path = repository.new_root(public, keys.targets.public_key, keys.online.public_key)
    for signer in signers:
        add_signature(path, signer)
    return path.read_bytes()


def repository(folder: Path, keys: Keys) -> Repository:
    """One with a root that two keys signed."""
    made = Repository(folder, SOON)
    new_root(made, keys, keys.root[:2])
    return made


def publish(into: Repository, keys: Keys, version: str) -> None:
    made = payload(into.folder.with_name(f"{into.folder.name}-{version}"), version)
    into.publish({system(): made}, f"- {version} is better.", keys.targets, keys.online)


@dataclass
class Server:
    """Serves a folder. `instead` of a file whose path ends so, a function answers."""

    folder: Path
    instead: dict[str, Callable[[Any], None]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    address: str = ""

    def __enter__(self) -> "Server":
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.path)
                answer = next(
                    (f for end, f in outer.instead.items() if self.path.endswith(end)), None
                )
                path = outer.folder / self.path.lstrip("/")
                if answer is not None:
                    answer(self)
                elif path.is_file():
                    send(self, path.read_bytes())
                else:
                    self.send_error(404)

            def log_message(self, *_: object) -> None:
                """Quiet."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


def send(handler: Any, content: bytes, claimed: int | None = None) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(content) if claimed is None else claimed))
    handler.end_headers()
    handler.wfile.write(content)


def endless(handler: Any) -> None:
    """Data that does not stop, until the other side hangs up."""
    handler.send_response(200)
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(b" " * 65536)
    except OSError:
        return


@dataclass
class Copy:
    """An installed Rubato 0.1.0 and its updates."""

    home: Home
    folder: Path
    source: Source

    @property
    def updates(self) -> Updates:
        return Updates(self.folder, self.source, Installation(self.home.folder, OLD), "0.1.0")

    @property
    def starts_with(self) -> str:
        """The environment of the next start."""
        return starting.environment_to_start(self.home)[0]


def installed(folder: Path, source: Source) -> Copy:
    home = Home(folder / "program")
    payload(home.payloads / "0.1.0", "0.1.0")
    home.python(OLD).parent.mkdir(parents=True)
    home.python(OLD).touch()
    bundle.put_bootstrapper(home.env(OLD) / "bootstrapper")
    (home.env(OLD) / "bootstrapper" / "__main__.py").write_text(MAIN)
    home.mark_whole(OLD)
    pointer.switch(home, OLD)
    return Copy(home, folder / "updates", source)
