"""Values of TOML and JSON files as dataclasses, each of the type that its field declares.

Invariant: only these are converted: an integer to a float, a list to a tuple, a word to an enum. A
file is read no further than its size limit. A WrongValue names the wrong entry; readers turn it
into an error of their own.
"""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, NoReturn, TypeVar, get_args, get_origin, get_type_hints

from engine.translatable import Translatable

_T = TypeVar("_T")


class WrongValue(ValueError):
    """A wrong entry and its place, as 'codec.schedule.steps'; `hint` may help."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


# ------------------------------------------------------------------------ files


def read_text(file: Path, most_bytes: int) -> str:
    """Return a file's text. OSError; ValueError if it is larger or not UTF-8."""
    with file.open("rb") as handle:
        content = handle.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise ValueError(f"it is larger than {most_bytes // 1024} kB")
    return content.decode("utf-8-sig")  # Windows editors put a byte-order mark first


def read_json(file: Path, most_bytes: int) -> dict[str, Any]:
    """Return a file's JSON object. OSError; ValueError if it holds anything else."""
    return json_object(read_text(file, most_bytes))


def json_object(text: str) -> dict[str, Any]:
    """Parse a JSON object. ValueError for anything else, and for NaN and Infinity."""
    try:
        content = json.loads(text, parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if not isinstance(content, dict):
        raise ValueError("it is not a JSON object")  # noqa: TRY004  callers catch one error
    return content


def toml_table(text: str) -> dict[str, Any]:
    """Parse TOML. ValueError."""
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"it holds {constant}, which is not a number")


# ----------------------------------------------------------------------- values


def build(
    kind: type[_T],
    table: object,
    path: str = "",
    *,
    defaults: bool = True,
    ignore_unknown: bool = False,
) -> _T:
    """Build the dataclass `kind` from the table at `path`. `defaults` False: no key may be left
    out. WrongValue names an entry that is unknown, missing or of another type.
    """
    if not isinstance(table, dict):
        raise WrongValue(f"'{path}' is {_shown(table)}, expected a section")
    hints, place = get_type_hints(kind), path + "." if path else ""
    unknown = [key for key in table if key not in hints]
    if unknown and not ignore_unknown:
        hint = Translatable("There are: {names}.", names=", ".join(sorted(hints)))
        raise WrongValue(f"unknown key '{place}{unknown[0]}'", hint)
    missing = [
        field.name
        for field in fields(kind)  # type: ignore[arg-type]
        if field.name not in table
        and not (defaults and field.default is not field.default_factory)  # both are MISSING
    ]
    if missing:
        raise WrongValue(f"it lacks the key '{place}{missing[0]}'")
    values = {
        name: typed(hint, table[name], place + name, defaults=defaults)
        for name, hint in hints.items()
        if name in table
    }
    return kind(**values)


def typed(kind: Any, value: object, path: str, *, defaults: bool = True) -> Any:  # Any: a `kind`
    """Return the value as a `kind`: one plain type or several ('int | None'), an enum, a dataclass,
    or a tuple or mapping of these, the latter with the keys float() or str() makes. WrongValue,
    ValueError for a key.
    """
    if is_dataclass(kind):
        assert isinstance(kind, type)
        return build(kind, value, path, defaults=defaults)
    if get_origin(kind) is tuple:
        return _tuple(get_args(kind), value, path, defaults=defaults)
    if get_origin(kind) is Mapping and isinstance(value, dict):
        of_key, of_item = get_args(kind)
        return {
            of_key(key): typed(of_item, item, f"{path}.{key}", defaults=defaults)
            for key, item in value.items()
        }
    kinds = get_args(kind) if get_origin(kind) is UnionType else (kind,)
    if type(value) in kinds:  # not isinstance(): a bool is an int only to Python
        return value
    if float in kinds and type(value) is int:
        return _fraction(value)
    if isinstance(kind, type) and issubclass(kind, Enum) and value in [each.value for each in kind]:
        return kind(value)
    names = " or ".join("nothing" if each is NoneType else each.__name__ for each in kinds)
    raise WrongValue(f"'{path}' is {_shown(value)}, expected {names}")


def _tuple(kinds: tuple[Any, ...], value: object, path: str, *, defaults: bool) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise WrongValue(f"'{path}' is {_shown(value)}, expected a list")
    if kinds[-1] is Ellipsis:
        kinds = kinds[:1] * len(value)
    if len(kinds) != len(value):
        raise WrongValue(f"'{path}' needs {len(kinds)} values")
    pairs = zip(kinds, value, strict=True)
    return tuple(typed(kind, item, path, defaults=defaults) for kind, item in pairs)


def _fraction(value: int) -> float:
    """Convert to float; a number too large for one becomes infinite, which every range refuses."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:60] + "…"
