"""The choices of `rubato bench` for this machine: a few values in a small file of the data folder.

Invariant: a choice is complete or missing; an invalid file counts as missing.
"""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final, TypeVar

from engine.atomic_write import replace_file
from engine.errors import SettingsError
from engine.translatable import from_json, to_json
from engine.typed_values import build, read_json

_LARGEST_BYTES: Final = 10_000


T = TypeVar("T")  # a dataclass with the reason for the choice, in one sentence or two


def write_pick(pick: Any, file: Path, *, what: str, setting: str) -> None:
    """Write a choice. SettingsError, with the subject `what` and the `setting` to use instead, if
    it cannot be written.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        content = asdict(pick) | {"reason": to_json(pick.reason)}
        replace_file(file, json.dumps(content, indent=2))
    except OSError as error:
        raise SettingsError(
            "The choice of {what} cannot be saved in {folder}: {error}.",
            hint="Make room or allow writing there, or set {setting} yourself.",
            what=what,
            folder=file.parent,
            error=error.strerror or error,
            setting=setting,
        ) from error


def read_pick(kind: type[T], file: Path) -> T | None:
    """Return the choice in the file; None if nothing was measured, or the file is invalid."""
    try:
        content = read_json(file, _LARGEST_BYTES)
        found: Any = build(kind, content | {"reason": ""})
        pick: T = replace(found, reason=from_json(content.get("reason")))
    except (OSError, ValueError):
        return None
    return pick
