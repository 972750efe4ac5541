"""An update from release to release as a person has it, on this machine: `python -m
installer.release.try_update FOLDER`. Minutes, and as much disk as two installations.

Two releases are made of this checkout, the second under the next version. The first is installed
for a person of its own; a repository with a root that two of three keys signed serves the second on
loopback. The installed program then updates itself: cancelled in the middle, taken, kept beside the
old version until it has started twice, rolled back and taken again.

Invariant: everything is what a release has: real packages, real keys, the program's own commands.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from installer import signing
from installer.commands import SetupError, say
from installer.plan import ROOT
from installer.release.changes import version
from installer.signing import keys

OURS = ("app", "engine", "installer", "resources")
FILES = ("pyproject.toml", "LICENSE", "README.md", "CHANGELOG.md")
PATIENCE_S = 300.0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="a new one, for all of it")
    parser.add_argument("--model", metavar="NAME", help="a model to fetch by the installed program")
    options = parser.parse_args(arguments)
    folder: Path = options.folder.absolute()
    try:
        folder.mkdir(parents=True)
        trial(Copy(folder), options.model)
    except SetupError as error:
        print(f"FAILED: {error}", file=sys.stderr)
        return 1
    say("All of it works.")
    return 0


class Copy:
    """An installation of its own: no file of the person who tries it is touched."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "Jürgen" / "program"
        self.home.parent.mkdir()
        self.env = {name: value for name, value in os.environ.items() if "VIRTUAL_ENV" not in name}
        own = {"HOME": self.home.parent, "RUBATO_PROGRAM": self.home, "RUBATO_UPDATES": folder}
        own |= {"RUBATO_DATA": folder / "data", "RUBATO_CONFIG": folder / "data"}
        self.env |= {name: str(path) for name, path in own.items()} | {
            "QT_QPA_PLATFORM": "offscreen"
        }

    def run(self, *words: str | Path) -> str:
        """A command of the installed program; what it printed."""
        return self.do(self.home / "rubato", *words)

    def do(self, *command: str | Path) -> str:
        done = subprocess.run(
            [str(word) for word in command],
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SetupError(
                f"{command[0]} {command[1]}: {done.stdout[-500:]}{done.stderr[-1500:]}"
            )
        return done.stdout


def trial(copy: Copy, model: str | None) -> None:
    old, new = version(), _next(version())
    first, second = copy.folder / f"rubato-{old}", copy.folder / f"rubato-{new}"
    step("Two releases", lambda: _bundle(ROOT, first), lambda: _bundle(_as(new, copy), second))
    step("A repository", lambda: _publish(copy.folder, second))
    step("Install", lambda: copy.do(first / "rubato-setup", "install"))
    status = partial(_status, copy, first)
    speaks(copy, "the first release")
    if model:
        step(f"Fetch {model}", lambda: copy.run("models", "get", model))
    with serving(copy.folder / "repository", copy.folder / "address.txt"):
        said = json.loads(copy.run("update", "--check", "--json"))
        check((said["state"], said["version"]) == ("offered", new), f"offered: {said}")
        step("Cancelled in the middle", lambda: _cancelled(copy))
        check(status()["current"] == f"env-{old}-cpu", "cancelled, and yet in force")
        speaks(copy, "after a cancelled update")
        step("Update", lambda: copy.run("update", "--json"))
    check(status()["current"] == f"env-{new}-cpu", "the update is not in force")
    step("The first start", lambda: starts(copy))
    check(status()["previous"] == f"env-{old}-cpu", "the old version went too early")
    step("Roll back", lambda: copy.run("update", "--back"))
    check(status()["current"] == f"env-{old}-cpu", "not rolled back")
    speaks(copy, "after rolling back")
    with serving(copy.folder / "repository", copy.folder / "address.txt"):
        step("Update again", lambda: copy.run("update", "--json"))
    step("Two starts more", lambda: starts(copy), lambda: starts(copy))
    check(status()["previous"] == "", "the old version was left")
    speaks(copy, "the new version alone")


def step(name: str, *actions: Callable[[], object]) -> None:
    began = time.monotonic()
    for action in actions:
        action()
    say(f"  {name}: {time.monotonic() - began:.0f} s")


def check(condition: bool, reason: str) -> None:
    if not condition:
        raise SetupError(reason)


def speaks(copy: Copy, when: str) -> None:
    wav = copy.folder / "said.wav"
    copy.run("say", "It works.", "--out", wav)
    check(wav.stat().st_size > 10_000, f"{when}: nothing was said")
    wav.unlink()


def starts(copy: Copy) -> None:
    """The program comes up, and ends when it is asked to."""
    words = [str(copy.home / "rubato"), "--start-hidden", "--no-tray"]
    with subprocess.Popen(words, env=copy.env, stderr=subprocess.DEVNULL) as program:
        asked = [words[0], "status"]
        end = time.monotonic() + PATIENCE_S
        while subprocess.run(asked, env=copy.env, capture_output=True, check=False).returncode:
            check(time.monotonic() < end and program.poll() is None, "the program does not start")
            time.sleep(0.5)
        program.send_signal(signal.SIGINT)
        check(program.wait() == 0, f"it ended with {program.returncode}")


def _cancelled(copy: Copy) -> None:
    """Killed while packages are put in; the bootstrapper ends with it and leaves nothing."""
    words = [str(copy.home / "rubato"), "update", "--json"]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, env=copy.env, stdout=pipe, stderr=pipe, text=True) as update:
        assert update.stderr is not None  # we asked for a pipe
        for line in update.stderr:
            if line.startswith("{") and json.loads(line)["part"] > 0.6:
                break
        check(update.poll() is None, "the update was over too soon")
        update.kill()
    made = sorted(path.name for path in copy.home.glob("env-*"))
    end = time.monotonic() + PATIENCE_S
    while len(made) > 1 and time.monotonic() < end:
        time.sleep(0.5)
        made = sorted(path.name for path in copy.home.glob("env-*"))
    check(len(made) == 1, f"left: {made}")


def _status(copy: Copy, release: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(copy.do(release / "rubato-setup", "status"))
    return told


def _next(number: str) -> str:
    major, minor, _ = number.split(".")
    return f"{major}.{int(minor) + 1}.0"


def _as(number: str, copy: Copy) -> Path:
    """This checkout under another version."""
    tree = copy.folder / "checkout"
    tree.mkdir()
    for name in OURS:
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copyfile(ROOT / name, tree / name)
    project = tree / "pyproject.toml"
    text = project.read_text(encoding="utf-8")
    fresh = re.sub(r'^version = ".*"$', f'version = "{number}"', text, count=1, flags=re.MULTILINE)
    project.write_text(fresh, encoding="utf-8")
    return tree


def _bundle(tree: Path, folder: Path) -> None:
    command = [sys.executable, "-m", "installer.bundle", str(folder)]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    check(done.returncode == 0, f"{done.stdout}{done.stderr}")


def _publish(folder: Path, release: Path) -> None:
    """By the ceremony's commands: three root keys, two signatures."""
    place = folder / "keys"
    place.mkdir()
    roots = [place / f"root-{number}" for number in (1, 2, 3)]
    targets, online, repository = place / "targets", place / "online", folder / "repository"
    for key in (*roots, targets, online):
        _sign("key", key)
    public = [key.with_name(key.name + ".pub") for key in (*roots, targets, online)]
    _sign("root", repository, "--root", *public[:3], "--targets", public[3], "--online", public[4])
    root = repository / "metadata" / "1.root.json"
    for key in roots[:2]:
        _sign("sign", root, key)
    signers = ("--targets", targets, "--online", online)
    _sign("publish", repository, *signers, "--linux", release)
    shutil.copyfile(root, folder / "root.json")


def _sign(*words: str | Path) -> None:
    command = [sys.executable, "-m", signing.__name__, *(str(word) for word in words)]
    env = {**os.environ, keys.PASSPHRASE: "only for this trial"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    check(done.returncode == 0, done.stderr)


@contextmanager
def serving(folder: Path, address: Path) -> Iterator[None]:
    """A folder on loopback; the address is written where the program looks for it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    address.write_text(f"http://127.0.0.1:{server.server_port}\n", encoding="utf-8")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing."""


if __name__ == "__main__":
    sys.exit(main())
