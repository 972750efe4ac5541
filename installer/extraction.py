"""Find the texts that a window can show, for `make words`: pybabel calls the functions extract….

Only literal texts are found, none that is assembled at run time.
"""

import ast
import re
from collections.abc import Container, Iterator
from typing import BinaryIO

import engine.assets.download
import engine.history.faults  # noqa: F401  defines more subclasses
from engine.errors import EngineError

Found = tuple[int, None, str, list[str]]
Marked = tuple[int, str, list[str | None], list[str]]
_WORDS = re.compile(
    "[A-Za-z]{2}"
)  # a text without words outside its {places} is the same in all languages
_PLACE = re.compile(r"\{\w*\}")


def makers(of: type = EngineError) -> set[str]:
    """Return the names of the classes that make such texts: `of` and its subclasses."""
    return {of.__name__}.union(*map(makers, of.__subclasses__()))


MARKS = {"mark", "Shown", "Help"}  # of a text without values
MAKERS = makers() - {"Cancelled"} | {"Translatable"} | MARKS  # Cancelled is never shown


def extract(file: BinaryIO, keywords: object, comment_tags: object, options: object) -> list[Found]:
    """Return (line, None, text, no comments) for each text, as babel.messages.extract requires."""
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
    """Return the arguments of calls of the keywords. Babel's own extractor skips f-strings."""
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
    """Return the texts of the list of models: titles, attributions and remarks on licences."""
    lines = file.read().decode().splitlines()
    shown = [
        (number, re.fullmatch(r'(title|attribution|licence_remark) = "(.+)"', line))
        for number, line in enumerate(lines, start=1)
    ]
    return [(number, None, match[2], []) for number, match in shown if match]


def parts(call: ast.Call) -> list[ast.expr]:
    """Return the arguments of a call that are templates; none if the call makes no text."""
    name = ast.unparse(call.func)
    if name.rsplit(".", 1)[-1] not in MAKERS and not name.endswith("Notice.of"):
        return []
    return call.args[:1] + [each.value for each in call.keywords if each.arg == "hint"]


def literals(part: ast.expr) -> Iterator[ast.Constant]:
    """Yield the literal texts that the argument can be."""
    match part:
        case ast.Constant(value=str()):
            yield part
        case ast.IfExp(body=one, orelse=other):
            yield from literals(one)
            yield from literals(other)
