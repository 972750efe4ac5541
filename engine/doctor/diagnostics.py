"""What may be shown to others of this machine and of what went wrong on it.

Invariant: no text, name, path or address of the person. Findings leave theirs out, of the settings
only what was chosen from a list or is a number is told, and crash notes hold none; what still looks
like a path or an address is left out at the end.
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
    """As JSON takes it. `notes` are those of the program with a window."""
    shared = [finding.shared() for finding in findings]
    told = {
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
    cleaned: dict[str, Any] = _without_places(told)
    return cleaned


def changed(settings: Settings) -> dict[str, Value]:
    """The settings that are not the default; of what the person wrote only that it is there."""
    default = Settings()
    return {
        key: _told(key, value_of(settings, key))
        for key in keys()
        if value_of(settings, key) != value_of(default, key)
    }


def _told(key: str, value: Value) -> Value:
    is_listed = isinstance(schema()[key].rule, Choice)
    return value if is_listed or not isinstance(value, str) else LEFT_OUT


def _without_places(value: Any) -> Any:
    """Nothing of this shape should have come so far."""
    match value:
        case str():
            home = str(Path.home())
            bare = value.replace(home, LEFT_OUT) if len(home) > 1 else value
            return _PATH.sub(LEFT_OUT, _ADDRESS.sub(LEFT_OUT, bare))
        case Mapping():
            return {key: _without_places(each) for key, each in value.items()}
        case list():
            return [_without_places(each) for each in value]
        case _:
            return value
