"""The settings file: TOML in the platform's config folder, edited by the program and by hand alike.

Invariant: nothing a person wrote is lost. Comments, order and unknown keys stay, and so do values
changed by hand while the program ran; before anything that could not be understood, or was changed
on both sides, is overwritten, the file is copied to settings.kept-<n>.toml; a new file replaces the
old one in one rename, after it is safe on the disk.
"""

import itertools
import logging
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs
import tomlkit
from tomlkit.exceptions import TOMLKitError

from engine.atomic_write import replace_file
from engine.errors import InvalidInput, SettingsError
from engine.settings import Settings, Value, change, keys, value_of
from engine.translatable import Translatable
from engine.typed_values import read_text, toml_table

log = logging.getLogger(__name__)

NAME = "settings.toml"
LARGEST_BYTES = 256 * 1024  # a full file is under 3 kB; far beyond that it is not a settings file
CONFIG_VARIABLE = "RUBATO_CONFIG"
DATA_VARIABLE = "RUBATO_DATA"


def config_folder() -> Path:
    """Where the settings live: $RUBATO_CONFIG, else the platform's place for that."""
    chosen = os.environ.get(CONFIG_VARIABLE)
    return _expanded(chosen) if chosen else platformdirs.user_config_path("rubato", appauthor=False)


def data_folder() -> Path:
    """Where voices and models live: $RUBATO_DATA, else the platform's place for that."""
    chosen = os.environ.get(DATA_VARIABLE)
    return _expanded(chosen) if chosen else platformdirs.user_data_path("rubato", appauthor=False)


def _expanded(chosen: str) -> Path:
    """The path with the person's folder for '~', which a shell leaves alone between quotes."""
    return Path(os.path.expanduser(chosen))  # noqa: PTH111 - Path.expanduser raises for ~nobody


def default_path() -> Path:
    return config_folder() / NAME


def load(path: Path) -> tuple[Settings, tuple[str, ...]]:
    """The settings in force, and one sentence for the person on everything that was not taken.

    Never raises for what stands in the file and never writes. A file that is not there gives the
    defaults and no sentence.
    """
    try:
        document = toml_table(read_text(path, LARGEST_BYTES))
    except FileNotFoundError:
        return Settings(), ()
    except (OSError, ValueError, RecursionError) as error:
        return Settings(), (
            Translatable(
                "{path} cannot be read ({error}); the defaults are in force. The file is "
                "left as it is and will be copied before anything is written.",
                path=path,
                error=_reason(error),
            ),
        )
    return _apply(document, path.name)


def save(settings: Settings, path: Path, base: Settings | None = None) -> tuple[str, ...]:
    """Write what changed since `base` was in force by the file (None: what differs from it now);
    the file stays as it is otherwise. A sentence for the person on everything that somebody else
    had changed in it. SettingsError: not saved, and the old file is as it was.
    """
    try:
        path = path.resolve()  # a link to the person's own place for such files stays a link
        path.parent.mkdir(parents=True, exist_ok=True)
        edit = _edit(path, settings, base)
        notes = [_by_hand(path, edit.by_hand)] if edit.by_hand else []
        if edit.overwrites:
            notes.append(
                Translatable(
                    "What {file} said before is kept in {copy}.",
                    file=path.name,
                    copy=_keep_copy(path).name,
                )
            )
        replace_file(path, edit.text, mode=path.stat().st_mode if path.exists() else None)
    except (OSError, RuntimeError) as error:
        raise SettingsError(
            "The settings could not be saved to {path}: {error}.",
            hint="They are in force until the program ends; make room or allow writing there.",
            path=path,
            error=_reason(error),
        ) from error
    return tuple(notes)


# ------------------------------------------------------------------- reading


def _apply(document: Mapping[str, Any], name: str) -> tuple[Settings, tuple[str, ...]]:
    settings, notes, known = Settings(), [], set(keys())
    sections = {key.partition(".")[0] for key in known}
    for section, content in document.items():
        if section in sections and not isinstance(content, Mapping):
            notes.append(
                Translatable(
                    "{file}: '{section}' must be a table [{same}]; it is not used.",
                    file=name,
                    section=section,
                    same=section,
                )
            )
    for key, value in _entries(document):
        if key not in known:
            notes.append(
                Translatable(
                    "{file}: this version has no setting '{key}'; it is kept, unused.",
                    file=name,
                    key=key,
                )
            )
            continue
        try:
            settings = change(settings, key, value)
        except InvalidInput as error:
            default = value_of(Settings(), key)
            in_force = "the voice's own pace" if default is None else repr(default)
            notes.append(
                Translatable(
                    "{file}: {error} Until then {value} is in force.",
                    file=name,
                    error=error,
                    value=in_force,
                )
            )
    return settings, tuple(notes)


def _entries(document: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """'section.name' with its value, for all that is not a broken section of ours."""
    sections = {key.partition(".")[0] for key in keys()}
    for section, content in document.items():
        if isinstance(content, Mapping):
            yield from ((f"{section}.{name}", value) for name, value in content.items())
        elif section not in sections:
            yield section, content


# ------------------------------------------------------------------- writing


@dataclass(frozen=True)
class _Edit:
    """The file's next text, whether something is overwritten by it that the person should not lose,
    and the keys that somebody else changed, which stay.
    """

    text: str
    overwrites: bool
    by_hand: tuple[str, ...] = ()


def _edit(path: Path, settings: Settings, base: Settings | None) -> _Edit:
    try:
        text = read_text(path, LARGEST_BYTES)
        before = toml_table(text)
        document = tomlkit.parse(text)
        in_file, _ = _apply(before, NAME)
        base = base or in_file
        by_hand = _differing(in_file, base)
        ours = _differing(settings, base)
        changed = [key for key in _differing(settings, in_file) if key in ours]
        for key in changed:
            _put(document, key, value_of(settings, key))
        edited = tomlkit.dumps(document)
        # tomlkit edits text; whether the text still says what is meant is asked of another parser
        if _filled(toml_table(edited)) == _filled(_expected(before, changed, settings)):
            lost = any(key in by_hand or _is_nonsense(before, key) for key in changed)
            return _Edit(edited, lost, tuple(key for key in by_hand if key not in ours))
    except FileNotFoundError:
        return _Edit(_fresh(settings), overwrites=False)
    except (ValueError, TypeError, TOMLKitError, RecursionError) as error:
        log.warning("settings file cannot be edited path=%s reason=%s", path, error)
    return _Edit(_fresh(settings), overwrites=True)


def _fresh(settings: Settings) -> str:
    document = tomlkit.document()
    for key in _differing(settings, Settings()):
        _put(document, key, value_of(settings, key))
    return tomlkit.dumps(document)


def _expected(
    before: Mapping[str, Any], changed: Sequence[str], settings: Settings
) -> dict[str, Any]:
    after = dict(before)
    for key in changed:
        section, _, name = key.partition(".")
        old = after.get(section)
        table = dict(old) if isinstance(old, Mapping) else {}
        table[name] = value_of(settings, key)
        after[section] = {name: value for name, value in table.items() if value is not None}
    return after


def _filled(document: Mapping[str, Any]) -> dict[str, Any]:
    """Without empty tables: the last dotted key of a table takes the table with it."""
    return {name: content for name, content in document.items() if content != {}}


def _differing(settings: Settings, others: Settings) -> list[str]:
    """Keys whose value differs. Nonsense in a file counts as its default, and so stays as long as
    that is what the person wants.
    """
    return [key for key in keys() if value_of(settings, key) != value_of(others, key)]


def _by_hand(path: Path, changed: Sequence[str]) -> str:
    return Translatable(
        "{file} was changed by hand meanwhile ({keys}): that is kept, and in force "
        "from the next start.",
        file=path.name,
        keys=", ".join(changed),
    )


def _put(document: tomlkit.TOMLDocument, key: str, value: Value) -> None:
    """Set one value, or remove it for None."""
    section, _, name = key.partition(".")
    table: Any = document.get(section)
    if not isinstance(table, Mapping):
        document[section] = table = tomlkit.table()
    if value is None:
        del table[name]
    else:
        table[name] = value


def _is_nonsense(document: Mapping[str, Any], key: str) -> bool:
    """Whether something that was not understood stands where this setting goes."""
    section, _, name = key.partition(".")
    table = document.get(section, {})
    if not isinstance(table, Mapping):
        return True
    try:
        change(Settings(), key, table.get(name, value_of(Settings(), key)))
    except InvalidInput:
        return True
    return False


def _keep_copy(path: Path) -> Path:
    """Copy the file to the first free settings.kept-<n>.toml; half a copy is removed again."""
    names = (f"{path.stem}.kept-{number}{path.suffix}" for number in itertools.count(1))
    copy = next(free for name in names if not (free := path.with_name(name)).exists())
    target = copy.open("xb")
    try:
        with target, path.open("rb") as source:
            shutil.copyfileobj(source, target)
    except BaseException:
        copy.unlink(missing_ok=True)
        raise
    return copy


def _reason(error: Exception) -> str:
    """Why, in a few words, without the path that the sentence names already."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[0].lower() + error.strerror[1:]
    return str(error).splitlines()[0] if str(error) else type(error).__name__
