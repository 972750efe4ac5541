"""The data about this machine and its faults that a user may share.

Invariant: it contains no text, name, path or address of the user. Findings omit theirs, settings
only show numbers and choices from a list, and crash notes contain none. Anything that still looks
like a path or an address is removed at the end.
"""

import platform
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.crash_notes import CrashNotes
from engine.doctor.finding import LEFT_OUT, Finding, version_of
from engine.settings import Choice, Settings, Value, keys, schema, value_of

_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s'\"]+|[\w.+-]+@[\w-]+\.[\w.-]+")
_PATH = re.compile(r"(?<![\w./])(?:~|/[^\s/'\",;]+)(?:/[^\s'\",;]*)+|\b[A-Za-z]:\\[^\s'\",;]+")


def diagnostics(
    settings: Settings, findings: Sequence[Finding], notes: CrashNotes
) -> dict[str, Any]:
    """Return the diagnostics as a JSON object. `notes` are those of the program with a window."""
    shared = [finding.shared() for finding in findings]
    report = {
        "version": version_of("rubato", "not installed"),
        "system": f"{platform.system()} {platform.release()}",
        "findings": [
            {
                "part": each.part,
                "state": each.state.value,
                "text": each.text,
                "advice": each.advice,
                "code": each.code,
            }
            for each in shared
        ],
        "settings": changed(settings),
        "crashes": notes.crashes(),
        "log": notes.log(),
    }
    cleaned: dict[str, Any] = _redact(report)
    return cleaned


def changed(settings: Settings) -> dict[str, Value]:
    """Return the settings that are not the default; the user's own texts are replaced."""
    default = Settings()
    return {
        key: _public_value(key, value_of(settings, key))
        for key in keys()
        if value_of(settings, key) != value_of(default, key)
    }


def _public_value(key: str, value: Value) -> Value:
    is_listed = isinstance(schema()[key].rule, Choice)
    return value if is_listed or not isinstance(value, str) else LEFT_OUT


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
