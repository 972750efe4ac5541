"""The window's texts in the person's language, by the standard library's gettext.

Invariant: the English sentence is the key, so a text without a translation is shown in English.
Values go into named placeholders ({name}), because languages order them differently. No Qt here, so
that modules without Qt can use it.
"""

import re
from dataclasses import fields, is_dataclass, replace
from datetime import date
from gettext import GNUTranslations, NullTranslations
from typing import Any, TypeVar

from engine import api

LANGUAGES = api.WINDOW_LANGUAGES  # by code; the English texts are in the code
# Marks a text that is translated where it is shown, because its line runs before the language is
# known.
mark = api.translatable.mark
_Value = TypeVar("_Value")
_DECIMAL_COMMA = ("de", "es", "fr", "it", "pt")
_NUMBER = re.compile(r"-?\d+\.\d+")


class _InForce:
    """The language in use; there is one for the whole program."""

    catalogue = NullTranslations()
    code = "en"
    comma = False


def tr(text: str, /, **values: object) -> str:
    """The text in the current language, with these values in its placeholders."""
    said = _InForce.catalogue.gettext(text) if text else ""
    return said.format(**values) if values else said


def tr_n(one: str, many: str, count: int, /, **values: object) -> str:
    """The form that fits a number, which stands at {count}."""
    return _InForce.catalogue.ngettext(one, many, count).format(count=count, **values)


def translated(text: str) -> str:
    """A text of the engine in the current language, with its values. A text that is not
    Translatable has another author and stays as it is.
    """
    if not isinstance(text, api.Translatable):
        return text
    return tr(text.template, **{name: _value(value) for name, value in text.values.items()})


def _value(text: str) -> str:
    """Return a value of an engine's text: a number with the decimal mark of the language, and for a
    command the page and button of the same effect.
    """
    if _InForce.comma and _NUMBER.fullmatch(text):
        return text.replace(".", ",")
    match text.split(" "):
        case "rubato", "models", "get", name:
            return tr("Models (Ctrl+M) ▸ {name} ▸ Fetch", name=name)
        case "rubato", "models", "remove", name:
            return tr("Models (Ctrl+M) ▸ {name} ▸ Remove", name=name)
        case "rubato", "models", "list":
            return tr("Models (Ctrl+M)")
        case "rubato", "doctor":
            return tr("About Rubato (Shift+F1) ▸ Copy diagnostics")
        case "rubato", *_:
            return tr("in a terminal: {command}", command=text)
    return translated(text)


def translate_event(value: _Value) -> _Value:
    """Return an event with the engine's texts in the current language, at any depth."""
    shown: Any = value  # Any: the result has the type of the argument
    if isinstance(value, api.ReadingEvent):
        return value  # texts of documents
    if isinstance(value, str):
        shown = translated(value)
    elif isinstance(value, tuple):
        shown = tuple(map(translate_event, value))
    elif is_dataclass(value):
        # Any: replace() wants the type of each field
        before: dict[str, Any] = {each.name: getattr(value, each.name) for each in fields(value)}
        after = {name: translate_event(each) for name, each in before.items()}
        changed = {name: each for name, each in after.items() if each is not before[name]}
        shown = replace(shown, **changed) if changed else value
    translation: _Value = shown
    return translation


def decimal(value: float, places: int) -> str:
    """A number with this many decimals, written as in the current language."""
    written = f"{value:.{places}f}"
    return written.replace(".", ",") if _InForce.comma else written


def day(written: str) -> str:
    """An ISO date as the current language writes it; any other text as it is."""
    try:
        return date.fromisoformat(written).strftime(tr("%Y-%m-%d"))
    except ValueError:
        return written


def choose(code: str) -> None:
    """Use the language with this code from now on; English if it is not in LANGUAGES."""
    _InForce.code = code if code in LANGUAGES else "en"
    if _InForce.code == "en":
        use(NullTranslations())
        return
    with api.resource("languages", f"{code}.mo").open("rb") as file:
        use(GNUTranslations(file), comma=code in _DECIMAL_COMMA)


def commands() -> dict[str, Any]:
    """Return the table of commands of the current language; empty if only English has commands."""
    code = _InForce.code
    has_commands = code in api.SPOKEN and code != "en"
    return api.table("commands", f"{code}.toml") if has_commands else {}


def use(catalogue: NullTranslations, *, comma: bool = False) -> None:
    """Use this catalogue; `comma`: numbers have a comma before the decimals."""
    _InForce.catalogue = catalogue
    _InForce.comma = comma
