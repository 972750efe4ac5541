"""Finds the texts that a window can show, for `make words`: pybabel calls the functions extract….

Invariant: only texts that stand in the code are found; none is put together.
"""

import ast
import re
from collections.abc import Container, Iterator
from typing import BinaryIO

import engine.assets.download
import engine.history.faults  # noqa: F401  its faults are subclasses, too
from engine.errors import EngineError

Found = tuple[int, None, str, list[str]]
Marked = tuple[int, str, list[str | None], list[str]]
_WORDS = re.compile(
    "[A-Za-z]{2}"
)  # what has none outside its {places} is the same in all languages
_PLACE = re.compile(r"\{\w*\}")


def makers(of: type = EngineError) -> set[str]:
    """Names of what makes such a text: of the faults, by their base `of`."""
    return {of.__name__}.union(*map(makers, of.__subclasses__()))


MARKS = {"mark", "Shown", "Help"}  # of a text that gets no values there
MAKERS = makers() - {"Cancelled"} | {"Translatable"} | MARKS  # Cancelled is never shown


def extract(file: BinaryIO, keywords: object, comment_tags: object, options: object) -> list[Found]:
    """As babel.messages.extract wants it: line, nothing, text, no comments."""
    calls = (node for node in ast.walk(ast.parse(file.read())) if isinstance(node, ast.Call))
    found = [text for call in calls for part in parts(call) for text in literals(part)]
    return [
        (text.lineno, None, str(text.value), [])
        for text in found
        if _WORDS.search(_PLACE.sub("", str(text.value)))
    ]


def extract_marked(
    file: BinaryIO, keywords: Container[str], comment_tags: object, options: object
) -> list[Marked]:
    """What calls of the keywords mark. Babel's own extractor does not look into f-strings."""
    return [
        (node.lineno, node.func.id, [_literal(each) for each in node.args], [])
        for node in ast.walk(ast.parse(file.read()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in keywords
    ]


def _literal(argument: ast.expr) -> str | None:
    known = isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    return argument.value if known else None


def extract_models(
    file: BinaryIO, keywords: object, comment_tags: object, options: object
) -> list[Found]:
    """The same for the list of models: titles, attributions and remarks on licences."""
    lines = file.read().decode().splitlines()
    shown = [
        (number, re.fullmatch(r'(title|attribution|licence_remark) = "(.+)"', line))
        for number, line in enumerate(lines, start=1)
    ]
    return [(number, None, match[2], []) for number, match in shown if match]


def parts(call: ast.Call) -> list[ast.expr]:
    """The arguments of a call that are templates; none where the call makes no text."""
    name = ast.unparse(call.func)
    if name.rsplit(".", 1)[-1] not in MAKERS and not name.endswith("Notice.of"):
        return []
    return call.args[:1] + [each.value for each in call.keywords if each.arg == "hint"]


def literals(part: ast.expr) -> Iterator[ast.Constant]:
    """The literal texts that the argument can be."""
    match part:
        case ast.Constant(value=str()):
            yield part
        case ast.IfExp(body=one, orelse=other):
            yield from literals(one)
            yield from literals(other)
