"""Load a new GGUF file and ask it one question in another process, because llama.cpp ends its
process on a bad file.

Invariant: a file reaches this process only after a child with the same library survived it. Files
that passed are remembered by place, size and time, so the next start does not try them again. A
file that failed is tried again whenever it is chosen.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any

import psutil

import engine
from engine import settings_file
from engine.atomic_write import replace_file
from engine.errors import EngineError, ModelError
from engine.settings import LanguageModelSettings
from engine.translatable import Progress, Translatable, from_json, to_json

RECORD = "language-models.json"
MOST_PASSES = 100  # remembered; the oldest are forgotten
POLL_S = 0.1
BASE_S = 120.0  # to start, load a small file and write a few words on a busy machine
BYTES_A_S = 50_000_000  # the speed of a slow disk
MAX_ANSWER_BYTES = 10_000
# -P: do not import from the current folder. The engine comes last in the search path.
CHILD = (
    "import sys; sys.path.append(sys.argv[1]); import engine.llm.local.trial as child; "
    "sys.exit(child.main())"
)
COMMAND = (sys.executable, "-P", "-c", CHILD, str(Path(engine.__file__).parents[1]))
SPARE_S = 10  # of the child, after the time that the parent allows
LEAST_BYTES = 1 << 30  # the libraries alone need some hundred MB
MAX_WORDS = 1_000  # characters of a library's words in a reported error
FAILED = 3  # the child's exit status after an ordinary error, which it has reported


@dataclass(frozen=True)
class Pass:
    """A file that passed. Path, size and time of change identify it without reading it."""

    path: str
    size: int
    changed_ns: int
    library: str


def check(path: Path, settings: LanguageModelSettings, library: str, progress: Progress) -> None:
    """Return if the file can be loaded here with this version of llama.cpp: it passed before, or it
    passes now. `progress` may raise to cancel. Raises ModelError with the failure, and OSError.
    """
    passes = _passes()
    stat = path.stat()
    now = Pass(str(path.absolute()), stat.st_size, stat.st_mtime_ns, library)
    if now in passes:
        return
    _try(path, settings, BASE_S + stat.st_size / BYTES_A_S, progress)
    _keep([*(known for known in passes if known.path != now.path), now][-MOST_PASSES:])


def _try(path: Path, settings: LanguageModelSettings, limit_s: float, progress: Progress) -> None:
    """Let a child process load the file and answer; ModelError if that fails."""
    # The trial does not need the person's own instructions.
    tried = replace(settings, model=str(path.absolute()), system_prompt="You are an assistant.")
    begun_at = time.monotonic()
    with _child() as process:
        assert process.stdin is not None, "a pipe was asked for"
        assert process.stdout is not None, "a pipe was asked for"
        with suppress(OSError):  # it has ended already: its status says how
            process.stdin.write(json.dumps({"limit_s": limit_s, **asdict(tried)}).encode())
            process.stdin.close()
        while True:
            with suppress(subprocess.TimeoutExpired):
                status = process.wait(POLL_S)
                break
            seconds = time.monotonic() - begun_at
            about = Translatable(
                "Trying {name} in a process of its own, {seconds} s",
                name=path.name,
                seconds=f"{seconds:.0f}",
            )
            progress(about, None)
            if seconds > limit_s:
                raise ModelError(
                    "{name} gave no answer on trial within {seconds} seconds, so it was "
                    "not loaded.",
                    hint="It may be too big for this machine: choose a smaller model.",
                    name=path.name,
                    seconds=f"{limit_s:.0f}",
                )
        if status == FAILED:
            reported = json.loads(process.stdout.read(MAX_ANSWER_BYTES))
            hint = from_json(reported["hint"])
            raise ModelError(from_json(reported["message"]), hint=hint)
    if status != 0:
        ending = f"exit status {status}"
        with suppress(ValueError):
            ending = signal.Signals(-status).name
        raise ModelError(
            "{name} was not loaded: on trial, in a process of its own, it made llama.cpp "
            "crash ({status}).",
            hint="The file may be damaged, made for another version, or too big for the free "
            "memory: fetch it again, or choose another.",
            name=path.name,
            status=ending,
        )


@contextmanager
def _child() -> Iterator["subprocess.Popen[bytes]"]:
    """Run the process that tries the file; it does not outlive this block."""
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


def _passes() -> list[Pass]:
    """Return the files that passed; none when the record cannot be read."""
    try:
        records = json.loads((settings_file.data_folder() / RECORD).read_text(encoding="utf-8"))
        return [Pass(**each) for each in records]
    except (OSError, ValueError, TypeError, RecursionError):
        return []


def _keep(passes: list[Pass]) -> None:
    """Write the record; if that fails, the next start tries the file again."""
    folder = settings_file.data_folder()
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / RECORD, json.dumps([asdict(each) for each in passes], indent=2))


# ------------------------------------------------------------------ in the child


def main() -> int:
    """Run the child: its output is one JSON object or nothing, and that of libraries is discarded.
    Return its exit status.
    """
    from engine.llm import registry
    from engine.llm.local import llama

    order: dict[str, Any] = json.load(sys.stdin)
    answer = _own_output()
    _bound(order.pop("limit_s"), llama.on_gpu)
    try:
        model = llama.open_file(LanguageModelSettings(**order), registry.skills())
        model.try_out()
    except EngineError as error:
        told = {"message": error.message, "hint": error.hint}
        json.dump({key: to_json(text, MAX_WORDS) for key, text in told.items()}, answer)
        answer.close()
        return FAILED
    return 0


def _own_output() -> IO[str]:
    """Return the stream to the parent, separate from the output of libraries."""
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    return answer


def _bound(limit_s: float, on_gpu: Callable[[], bool]) -> None:
    """Limit the child's time, so that it ends even without its parent, and its memory to the free
    memory. Windows has no such limits, macOS ignores that of memory, and a GPU's driver reserves
    far more memory than it uses.
    """
    if sys.platform == "win32":
        return
    import resource

    signal.alarm(int(limit_s) + SPARE_S)  # ends the process even inside a library
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash leaves no gigabytes
    if not on_gpu():  # this loads the library, which may hang or crash too
        free = max(LEAST_BYTES, psutil.virtual_memory().available)
        resource.setrlimit(resource.RLIMIT_DATA, (free, free))
