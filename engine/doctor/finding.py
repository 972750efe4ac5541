"""The value a check answers with."""

from dataclasses import dataclass, replace
from enum import StrEnum
from importlib import metadata

from engine.errors import EngineError


def version_of(package: str, unknown: str) -> str:
    """Of an installed package; `unknown` where it is none."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return unknown


class State(StrEnum):
    """How a part is. A WARNING limits something, a FAULT stops the conversation."""

    OK = "ok"
    WARNING = "warning"
    FAULT = "fault"


LEFT_OUT = "…"


@dataclass(frozen=True)
class Finding:
    """One line for the person. `advice` says what to do and is empty when nothing is. `private` are
    the pieces of both that are the person's: a path, a name, an address. `code` is that of the
    engine's error the finding is made of.
    """

    part: str
    state: State
    text: str
    advice: str = ""
    private: tuple[str, ...] = ()
    code: str = ""

    def shared(self) -> "Finding":
        """The same without what is the person's: what may be shown to others."""
        return replace(self, text=self._bare(self.text), advice=self._bare(self.advice), private=())

    def _bare(self, words: str) -> str:
        for piece in sorted(self.private, key=len, reverse=True):  # a name may hold another
            words = words.replace(piece, LEFT_OUT) if piece else words
        return words


def ok(part: str, text: str, *private: str) -> Finding:
    return Finding(part, State.OK, text, "", private)


def warning(part: str, text: str, advice: str, *private: str) -> Finding:
    return Finding(part, State.WARNING, text, advice, private)


def fault(part: str, text: str, advice: str, *private: str) -> Finding:
    return Finding(part, State.FAULT, text, advice, private)


def failed(part: str, error: EngineError, state: State = State.FAULT) -> Finding:
    """What the engine says itself. Its words may name files of the person: shared is its code."""
    words = (error.message, error.hint)
    return Finding(part, state, error.message, error.hint, words, error.code)
