"""The pages of the settings dialog and the sections on each. The schema
(engine/settings/sections.py) defines the rows, so a new setting needs no entry here.

Invariant: only data, in English. The code that shows it translates it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from app.language import mark
from engine.api import Part, Settings, Value, settings


@dataclass(frozen=True)
class Field:
    """A row of the form that edits a setting."""

    key: str
    rule: settings.Rule
    shown: settings.Shown

    def is_wanted(self, values: Mapping[str, Value]) -> bool:
        """True if the chosen engine uses the setting."""
        section = self.key.partition(".")[0]
        only = self.shown.only_with
        engines = (only,) if isinstance(only, str) else only
        return "" in engines or values.get(f"{section}.engine") in engines


@dataclass(frozen=True)
class Page:
    title: str
    parts: tuple[Part, ...]  # the rows of the status that open this page
    sections: tuple[str, ...]
    more: str = ""  # what it has beside settings: start at login, server, lesson, names

    def fields(self, kind: type[Settings] = Settings) -> list[Field]:
        """Return the page's rows from top to bottom."""
        of_sections = [
            each
            for section in self.sections
            for each in settings.schema(kind).values()
            if each.key.startswith(f"{section}.")
        ]
        rows = [Field(each.key, _rule(each), row) for each in of_sections for row in each.rows]
        return sorted(rows, key=lambda row: row.shown.place)


PAGES = (
    Page(mark("Sound"), (Part.MICROPHONE, Part.LOUDSPEAKER), ("audio",)),
    Page(mark("Recogniser"), (Part.RECOGNISER,), ("recogniser",)),
    Page(mark("Wake phrase"), (), ("wake",), more="lesson"),
    Page(mark("Language model"), (Part.LANGUAGE_MODEL,), ("language_model", "person")),
    Page(mark("Voice"), (Part.SYNTHESISER,), ("speech",)),
    Page(mark("Names"), (), (), more="names"),
    Page(mark("Window"), (), ("window", "history")),
    Page(mark("Always there"), (), ("presence",), more="login"),
    Page(mark("Other programs"), (), ("serve",), more="server"),
)


class Form:
    """The settings that the window shows, perhaps newer than the engine's. `kind`: their type."""

    def __init__(self, shown: Settings) -> None:
        self.kind = type(shown)
        self.values = {key: settings.value_of(shown, key) for key in settings.schema(self.kind)}


def field_of(key: str) -> Field:
    """Return the first row of a setting."""
    setting = settings.schema()[key]
    return Field(key, _rule(setting), setting.rows[0])


def _rule(setting: settings.Setting) -> settings.Rule:
    """Return the setting's rule. A number without a step gets 1, or a tenth for fractions."""
    rule = setting.rule
    if isinstance(rule, settings.Range) and not rule.step:
        return replace(rule, step=1 if setting.kind is int else 0.1)
    return rule
