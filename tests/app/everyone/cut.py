"""What of a page cannot be read: text that is longer or higher than the place it has.

Invariant: it asks Qt for what each widget needs and compares with what it got; painted rows that
shorten a name on purpose show it whole in a tool tip.
"""

from collections.abc import Iterator

from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QScrollArea,
    QTabBar,
    QWidget,
)

from app.status.notice import NoticeLine
from app.status.row import StatusRow
from tests.app.everyone.pages import seen, words_of

SLACK = 2  # pixels that rounding takes
ARROW = 40  # pixels of a list that opens: its arrow and its margins


def cut(root: QWidget) -> list[str]:
    """A line on each widget whose words do not fit."""
    return [fault for widget in (root, *seen(root)) for fault in faults(widget)]


def faults(widget: QWidget) -> Iterator[str]:
    match widget:
        case NoticeLine() | StatusRow():
            return  # one line, the rest in a tool tip
        case QLabel() if widget.text():
            yield from _of_label(widget)
        case QAbstractButton():
            hint = widget.minimumSizeHint() if widget.text() else widget.size()
            if hint.width() > widget.width() + SLACK or hint.height() > widget.height() + SLACK:
                yield f"{words_of(widget)} needs {hint} and has {widget.size()}"
        case QComboBox() if widget.currentText():
            yield from _line(widget, widget.currentText(), ARROW)
        case QAbstractSpinBox():
            yield from _line(widget, widget.text(), 8)
        case QLineEdit() if not isinstance(widget.parent(), QAbstractSpinBox):
            yield from _line(widget, widget.placeholderText(), 4)
        case QTabBar():
            for index in range(widget.count()):
                needs = widget.fontMetrics().horizontalAdvance(widget.tabText(index))
                if needs > widget.tabRect(index).width():
                    yield f"tab “{widget.tabText(index)}”"
        case QScrollArea() if widget.widget():
            needs = widget.widget().minimumSizeHint().width()
            if needs > widget.viewport().width() + SLACK:
                yield f"{type(widget.parent()).__name__}: {needs} in {widget.viewport().width()}"
        case _:
            pass


def _of_label(label: QLabel) -> Iterator[str]:
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
