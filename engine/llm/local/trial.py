"""A GGUF file nobody has tried yet is loaded and asked once in a process of its own: llama.cpp ends
its process where a file makes no sense, and that must not be this one.

Invariant: a file reaches this process only after a child with the same library survived it. What
passed is kept by content, so that neither the next start nor a copy pays again; what did not pass
is tried again when it is chosen again.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO

import engine
from engine import settings_file
from engine.assets.store import sha256_of
from engine.errors import ModelError
from engine.llm.base import Progress
from engine.settings import LanguageModelSettings

RECORD = "language-models.json"
MOST_PASSES = 100  # kept; the oldest are forgotten
POLL_S = 0.1
BASE_S = 120.0  # to start, load a small file and write a few words on a busy machine
BYTES_A_S = 50_000_000  # what slow disks read
MAX_ANSWER_BYTES = 10_000
# -P: nothing in the current folder is taken for a library. The engine is last in the search path.
CHILD = (
    "import sys; sys.path.append(sys.argv[1]); import engine.llm.local.trial_child as child; "
    "sys.exit(child.main())"
)
COMMAND = (sys.executable, "-P", "-c", CHILD, str(Path(engine.__file__).parents[1]))
FAILED = 3  # the child's exit status when the fault was an ordinary error, which it has told


@dataclass(frozen=True)
class Pass:
    """A file that was tried with success. Path, size and time of change tell it without reading."""

    path: str
    size: int
    changed_ns: int
    library: str
    sha256: str


def check(path: Path, settings: LanguageModelSettings, library: str, progress: Progress) -> None:
    """Return if the file can be loaded here: it is known, or it passes now. `library` names the
    version of llama.cpp. `progress` is told often and may raise to cancel.

    Raises ModelError, which says what the file did, and OSError when it cannot be read.
    """
    passes = _passes()
    stat = path.stat()
    seen = Pass(str(path.absolute()), stat.st_size, stat.st_mtime_ns, library, "")
    if any(replace(known, sha256="") == seen for known in passes):
        return

    def hashed(done: int) -> None:
        progress(f"Checking {path.name}, a new file", round(done / max(1, stat.st_size), 2))

    now = replace(seen, sha256=sha256_of(path, hashed))
    if not any((known.sha256, known.library) == (now.sha256, library) for known in passes):
        _try(path, settings, BASE_S + stat.st_size / BYTES_A_S, progress)
    _keep([*(known for known in passes if known.path != now.path), now][-MOST_PASSES:])


def _try(path: Path, settings: LanguageModelSettings, limit_s: float, progress: Progress) -> None:
    """Have a child load it and answer; ModelError when that goes wrong."""
    # The person's own instructions concern nobody there.
    tried = replace(settings, model=str(path.absolute()), system_prompt="You are an assistant.")
    begun_at = time.monotonic()
    with _child() as process:
        assert process.stdin is not None, "a pipe was asked for"
        assert process.stdout is not None, "a pipe was asked for"
        with suppress(OSError):  # it is gone already: its status tells how
            process.stdin.write(json.dumps({"limit_s": limit_s, **asdict(tried)}).encode())
            process.stdin.close()
        while (status := _status(process)) is None:
            seconds = time.monotonic() - begun_at
            progress(f"Trying {path.name} in a process of its own, {seconds:.0f} s", None)
            if seconds > limit_s:
                raise ModelError(
                    f"{path.name} gave no answer on trial within {limit_s:.0f} seconds, so it was "
                    "not loaded.",
                    hint="It may be too big for this machine: choose a smaller model.",
                )
        if status == FAILED:
            raise _told(process.stdout)
    if status != 0:
        raise ModelError(
            f"{path.name} was not loaded: on trial, in a process of its own, it made llama.cpp "
            f"crash ({_ending(status)}).",
            hint="The file may be damaged, made for another version, or too big for the free "
            "memory: fetch it again, or choose another.",
        )


@contextmanager
def _child() -> Iterator["subprocess.Popen[bytes]"]:
    """The process of trial_child.py, which does not outlive this block."""
    with subprocess.Popen(
        COMMAND,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # Windows would show a terminal
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _status(process: "subprocess.Popen[bytes]") -> int | None:
    """Its exit status, waited for a moment; None = it is still at work."""
    try:
        return process.wait(POLL_S)
    except subprocess.TimeoutExpired:
        return None


def _told(output: IO[bytes]) -> ModelError:
    """The error the child met and wrote."""
    error = json.loads(output.read(MAX_ANSWER_BYTES))
    return ModelError(error["message"], hint=error["hint"])


def _ending(status: int) -> str:
    with suppress(ValueError):
        return signal.Signals(-status).name
    return f"exit status {status}"


def _passes() -> list[Pass]:
    """What passed so far; nothing when that cannot be read: then it is tried again."""
    try:
        records = json.loads((settings_file.data_folder() / RECORD).read_text(encoding="utf-8"))
        return [Pass(**each) for each in records]
    except (OSError, ValueError, TypeError, RecursionError):
        return []


def _keep(passes: list[Pass]) -> None:
    """Write the record; where that cannot be done, the next start pays again."""
    folder = settings_file.data_folder()
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=RECORD)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump([asdict(each) for each in passes], stream, indent=2)
        Path(temporary).replace(folder / RECORD)
