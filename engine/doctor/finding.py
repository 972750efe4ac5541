"""The result of a check, and the data about this machine and its faults that a user may share.

Invariant: shared data contains no text, name, path or address of the user. Findings omit theirs,
settings only show numbers and choices from a list, and crash notes contain none. Anything that
still looks like a path or an address is removed at the end.
"""

import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import metadata
from pathlib import Path
from typing import Any

from engine.crash_notes import CrashNotes
from engine.errors import EngineError
from engine.settings import Choice, Settings, Value, keys, schema, value_of

LEFT_OUT = "…"
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s'\"]+|[\w.+-]+@[\w-]+\.[\w.-]+")
_PATH = re.compile(r"(?<![\w./])(?:~|/[^\s/'\",;]+)(?:/[^\s'\",;]*)+|\b[A-Za-z]:\\[^\s'\",;]+")


class State(StrEnum):
    """State of a part. A WARNING limits something, a FAULT stops the conversation."""

    OK = "ok"
    WARNING = "warning"
    FAULT = "fault"


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

    def shared(self) -> dict[str, str]:
        """Return the finding without its private parts."""
        text, advice = self.text, self.advice
        for piece in sorted(filter(None, self.private), key=len, reverse=True):  # may be nested
            text, advice = text.replace(piece, LEFT_OUT), advice.replace(piece, LEFT_OUT)
        about = {"part": self.part, "state": self.state.value, "code": self.code}
        return {**about, "text": text, "advice": advice}


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


def version_of(package: str) -> str:
    """Return the version of a package; empty if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def diagnostics(
    settings: Settings, findings: Sequence[Finding], notes: CrashNotes
) -> dict[str, Any]:
    """Return the diagnostics as a JSON object. `notes` are those of the program with a window."""
    cleaned: dict[str, Any] = _redact(
        {
            "version": version_of("rubato") or "not installed",
            "system": f"{platform.system()} {platform.release()}",
            "findings": [finding.shared() for finding in findings],
            "settings": changed(settings),
            "crashes": notes.crashes(),
            "log": notes.log(),
        }
    )
    return cleaned


def changed(settings: Settings) -> dict[str, Value]:
    """Return the settings that are not the default; the user's own texts are replaced."""
    found = {key: (value_of(settings, key), value_of(Settings(), key)) for key in keys()}
    return {
        key: LEFT_OUT
        if isinstance(value, str) and not isinstance(schema()[key].rule, Choice)
        else value
        for key, (value, default) in found.items()
        if value != default
    }


def _redact(value: Any) -> Any:
    """Remove paths and addresses that the earlier steps missed."""
    match value:
        case str():
            home = str(Path.home())
            bare = value.replace(home, LEFT_OUT) if len(home) > 1 else value
            return _PATH.sub(LEFT_OUT, _ADDRESS.sub(LEFT_OUT, bare))
        case Mapping():
            return {key: _redact(each) for key, each in value.items()}
        case list():
            return [_redact(each) for each in value]
        case _:
            return value
