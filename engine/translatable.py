"""Texts that a window can show in the user's language: English, with their template and values.

Invariant: a template is written in the code, so that it can be translated; text from outside (a
server, a file, another library) is a value of it and never a template.
"""

import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Self

# Shows the current step of loading a model, and its finished share (0..1, None = unknown). It is
# called often and may raise Cancelled.
Progress = Callable[[str, float | None], None]

# Control characters but tab and newline, and halves of characters: no terminal may obey them.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


class Translatable(str):
    """A finished English text. `template` is its key in the translations; `values` stand at its
    {places}, and a value that is Translatable is translated too. Without values, braces are text.
    """

    __slots__ = ("template", "values")
    template: str
    values: dict[str, str]

    def __new__(cls, template: str, /, **values: object) -> Self:
        if isinstance(template, cls):
            return template
        shown = {name: _shown(value) for name, value in values.items()}
        text = super().__new__(cls, template.format(**shown) if shown else template)
        text.template, text.values = template, shown
        return text

    def __str__(self) -> "Translatable":  # so that str(error) of an error made with it keeps both
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return partial(type(self), self.template, **self.values), ()


def mark(template: str) -> str:
    """Return the template itself, marked for translation; it gets its values where it is used."""
    return template


def joined(texts: Iterable[str], between: str = " ") -> Translatable:
    """Join several texts; each is translated by itself."""
    values = {f"text_{number}": text for number, text in enumerate(texts)}
    return Translatable(between.join(f"{{{name}}}" for name in values), **values)


def to_json(text: str, most: int | None = None) -> object:
    """Return the text for a JSON document: a list of its template and its values, or plain text if
    it has none. Texts are cut after `most` characters, except for templates, which are ours.
    """
    if not isinstance(text, Translatable):
        return text[:most]
    return [text.template, {name: to_json(value, most) for name, value in text.values.items()}]


def from_json(document: object) -> str:
    """Return the text of a to_json() document; ValueError for any other."""
    match document:
        case str():
            return document
        case [str(template), dict(values)]:
            try:
                return Translatable(template, **{str(k): from_json(v) for k, v in values.items()})
            except (LookupError, AttributeError, TypeError, RecursionError) as error:
                raise ValueError("its values are not those of its template") from error
        case _:
            raise ValueError("it is not a text")


def _shown(value: object) -> str:
    text = str(value)
    if isinstance(text, Translatable):
        return text
    return _UNPRINTABLE.sub(lambda found: repr(found[0])[1:-1], text)
