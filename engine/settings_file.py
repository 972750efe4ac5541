"""The settings file: TOML in the platform's config folder, edited by the program and by hand alike.

Invariant: nothing that the user wrote is lost. Comments, order, unknown keys and values changed by
hand meanwhile stay. Before a value is overwritten that could not be read, or that was changed on
both sides, the file is copied to settings.kept-<n>.toml. One program writes at a time. The choices
of `rubato bench` are small files of the data folder, each complete or missing.
"""

import json
import logging
import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar

import platformdirs
import tomlkit
from filelock import FileLock
from tomlkit.exceptions import TOMLKitError

from engine.atomic_write import replace_file, unused_name
from engine.errors import InvalidInput, SettingsError
from engine.settings import SettingKey, Settings, change, keys, value_of
from engine.translatable import Translatable, from_json, to_json
from engine.typed_values import build, read_json, read_text, toml_table

log = logging.getLogger(__name__)

NAME = "settings.toml"
LOCK = ".settings.lock"
LOCK_S = 5.0  # another program needs a few milliseconds
LARGEST_BYTES = 256 * 1024  # a full file is under 3 kB; far beyond that it is not a settings file
LARGEST_PICK_BYTES = 10_000  # of a choice of `rubato bench`
CONFIG_VARIABLE = "RUBATO_CONFIG"
DATA_VARIABLE = "RUBATO_DATA"

T = TypeVar("T")


def config_folder() -> Path:
    """Return the folder of the settings: $RUBATO_CONFIG, otherwise the platform's."""
    chosen = _folder_in(CONFIG_VARIABLE)
    return chosen or platformdirs.user_config_path("rubato", appauthor=False)


def data_folder() -> Path:
    """Return the folder of voices and models: $RUBATO_DATA, otherwise the platform's."""
    return _folder_in(DATA_VARIABLE) or platformdirs.user_data_path("rubato", appauthor=False)


def _folder_in(variable: str) -> Path | None:
    """Return the folder that a variable names. '~' is the home folder: shells keep it in quotes."""
    chosen = os.environ.get(variable)
    return Path(os.path.expanduser(chosen)) if chosen else None  # noqa: PTH111 - the method raises for ~nobody


def default_path() -> Path:
    return config_folder() / NAME


def load(path: Path) -> tuple[Settings, tuple[str, ...]]:
    """Return the settings of the file, and one sentence for the user per entry that is not used.

    Any content is accepted and nothing is written. A missing file gives the defaults.
    """
    try:
        settings, notes = _parse(toml_table(read_text(path, LARGEST_BYTES)), path.name)
        return settings, tuple(notes.values())
    except FileNotFoundError:
        return Settings(), ()
    except (OSError, ValueError) as error:
        note = Translatable(
            "{path} cannot be read ({error}); the defaults are in force. The file is "
            "left as it is and will be copied before anything is written.",
            path=path,
            error=_reason(error),
        )
        return Settings(), (note,)


def save(settings: Settings, path: Path, base: Settings | None = None) -> tuple[str, ...]:
    """Write the settings that differ from `base` (None: from the file); leave the rest of the file
    alone. Return sentences for the user on values that changed in the file meanwhile. SettingsError
    if it cannot be saved; then the old file is unchanged.
    """
    try:
        lock = path.parent / LOCK
        path = path.resolve()  # a link to the user's own place for such files stays a link
        for folder in (lock.parent, path.parent):
            folder.mkdir(parents=True, exist_ok=True)
        with FileLock(lock, timeout=LOCK_S):
            return _write(settings, path, base)
    except (OSError, RuntimeError) as error:
        raise SettingsError(
            "The settings could not be saved to {path}: {error}.",
            hint="They are in force until the program ends; make room or allow writing there.",
            path=path,
            error=_reason(error),
        ) from error


# ------------------------------------------------------------------- reading


def _parse(document: Mapping[str, Any], file: str) -> tuple[Settings, dict[str, str]]:
    """Return the settings of a document, and a sentence per key or section that is not used."""
    settings, notes, known = Settings(), dict[str, str](), keys()
    sections = {key.partition(".")[0] for key in known}
    for section, content in document.items():
        if section in sections and not isinstance(content, Mapping):
            notes[section] = Translatable(
                "{file}: '{section}' must be a table [{same}]; it is not used.",
                file=file,
                section=section,
                same=section,
            )
            continue
        table = content if isinstance(content, Mapping) else {"": content}
        for name, value in table.items():
            key = f"{section}.{name}" if table is content else section
            if key not in known:
                notes[key] = Translatable(
                    "{file}: this version has no setting '{key}'; it is kept, unused.",
                    file=file,
                    key=key,
                )
                continue
            try:
                settings = change(settings, key, value)
            except InvalidInput as error:
                notes[key] = _refusal(file, key, error)
    if (settings.speech.rate or 0.0) > settings.speech.fastest:  # which another setting decides
        settings = change(settings, SettingKey.RATE, settings.speech.fastest)
    return settings, notes


def _refusal(file: str, key: str, error: InvalidInput) -> str:
    default = value_of(Settings(), key)
    return Translatable(
        "{file}: {error} Until then {value} is in force.",
        file=file,
        error=error,
        value="the voice's own pace" if default is None else repr(default),
    )


# ------------------------------------------------------------------- writing


def _write(settings: Settings, path: Path, base: Settings | None) -> tuple[str, ...]:
    notes, lost = [], True
    try:
        text, lost, by_hand = _edit(read_text(path, LARGEST_BYTES), settings, base)
    except FileNotFoundError:
        text, lost, by_hand = _edit("", settings, None)
    except (ValueError, TypeError, TOMLKitError, RecursionError) as error:
        log.warning("settings file cannot be edited path=%s reason=%s", path, error)
        text, _, by_hand = _edit("", settings, None)
    if by_hand:
        note = Translatable(
            "{file} was changed by hand meanwhile ({keys}): that is kept, and in force "
            "from the next start.",
            file=path.name,
            keys=", ".join(by_hand),
        )
        notes.append(note)
    if lost:
        copy = unused_name(path, "kept")
        replace_file(copy, path.read_bytes())
        note = Translatable(
            "What {file} said before is kept in {copy}.", file=path.name, copy=copy.name
        )
        notes.append(note)
    replace_file(path, text, mode=path.stat().st_mode if path.exists() else None)
    return tuple(notes)


def _edit(text: str, settings: Settings, base: Settings | None) -> tuple[str, bool, list[str]]:
    """Return the file's next text, whether it overwrites something the user should not lose, and
    the keys that another program changed, which stay. ValueError, TOMLKitError and others for a
    text that cannot be edited.
    """
    expected, document = toml_table(text), tomlkit.parse(text)
    in_file, unused = _parse(expected, NAME)
    ours = _differing(settings, base or in_file)
    by_hand = _differing(in_file, base or in_file)
    changed = [key for key in _differing(settings, in_file) if key in ours]
    refused = {key for key in changed if {key, key.partition(".")[0]} & unused.keys()}
    _put(document, settings, changed)
    _put(expected, settings, changed)
    edited = tomlkit.dumps(document)
    # tomlkit edits text; another parser checks that the text has the expected values.
    if _without_empty(toml_table(edited)) != _without_empty(expected):
        raise ValueError("the edited text has other values")
    lost = bool(refused.union(by_hand).intersection(changed))
    return edited, lost, [key for key in by_hand if key not in ours]


def _differing(settings: Settings, others: Settings) -> list[str]:
    """Return the keys whose values differ. A refused value in the file counts as its default, so it
    stays while the user wants the default.
    """
    return [key for key in keys() if value_of(settings, key) != value_of(others, key)]


def _put(document: dict[str, Any], settings: Settings, changed: list[str]) -> None:
    """Set these values in the document; remove those that are None."""
    for key in changed:
        (section, _, name), value = key.partition("."), value_of(settings, key)
        if not isinstance(document.get(section), Mapping):
            document[section] = tomlkit.table()
        table = document[section]
        if value is None:
            del table[name]
        else:
            table[name] = value


def _without_empty(document: Mapping[str, Any]) -> dict[str, Any]:
    """Drop empty tables: the last dotted key of a table takes the table with it."""
    return {name: content for name, content in document.items() if content != {}}


def _reason(error: Exception) -> str:
    """Return the cause in a few words, without the path."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[0].lower() + error.strerror[1:]
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def write_pick(pick: Any, file: Path, *, what: str, setting: str) -> None:
    """Write a choice of `rubato bench`, a dataclass with its `reason`. SettingsError, with the
    subject `what` and the `setting` to use instead, if it cannot be written.
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
        content = read_json(file, LARGEST_PICK_BYTES)
        found: Any = build(kind, content | {"reason": ""})
        pick: T = replace(found, reason=from_json(content.get("reason")))
    except (OSError, ValueError):
        return None
    return pick
