"""The result of a check."""

from dataclasses import dataclass, replace
from enum import StrEnum
from importlib import metadata

from engine.errors import EngineError


def version_of(package: str, unknown: str) -> str:
    """Return the version of a package, or `unknown` if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return unknown


class State(StrEnum):
    """State of a part. A WARNING limits something, a FAULT stops the conversation."""

    OK = "ok"
    WARNING = "warning"
    FAULT = "fault"


LEFT_OUT = "…"


@dataclass(frozen=True)
class Finding:
    """One line for the user. `advice` says what to do; empty = nothing. `private` lists the parts
    of both texts that are private: paths, names, addresses. `code` is that of the engine's error,
    if the finding comes from one.
    """

    part: str
    state: State
    text: str
    advice: str = ""
    private: tuple[str, ...] = ()
    code: str = ""

    def shared(self) -> "Finding":
        """Return the finding without its private parts."""
        return replace(self, text=self._bare(self.text), advice=self._bare(self.advice), private=())

    def _bare(self, words: str) -> str:
        for piece in sorted(self.private, key=len, reverse=True):  # a name may contain another
            words = words.replace(piece, LEFT_OUT) if piece else words
        return words


def ok(part: str, text: str, *private: str) -> Finding:
    return Finding(part, State.OK, text, "", private)


def warning(part: str, text: str, advice: str, *private: str) -> Finding:
    return Finding(part, State.WARNING, text, advice, private)


def fault(part: str, text: str, advice: str, *private: str) -> Finding:
    return Finding(part, State.FAULT, text, advice, private)


def failed(part: str, error: EngineError, state: State = State.FAULT) -> Finding:
    """Return the finding of an engine's error. Only its code is shared, as its text may name
    files.
    """
    words = (error.message, error.hint)
    return Finding(part, state, error.message, error.hint, words, error.code)
