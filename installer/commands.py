"""Run other programs during setup and turn their failures into sentences for the user.

Invariant: a program's output is shown unchanged; a failure raises SetupError with a sentence that
names the cause, if it is known, and a remedy.
"""

import os
import re
import subprocess
from collections import deque
from collections.abc import Mapping, Sequence
from enum import Enum

# uv lists every package it touched: 100 lines that hide the one that matters
DROPPED = re.compile(r"^ [-+~] \S+==|^Using Python |^Resolved ")
# For started programs: on Windows no terminal opens for them if we have none ourselves.
NO_WINDOW = getattr(subprocess, "CREATE_NO_WINDOW", 0)
TAIL_LINES = 60  # searched for the reason of a failure; cmake prints it 30 lines before the end


class Cause(Enum):
    """Why a program failed, judged by its output: a pattern of that, and the remedy in full
    sentences. In this order: a full disk and a missing compiler are also reported as a failed build
    or download.
    """

    DISK = (
        r"no space left|not enough space on the disk|quota exceeded|os error 28\b",
        "The disk is full. Free some space (the CPU setup takes about 3 GB, the CUDA one about "
        "10 GB, with uv's cache) and run the same command again.",
    )
    HASH = (
        r"hash mismatch|hashes are required|do not match the hashes",
        "A downloaded file does not match its pinned hash, so it was not installed. Run the same "
        "command again; if that does not help, do not trust the package index.",
    )
    COMPILER = (
        r"CMAKE_C(XX)?_COMPILER|could not find any compiler|no such file.*\b(gcc|cc)\b",
        "There is no C++ compiler. Install one (Debian, Ubuntu: sudo apt-get install "
        "build-essential; Fedora: sudo dnf install gcc-c++; Arch: sudo pacman -S base-devel; "
        "macOS: xcode-select --install) and run the same command again.",
    )
    NETWORK = (
        r"error sending request|dns error|failed to lookup|name resolution|connection refused|"
        r"network is unreachable|timed out|could not connect|max retries|newconnectionerror|"
        r"failed to fetch|connection reset|certificate|403 forbidden|proxy",
        "The package index could not be reached. Check the network (behind a proxy set "
        "HTTPS_PROXY, with an index of your own UV_DEFAULT_INDEX) and run the same command again; "
        "the downloads are kept.",
    )
    PLATFORM = (
        r"no solution found|no matching distribution|no wheels with a matching",
        "Some package has no build for this machine and Python. All have one for Python 3.11 to "
        "3.13 on Linux and Windows on x86-64, and on macOS 14 or later on Apple silicon.",
    )
    UNKNOWN = ("", "The lines above say why. Correct that and run the same command again.")

    def __init__(self, signs: str, advice: str) -> None:
        self.signs, self.advice = signs, advice


def cause_of(output: str) -> Cause:
    return next(each for each in Cause if re.search(each.signs, output, re.IGNORECASE))


class SetupError(Exception):
    """Setup cannot continue; the text is for the user."""

    def __init__(self, message: str, cause: Cause = Cause.UNKNOWN) -> None:
        super().__init__(message)
        self.cause = cause


def say(text: str = "") -> None:
    print(text, flush=True)


def run(command: Sequence[str], *, env: Mapping[str, str] | None = None, doing: str) -> None:
    """Run a program. SetupError if it fails."""
    output = follow(command, {**os.environ, **(env or {})})
    if output is not None:
        cause = cause_of(output)
        raise SetupError(f"{doing} failed. {cause.advice}", cause)


def follow(command: Sequence[str], env: Mapping[str, str]) -> str | None:
    """Run a program with its output indented below the step; return None if it succeeded, otherwise
    its last lines. SetupError if it cannot be started.
    """
    tail: deque[str] = deque(maxlen=TAIL_LINES)
    try:
        process = subprocess.Popen(
            command,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            creationflags=NO_WINDOW,
        )
    except OSError as error:
        raise SetupError(f"{command[0]} cannot be started ({error.strerror}).") from error
    with process:
        assert process.stdout is not None  # stdout is a pipe
        for line in process.stdout:
            tail.append(line)
            if line.strip() and not DROPPED.match(line):
                say("    " + line.rstrip())
        status = process.wait()
    return "".join(tail) or f"It ended with {status}." if status else None


def index_settings(given: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Translate pip's settings for uv, so that users who configured pip need not do it again."""
    pairs = {"PIP_INDEX_URL": "UV_DEFAULT_INDEX", "PIP_CERT": "SSL_CERT_FILE"}
    return {
        theirs: given[ours]
        for ours, theirs in pairs.items()
        if given.get(ours) and not given.get(theirs)
    }


def local_wheels() -> list[str]:
    """Return options that make uv take packages only from the user's own folders, as it would
    prefer an index. Empty if none are set.
    """
    folders = os.environ.get("UV_FIND_LINKS") or os.environ.get("PIP_FIND_LINKS") or ""
    links = [option for item in folders.replace(",", " ").split() for option in ("-f", item)]
    return ["--no-index", *links] if links else []


def succeeds(
    command: Sequence[str], *, env: Mapping[str, str] | None = None, timeout_s: float = 30
) -> bool:
    """Return whether a short program exists and succeeds; its output is dropped."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=timeout_s,
            env={**os.environ, **(env or {})},
            creationflags=NO_WINDOW,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def ends_well(command: Sequence[str]) -> bool:
    """Return whether a program with its own progress succeeds; Ctrl+C ends only that program."""
    try:
        return subprocess.call(command, stdin=subprocess.DEVNULL) == 0
    except (OSError, KeyboardInterrupt):
        return False
