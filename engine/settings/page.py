"""The page of settings, resources/pages/settings.md: the schema for readers. `make words` writes
it.
"""

from collections.abc import Iterator
from itertools import groupby

from engine.settings.schema import Setting, schema
from engine.settings.sections import Settings

_HEAD = """# Settings

The settings in `settings.toml`, section by section; in bold, their names in the window. A change
reloads the engines of the last column, between two replies; to all others it applies while they
run.

This page is made from `engine/settings/sections.py`, where a setting is one field of a dataclass
with its rule, label and help: add one there, run `make words`, and it is in the file, the window
and this page.
"""


def page(kind: type[Settings] = Settings) -> str:
    """Return the page in Markdown."""
    sections = groupby(schema(kind).values(), lambda each: each.key.partition(".")[0])
    return _HEAD + "".join(_table(section, known) for section, known in sections)


def _table(section: str, known: Iterator[Setting]) -> str:
    head = "| setting | what it is | default | allowed | loads again |\n|---|---|---|---|---|\n"
    return f"\n## {section}\n\n{head}" + "".join(map(_row, known))


def _row(setting: Setting) -> str:
    name = setting.key.partition(".")[2]
    words = [f"**{row.label}**. {row.help}".strip() for row in setting.rows] or [setting.about]
    default = f"`{_toml(setting.default)}`" if setting.default is not None else "absent"
    loads = "the part" if name == "engine" else ", ".join(setting.loaded_by)
    cells = (f"`{name}`", " ".join(words), default, _allowed(setting), loads)
    return f"| {' | '.join(each.replace('|', '&#124;') for each in cells)} |\n"


def _allowed(setting: Setting) -> str:
    return setting.rule.hint.removeprefix("Give ").removesuffix(".")


def _toml(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
        case _:
            return str(value)
