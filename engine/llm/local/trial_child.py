"""The process that tries a new GGUF file, started by trial.py.

Invariant: its output is one JSON object or nothing; the output of libraries is discarded. It limits
its own time where the system allows that (POSIX), so that it ends even without its parent, and its
memory to the free memory (on Linux; macOS ignores such a limit, Windows has none, and a GPU's
driver reserves far more than it uses).
"""

import json
import os
import signal
import sys
from typing import IO, Any

import psutil

from engine.errors import EngineError
from engine.llm import registry
from engine.llm.local import llama
from engine.llm.local.trial import FAILED
from engine.settings import LanguageModelSettings
from engine.translatable import to_json

SPARE_S = 10  # after the time that the parent allows
LEAST_BYTES = 1 << 30  # the libraries alone need some hundred MB
MAX_WORDS = 1_000  # characters of a library's words in a reported error


def main() -> int:
    order: dict[str, Any] = json.load(sys.stdin)
    answer = _own_output()
    _bound(order.pop("limit_s"))
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


def _bound(limit_s: float) -> None:
    if sys.platform == "win32":
        return
    import resource

    signal.alarm(int(limit_s) + SPARE_S)  # ends the process even inside a library
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash leaves no gigabytes
    if not llama.on_gpu():
        free = max(LEAST_BYTES, psutil.virtual_memory().available)
        resource.setrlimit(resource.RLIMIT_DATA, (free, free))
