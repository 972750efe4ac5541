"""What `rubato bench` picked for this machine: a few values in a small file of the data folder.

Invariant: a pick is there as a whole or not at all; a file that is no pick counts as none.
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from engine.errors import SettingsError
from engine.typed_values import build, read_json

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_LARGEST_BYTES: Final = 10_000
_T = TypeVar("_T")


def write_pick(pick: "DataclassInstance", file: Path, *, what: str, setting: str) -> None:
    """Keep a pick. SettingsError, with `what` was picked and the `setting` to use instead, when it
    cannot be written.
    """
    partial = file.with_name(file.name + ".partial")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(json.dumps(asdict(pick), indent=2), encoding="utf-8")
        partial.replace(file)
    except OSError as error:
        raise SettingsError(
            f"The choice of {what} cannot be saved in {file.parent}: {error.strerror or error}.",
            hint=f"Make room or allow writing there, or set {setting} yourself.",
        ) from error


def read_pick(kind: type[_T], file: Path) -> _T | None:
    """The pick in the file; None when nothing was measured, or not by us."""
    try:
        return build(kind, read_json(file, _LARGEST_BYTES))
    except (OSError, ValueError):
        return None
