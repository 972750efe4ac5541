"""The page of settings, resources/pages/settings.md: the schema for readers, for `make words`."""

import json
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
_TABLE = "| setting | what it is | default | allowed | loads again |\n|---|---|---|---|---|\n"


def page(kind: type[Settings] = Settings) -> str:
    """Return the page in Markdown."""
    sections = groupby(schema(kind).values(), lambda each: each.key.partition(".")[0])
    tables = (f"\n## {name}\n\n{_TABLE}" + "".join(map(_row, known)) for name, known in sections)
    return _HEAD + "".join(tables)


def _row(setting: Setting) -> str:
    name = setting.key.partition(".")[2]
    words = [f"**{row.label}**. {row.help}".strip() for row in setting.rows] or [setting.about]
    default = json.dumps(setting.default, ensure_ascii=False)  # as in TOML
    loads = "the part" if name == "engine" else ", ".join(setting.loaded_by)
    allowed = setting.rule.hint.removeprefix("Give ").removesuffix(".")
    shown = f"`{default}`" if setting.default is not None else "absent"
    cells = (f"`{name}`", " ".join(words), shown, allowed, loads)
    return f"| {' | '.join(each.replace('|', '&#124;') for each in cells)} |\n"
