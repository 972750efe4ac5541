"""What of a page cannot be read: text that is longer or higher than the place it has.

Invariant: it asks Qt for what each widget needs and compares with what it got; painted rows that
shorten a name on purpose show it whole in a tool tip.
"""

from collections.abc import Callable, Iterator
from html import escape
from typing import Any

from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QComboBox,
    QLabel,
    QScrollArea,
    QTabBar,
    QWidget,
)

from app.look.label import FoldingLabel
from app.status.banner import NoticeLine
from app.status.row import StatusRow
from tests.app.everyone.pages import seen, words_of

SLACK = 2  # pixels that rounding takes
ARROW = 40  # pixels of a list that opens: its arrow and its margins


def cut(root: QWidget) -> list[str]:
    """A line on each widget whose words do not fit."""
    return [fault for widget in (root, *seen(root)) for fault in faults(widget)]


def faults(widget: QWidget) -> Iterator[str]:
    for kind, look in _LOOKS:
        if isinstance(widget, kind):
            return look(widget)
    return iter(())


def _of_nothing(widget: QWidget) -> Iterator[str]:
    """One line, the rest in a tool tip."""
    return iter(())


def _of_button(button: QAbstractButton) -> Iterator[str]:
    needs = button.minimumSizeHint() if button.text() else button.size()
    if needs.width() > button.width() + SLACK or needs.height() > button.height() + SLACK:
        yield f"{words_of(button)} needs {needs} and has {button.size()}"


def _of_list(box: QComboBox) -> Iterator[str]:
    if escape(box.currentText()) not in box.toolTip():
        yield from _line(box, box.currentText(), ARROW)


def _of_number(box: QAbstractSpinBox) -> Iterator[str]:
    yield from _line(box, box.text(), 8)


def _of_tabs(tabs: QTabBar) -> Iterator[str]:
    for index in range(tabs.count()):
        needs = tabs.fontMetrics().horizontalAdvance(tabs.tabText(index))
        if needs > tabs.tabRect(index).width():
            yield f"tab “{tabs.tabText(index)}”"


def _of_area(area: QScrollArea) -> Iterator[str]:
    needs = area.widget().minimumSizeHint().width() if area.widget() else 0
    if needs > area.viewport().width() + SLACK:
        yield f"{type(area.parent()).__name__}: {needs} in {area.viewport().width()}"


def _of_label(label: QLabel) -> Iterator[str]:
    if not label.text():
        return
    width, height = label.width(), label.height()
    if label.wordWrap():
        words = label.text().split()
        longest = max(map(label.fontMetrics().horizontalAdvance, words), default=0)
        if longest > width + SLACK:
            yield f"a word of “{label.text()}” needs {longest} and has {width}"
        if label.heightForWidth(width) > height + SLACK:
            yield f"“{label.text()}” needs a height of {label.heightForWidth(width)}, has {height}"
    elif label.sizeHint().width() > width + SLACK or label.sizeHint().height() > height + SLACK:
        yield f"“{label.text()}” needs {label.sizeHint()} and has {label.size()}"


def _line(widget: QWidget, text: str, beside: int) -> Iterator[str]:
    needs = widget.fontMetrics().horizontalAdvance(text) + beside
    if needs > widget.width() + SLACK:
        yield f"“{text}” in {words_of(widget)} needs {needs} and has {widget.width()}"


_LOOKS: tuple[tuple[type | tuple[type, ...], Callable[[Any], Iterator[str]]], ...] = (
    ((FoldingLabel, NoticeLine, StatusRow), _of_nothing),
    (QLabel, _of_label),
    (QAbstractButton, _of_button),
    (QComboBox, _of_list),
    (QAbstractSpinBox, _of_number),
    (QTabBar, _of_tabs),
    (QScrollArea, _of_area),
)
