"""Word lists of the rules for text: the tables in resources/text.

Invariant: a text in such a file is a set of words, a section maps written words to spoken ones.
"""

from typing import Any

from engine.resources import table


def words(file: str, name: str) -> frozenset[str]:
    """The words of one text."""
    return frozenset(listed(file, name))


def listed(file: str, name: str) -> list[str]:
    """The words of one text in their order."""
    text: str = _read(file)[name]
    return text.split()


def phrases(file: str, name: str, part: str = "") -> tuple[str, ...]:
    """The phrases between the commas of one text, which stands in a section if `part` names one."""
    text: str = (_read(file)[part] if part else _read(file))[name]
    return tuple(" ".join(phrase.split()) for phrase in text.split(","))


def section(file: str, name: str) -> dict[str, str]:
    """One section; do not change it."""
    found: dict[str, str] = _read(file)[name]
    return found


def _read(file: str) -> dict[str, Any]:
    return table("text", f"{file}.toml")
