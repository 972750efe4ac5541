"""Lines over one axis as an SVG, plain enough to be read on a light and on a dark page.

Invariant: the same points give the same bytes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain
from typing import Final

WIDTH, HEIGHT = 720, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 200, 40, 48  # margins; the names stand at the right
_COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999")
_STEPS: Final = 8  # of the scale at the left, at most


@dataclass(frozen=True)
class Line:
    """`points` are (x, y), x rising."""

    name: str
    points: Sequence[tuple[float, float]]


def plot(title: str, across: str, up: str, lines: Sequence[Line]) -> str:
    """The lines that have points, from zero up."""
    lines = [line for line in lines if line.points]
    xs = sorted({x for line in lines for x, _ in line.points}) or [0.0]
    highest = max(chain([0.0], (y for line in lines for _, y in line.points))) or 1.0
    step = _round_step(highest)
    steps = math.ceil(highest / step)

    def place(x: float, y: float) -> tuple[float, float]:
        share = (x - xs[0]) / (xs[-1] - xs[0] or 1.0)
        return (
            _LEFT + share * (WIDTH - _LEFT - _RIGHT),
            HEIGHT - _BOTTOM - y / (steps * step) * (HEIGHT - _TOP - _BOTTOM),
        )

    below = HEIGHT - _BOTTOM + 18
    marks = [
        _text(WIDTH / 2 - 60, 22, title, anchor="middle", size=15),
        *(_text(place(x, 0)[0], below, f"{x:g}", anchor="middle") for x in xs),
    ]
    for value in (step * count for count in range(steps + 1)):
        y = place(xs[0], value)[1]
        marks.append(
            f'<path d="M{_LEFT} {y:.1f}H{WIDTH - _RIGHT}" stroke="#8886" stroke-width="1"/>'
        )
        marks.append(_text(_LEFT - 8, y + 4, f"{value:g}", anchor="end"))
    marks.append(_text((_LEFT + WIDTH - _RIGHT) / 2, HEIGHT - 8, across, anchor="middle"))
    marks.append(_text(8, 22, up))
    for number, line in enumerate(lines):
        marks += _drawn(line, number, [place(x, y) for x, y in line.points])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif">\n' + "\n".join(marks) + "\n</svg>\n"
    )


def _round_step(highest: float) -> float:
    """The smallest round number of which at most _STEPS reach `highest`."""
    power = 10.0 ** math.floor(math.log10(highest / _STEPS))
    return next(power * of for of in (1, 2, 2.5, 5, 10) if power * of * _STEPS >= highest)


def _drawn(line: Line, number: int, places: Sequence[tuple[float, float]]) -> list[str]:
    """The line, its points and its name."""
    colour = _COLOURS[number % len(_COLOURS)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    key_y = _TOP + 20 * number
    return [
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>',
        *(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places),
        f'<circle cx="{WIDTH - _RIGHT + 16}" cy="{key_y - 4}" r="5" fill="{colour}"/>',
        _text(WIDTH - _RIGHT + 28, key_y, line.name),
    ]


def _text(x: float, y: float, text: str, *, anchor: str = "start", size: int = 12) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
        f'fill="#888">{escape(text)}</text>'
    )
