"""Look for a new version, install it beside this one, go back to the one before.

Invariant: one look or installation at a time for one person; what is installed, switched and rolled
back is the bootstrapper's matter, and each of its steps may be the last.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from importlib import metadata
from pathlib import Path

import filelock
from packaging.version import InvalidVersion, Version

from engine.errors import UpdateError
from engine.updates.client import Client, Offer, explained
from engine.updates.source import Installation, Source, find_installation, find_source, system

DAYS_BETWEEN_LOOKS = 7
_DAY_S = 86_400
_FETCHED_SHARE = 0.5  # of the way: the rest is making the environment and trying it

Show = Callable[[float], None]
Run = Callable[
    [Sequence[str], Mapping[str, str], Callable[[str], None]], "subprocess.CompletedProcess[str]"
]


class State(StrEnum):
    """What a look found."""

    OFF = "off"  # no trusted root is configured
    CURRENT = "current"
    OFFERED = "offered"


@dataclass(frozen=True)
class Look:
    """`offer` is there when the state is OFFERED; `can_install`: this copy can take it itself."""

    state: State
    installed: str
    offer: Offer | None = None
    can_install: bool = False


class Updates:
    """Updates of this copy. `folder` keeps metadata and what is being fetched. `source` None: off;
    `installation` None: this copy was not made by the bootstrapper, so it is not changed.
    """

    def __init__(
        self, folder: Path, source: Source | None, installation: Installation | None, installed: str
    ) -> None:
        self._folder = folder
        self._source = source
        self._installation = installation
        self._installed = installed
        self.run: Run = _run

    @classmethod
    def of_this_copy(cls, folder: Path) -> "Updates":
        """UpdateError where what is configured cannot be used."""
        return cls(folder, find_source(), find_installation(), metadata.version("rubato"))

    @property
    def is_on(self) -> bool:
        return self._source is not None

    def is_due(self, now: float | None = None) -> bool:
        """Whether a week has passed since anybody looked. `now` in seconds of the epoch."""
        now = time.time() if now is None else now
        try:
            looked = (self._folder / "looked").stat().st_mtime
        except OSError:
            return True
        return not 0 <= now - looked < DAYS_BETWEEN_LOOKS * _DAY_S  # a clock set back is no reason

    def look(self) -> Look:
        """Ask the source. UpdateError, and nothing changed, where the answer cannot be trusted."""
        if self._source is None:
            return Look(State.OFF, self._installed)
        with self._alone(), Client(self._source, self._folder) as client:
            return self._look(client)

    def install(
        self, show: Show = lambda share: None, await_quiet: Callable[[], None] = lambda: None
    ) -> Look:
        """Take what is offered: fetched, verified, made beside this version, tried, and in force
        from the next start. UpdateError otherwise; this version then stays in force.

        `await_quiet` is called before it is made and before it is put in force, and returns when
        no reply is being spoken.
        """
        if self._source is None:
            return Look(State.OFF, self._installed)
        if self._installation is None:
            raise UpdateError(
                "This copy cannot update itself.",
                hint="Update it the way it came: with git, or with your system's packages.",
            )
        with self._alone(), Client(self._source, self._folder) as client:
            found = self._look(client)
            if found.offer is not None:
                staged = self._fetched(client, found.offer, self._installation, show)
                self._take(staged, self._installation, show, await_quiet)
            return found

    def roll_back(self) -> None:
        """Put the version before this one in force, from the next start on. UpdateError when there
        is none.
        """
        if self._installation is None:
            raise UpdateError("This copy was not installed beside an earlier one.")
        with self._alone():
            self._boot(self._installation, self._installation.bootstrapper, "roll-back")

    def _look(self, client: Client) -> Look:
        with explained():
            (self._folder / "looked").touch()
        offer = client.offer(system())
        if offer is None or not _is_newer(offer.version, self._installed):
            return Look(State.CURRENT, self._installed)
        return Look(State.OFFERED, self._installed, offer, self._installation is not None)

    def _fetched(
        self, client: Client, offer: Offer, installation: Installation, show: Show
    ) -> Path:
        """The folder with the verified files of an offer."""
        staged = self._staged(offer)
        kept = installation.payload(self._installed)
        client.fetch(offer, staged, kept, lambda share: show(share * _FETCHED_SHARE))
        return staged

    def _take(
        self, staged: Path, installation: Installation, show: Show, await_quiet: Callable[[], None]
    ) -> None:
        """Install it by the new version's own bootstrapper, which knows best how and is signed like
        the rest.
        """
        words = ("install", "--json", "--payload", str(staged))
        making_share = 1 - _FETCHED_SHARE

        def on_line(line: str) -> None:
            show(_FETCHED_SHARE + making_share * _part(line))

        await_quiet()
        self._boot(installation, staged / "bootstrapper", *words, "--prepare", on_line=on_line)
        await_quiet()
        self._boot(installation, staged / "bootstrapper", *words)
        show(1.0)
        shutil.rmtree(staged, ignore_errors=True)  # the bootstrapper keeps one

    def _staged(self, offer: Offer) -> Path:
        """Where the files of an offer are collected; those of any other are removed."""
        folder = self._folder / "fetched"
        for other in folder.iterdir() if folder.is_dir() else ():
            if other.name != offer.version:
                shutil.rmtree(other, ignore_errors=True)
        return folder / offer.version

    def _boot(
        self,
        installation: Installation,
        bootstrapper: Path,
        *words: str,
        on_line: Callable[[str], None] = lambda line: None,
    ) -> None:
        """Run a bootstrapper for the home that this copy is in."""
        done = self.run(
            [sys.executable, str(bootstrapper), *words],
            {**os.environ, "RUBATO_PROGRAM": str(installation.home)},
            on_line,
        )
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line.strip()]
            said = lines[-1].removeprefix("rubato: ") if lines else "The reason was not told."
            raise UpdateError(f"Nothing was changed. {said}")

    @contextmanager
    def _alone(self) -> Iterator[None]:
        lock = filelock.FileLock(self._folder / "lock", timeout=0)
        with explained():
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            try:
                lock.acquire()
            except filelock.Timeout as error:
                raise UpdateError(
                    "Another look for updates is under way.", hint="Wait for it to end."
                ) from error
        try:
            yield
        finally:
            lock.release()


def _is_newer(offered: str, installed: str) -> bool:
    try:
        return Version(offered) > Version(installed)
    except InvalidVersion as error:
        raise UpdateError("The update server offers what is no version.") from error


def _part(line: str) -> float:
    """How far a bootstrapper is by a line of its progress, 0 to 1."""
    try:
        return min(1.0, max(0.0, float(json.loads(line)["part"])))
    except (ValueError, KeyError, TypeError):
        return 0.0


def _run(
    command: Sequence[str], env: Mapping[str, str], on_line: Callable[[str], None]
) -> "subprocess.CompletedProcess[str]":
    """The program ends with us, however we end: by the end of its standard input."""
    pipe = subprocess.PIPE
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as told,
        subprocess.Popen(
            command,
            env=env,
            stdin=pipe,
            stdout=pipe,
            stderr=told,
            text=True,
            encoding="utf-8",
            errors="replace",
        ) as process,
    ):
        assert process.stdout is not None  # we asked for a pipe
        for line in process.stdout:
            on_line(line)
        status = process.wait()
        told.seek(0)
        return subprocess.CompletedProcess(command, status, "", told.read())
