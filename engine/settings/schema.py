"""The settings by key: their descriptions, values and changes.

Invariant: a Settings made by `change` holds only valid values; an invalid one is refused with a
sentence that says what is allowed. Everything is derived from the dataclasses, so it also holds for
an extended Settings. The file is handled by engine/settings_file.py.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import Any, TypeVar, get_args, get_type_hints

from engine.errors import InvalidInput
from engine.settings.rules import (
    ANY_TEXT,
    AppliesTo,
    Changes,
    Choice,
    Flag,
    Help,
    LoadedBy,
    Pattern,
    Range,
    Rule,
    Shown,
    Value,
)
from engine.settings.sections import LanguageModelSettings, RecogniserSettings, Settings
from engine.settings.speech import SpeechSettings
from engine.typed_values import WrongValue, typed

PartSettings = RecogniserSettings | LanguageModelSettings | SpeechSettings
S = TypeVar("S", bound=Settings)


class SettingKey(StrEnum):
    """The keys that the program itself reads or changes."""

    MICROPHONE = "audio.microphone"
    LOUDSPEAKER = "audio.loudspeaker"
    VOLUME = "audio.volume"
    HANDS_FREE = "audio.hands_free"
    HEADSET = "audio.headset"
    MUTED = "audio.muted"
    RECOGNISER = "recogniser.engine"
    RECOGNISER_MODEL = "recogniser.model"
    RECOGNISER_LANGUAGE = "recogniser.language"
    WAKE = "wake.on"
    WAKE_PHRASE = "wake.phrase"
    LANGUAGE_MODEL = "language_model.engine"
    MODEL_NAME = "language_model.model"
    SERVER_ADDRESS = "language_model.address"
    SERVER_KEY_VARIABLE = "language_model.key_variable"
    SYNTHESISER = "speech.engine"
    VOICE = "speech.voice"
    LANGUAGE = "speech.language"
    RATE = "speech.rate"
    FAST = "speech.fast"
    SEED = "speech.seed"
    KEEP = "history.keep"
    NAME = "person.name"
    THEME = "window.theme"
    MOTION = "window.motion"
    TALK_KEY = "window.talk_key"
    FIRST_START = "window.first_start"
    TRAY = "presence.tray"
    NOTIFICATIONS = "presence.notifications"
    TALK_KEY_EVERYWHERE = "presence.talk_key"


@dataclass(frozen=True)
class Setting:
    """Description of a setting. `about`: of one without a row; `loaded_by`: see LoadedBy."""

    key: str
    kind: Any  # a plain type, or several: 'float | None'
    default: Value
    rule: Rule
    rows: tuple[Shown, ...]
    about: str
    applies_to: AppliesTo
    loaded_by: tuple[str, ...]

    def refusal(self, value: object) -> InvalidInput:
        shown = repr(value) if len(repr(value)) <= 60 else repr(value)[:60] + "…"
        return InvalidInput(
            "The setting '{key}' cannot be {value}.", hint=self.rule.hint, key=self.key, value=shown
        )


def schema(kind: type[Settings] = Settings) -> Mapping[str, Setting]:
    """Return every setting by its key 'section.name', in the order of the file."""
    return _schema(kind)  # type: ignore[arg-type] # mypy takes a dataclass's type for unhashable


def keys() -> tuple[str, ...]:
    """Return the keys 'section.name', in the order of the file."""
    return tuple(schema())


def setting_of(settings: Settings, key: str) -> Setting:
    """Return the description of a setting. InvalidInput for an unknown key."""
    known = schema(type(settings))
    if key not in known:
        raise InvalidInput(
            "There is no setting '{key}'.",
            hint="The settings are: {keys}",
            key=key[:80],
            keys=", ".join(known),
        )
    return known[key]


def value_of(settings: Settings, key: str) -> Value:
    """Return the value of a setting. InvalidInput for an unknown key."""
    section, _, name = setting_of(settings, key).key.partition(".")
    value: Value = getattr(getattr(settings, section), name)
    return value


def change(settings: S, key: str, value: Value) -> S:
    """Return settings with one value changed, a whole number as a fraction where one is needed.
    InvalidInput if the key or the value is not allowed.
    """
    setting = setting_of(settings, key)
    try:
        checked: Value = typed(setting.kind, value, key)
    except WrongValue:
        raise setting.refusal(value) from None
    if checked is not None and not setting.rule.allows(checked):
        raise setting.refusal(value)
    section, _, name = key.partition(".")
    part = replace(getattr(settings, section), **{name: checked})
    return replace(settings, **{section: part})


def change_all(settings: S, changes: Changes) -> S:
    """Return settings with all these changes. InvalidInput as in change()."""
    for key, value in changes:
        settings = change(settings, key, value)
    return settings


def load_key(settings: PartSettings) -> tuple[Value, ...]:
    """Return the values that decide what is loaded, with 'auto' resolved. Settings with equal keys
    differ only in values that apply while the engine runs.
    """
    names = _loaded_with(type(settings), settings.engine)  # type: ignore[arg-type] # as above
    return (settings.engine, *(getattr(settings, name) for name in names))


@cache
def _loaded_with(part: type[Any], engine: str) -> tuple[str, ...]:
    """Return the names of the settings that an engine loads."""
    known = _read_section(part, "", AppliesTo.NOBODY)
    return tuple(each.key for each in known if engine in each.loaded_by)


# ------------------------------------------------------------ out of the dataclasses


@cache
def _schema(kind: type[Settings]) -> Mapping[str, Setting]:
    found: dict[str, Setting] = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        part, notes = _split_hint(hint)
        known = _read_section(part, f"{name}.", _first(AppliesTo, notes, AppliesTo.NOBODY))
        found |= {setting.key: setting for setting in known}
    return MappingProxyType(found)


def _read_section(part: Any, place: str, applies_to: AppliesTo) -> Iterator[Setting]:
    """Yield the settings of a section. `applies_to`: the receiver of settings that name none."""
    for name, hint in get_type_hints(part, include_extras=True).items():
        kind, notes = _split_hint(hint)
        rule = _first(Range | Choice | Pattern | Flag, notes, Flag() if kind is bool else ANY_TEXT)
        assert kind in (bool, str) or rule is not ANY_TEXT, f"'{place}{name}' needs a Range"
        yield Setting(
            place + name,
            kind,
            getattr(part, name),
            rule,
            tuple(_rows(notes)),
            _first(str, notes, ""),
            _first(AppliesTo, notes, applies_to),
            _first(LoadedBy, notes, LoadedBy(())).engines,
        )


def _split_hint(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return a field's type, and its annotations."""
    notes: tuple[Any, ...] = getattr(hint, "__metadata__", ())
    return (get_args(hint)[0] if notes else hint), notes


def _first(kind: Any, notes: tuple[Any, ...], unsaid: Any) -> Any:
    return next((each for each in notes if isinstance(each, kind)), unsaid)


def _rows(notes: tuple[Any, ...]) -> Iterator[Shown]:
    """Yield each row with the help that follows it."""
    for row, after in zip(notes, (*notes[1:], None), strict=True):
        if isinstance(row, Shown):
            yield replace(row, help=after.text) if isinstance(after, Help) else row
