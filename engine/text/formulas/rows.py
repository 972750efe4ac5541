r"""Environments: matrices, cases, and equations on several lines."""

import re
from collections.abc import Callable

from engine.text.formulas import commands, parts
from engine.text.formulas.lexer import Token
from engine.text.formulas.parts import Part, Role
from engine.text.rules import numbers

_NAME = re.compile(r"\\begin\s*\{([a-zA-Z]+)")
_ROW_END = re.compile(r"\\\\(?:\s*\[[^\]]*\])?|\\cr\b|\\newline\b")
_CELL_END = re.compile(r"(?<!\\)&")
_COLUMNS = re.compile(r"\s*(?:\[[^\]]*\]\s*)?\{[^{}]*\}")
_WITH_COLUMNS = frozenset({"array", "alignat"})
_DETERMINANTS = frozenset({"vmatrix", "Vmatrix"})
_CASES = frozenset({"cases", "dcases", "rcases"})


def part(token: Token, read: Callable[[str], list[Part]]) -> Part | None:
    """Read an environment as one part; `read` reads a cell. None if the environment is empty."""
    name = match[1] if (match := _NAME.match(token.text)) else ""
    inner = _COLUMNS.sub("", token.inner, count=1) if name in _WITH_COLUMNS else token.inner
    lines = [_CELL_END.split(line) for line in _outer_rows(inner) if line.strip(" \n&")]
    cells = [[parts.words(read(cell)) for cell in line if cell.strip()] for line in lines]
    cells = [row for row in cells if any(row)]
    if not cells:
        return None
    if name in commands.MATRICES:
        kind = "determinant" if name in _DETERMINANTS else "matrix"
        height, width = (numbers.cardinal(size) for size in (len(cells), max(map(len, cells))))
        size = () if name == "array" else ("the", height, "by", width, kind)
        said = (*size, *_rows(cells, between=","))
    else:
        said = _rows(cells, between="," if name in _CASES else "")
    return Part(said, Role.OPERAND, name, long=True)


def _outer_rows(text: str) -> list[str]:
    """Split an environment into rows. Rows of inner environments are not split."""
    rows, depth, begin = [], 0, 0
    for match in re.finditer(rf"\\(begin|end)\b|{_ROW_END.pattern}", text):
        if match[1]:
            depth += 1 if match[1] == "begin" else -1
        elif depth == 0:
            rows.append(text[begin : match.start()])
            begin = match.end()
    return [*rows, text[begin:]]


def _rows(cells: list[list[tuple[str, ...]]], *, between: str) -> tuple[str, ...]:
    """Return the words of each row, with a pause between cells if wanted and a longer one after the
    row.
    """
    said: list[str] = []
    for row in cells:
        for cell in row:
            said += parts.followed(cell, by_pause=bool(between))
        said[-1] = said[-1].rstrip(",;") + ";"
    said[-1] = said[-1].rstrip(";")
    return tuple(said)
