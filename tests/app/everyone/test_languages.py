"""All pages in a made-up language: nothing unmarked, nothing that bursts; and in every language.

What the engine tells is not the window's to translate: what stands in an event is taken out of
what is shown before plain letters are looked for.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from gettext import NullTranslations
from html import escape
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from PySide6 import QtWidgets
from PySide6.QtGui import QFont

from app import language as words
from app.keys import Shortcut
from app.language import LANGUAGES
from app.look.label import FoldingLabel
from app.look.plain_text import one_line
from app.settings.fields import _own_name
from app.status.panel import StatusRow
from app.voice.clip import TO_READ
from app.window import SMALLEST, Window
from engine.api import HEARD, TITLES, Settings, Translatable
from tests.app.everyone import pages
from tests.app.everyone.pages import PAGES, seen, words_of
from tests.help.fakes.engine import LIBRARY, READY

# Names, units and what is said to Rubato; the same in every language.
SAME = re.compile(
    r"Rubato|Whisper|Sphinx|Ctrl|Alt|Shift|Esc|Del|Space|Return|F\d+|\bdB\b|\bms\b|\bmin\b|\bs\b"
    r"|\bSPS\b|<p style=\"white-space:pre-wrap\">|</p>|&\w+;|Up|Down|Base|base|English"
)
DATA = (
    READY,
    LIBRARY,
    pages.TALK,
    pages.FAULTS,
    pages.KEPT,
    pages.VOICES,
    pages.CLIP,
    pages.COMPARED,
    pages.BOOK,
    pages.OPENED,
    pages.DOCUMENTS,
    Settings(),
)


def texts_in(value: object) -> Iterator[str]:
    """Every text of an event, as it may be shown."""
    if isinstance(value, str):
        yield from (value, one_line(value))
        yield from value.split(" ") if "·" in value else ()
    elif isinstance(value, Path):
        yield from (str(value), value.name, value.stem)
    elif isinstance(value, tuple):
        yield from chain.from_iterable(map(texts_in, value))
    elif is_dataclass(value):
        yield from chain.from_iterable(
            texts_in(getattr(value, each.name)) for each in fields(value)
        )


def from_outside() -> list[str]:
    own = ("Timer set for ten minutes.", "And now?", "Nothing of this is kept.", TO_READ)
    said = ("What time is it?", "Convert ten miles to kilometres", "What can you do?")
    by_words = [each.said for each in Shortcut]
    names = [each for each in TITLES.values() if not isinstance(each, Translatable)]
    names += [_own_name(code) for code in HEARD]
    found = {
        each
        for each in texts_in((*DATA, *own, *said, *by_words, *names, *LANGUAGES.values()))
        if len(each) > 2
    }
    return sorted(found, key=len, reverse=True)


OUTSIDE = from_outside()


def shown(widget: QtWidgets.QWidget) -> Iterator[str]:
    """Every text of a widget that a person or a screen reader meets."""
    yield from (widget.toolTip(), widget.accessibleName(), widget.accessibleDescription())
    match widget:
        case QtWidgets.QComboBox():
            yield from (widget.itemText(index) for index in range(widget.count()))
        case QtWidgets.QTabBar():
            yield from (widget.tabText(index) for index in range(widget.count()))
        case QtWidgets.QAbstractSpinBox():
            yield widget.text()
        case QtWidgets.QLineEdit():
            yield widget.placeholderText()
        case QtWidgets.QLabel() | QtWidgets.QAbstractButton():
            yield widget.text()
        case _:
            pass
    menu = widget.menu() if isinstance(widget, QtWidgets.QToolButton) else None
    if isinstance(menu, QtWidgets.QMenu):
        yield from (action.text() for action in menu.actions())
    if widget.isWindow():
        yield widget.windowTitle()


def plain_letters(text: str) -> list[str]:
    for outside in OUTSIDE:
        text = text.replace(outside, " ")
    return re.findall(r"[A-Za-z]{2,}", SAME.sub(" ", text))


@pytest.fixture
def made_up() -> None:
    words.use(Pseudo())


@pytest.fixture(params=[code for code in LANGUAGES if code != "en"])
def foreign(request: pytest.FixtureRequest) -> None:
    words.choose(request.param)


@pytest.mark.usefixtures("made_up")
@pytest.mark.parametrize("name", PAGES)
def test_nothing_bursts_and_every_string_is_marked(name, window):
    resize(window, (480, 640))
    root = PAGES[name](window)
    for size in ((480, 640), (1100, 780)):
        resize(window, size)
        assert cut(root) == []
    unmarked = {
        f"{words_of(widget)}: {text}"
        for widget in (root, *seen(root))
        if not isinstance(widget.parent(), QtWidgets.QTabBar)  # its arrows are Qt's to translate
        for text in shown(widget)
        if text and plain_letters(text)
    }
    assert unmarked == set()


@pytest.mark.long
@pytest.mark.usefixtures("foreign")
@pytest.mark.parametrize("name", PAGES)
def test_every_language_fits_into_the_smallest_window(name, window):
    assert cut_at(window, name, SMALLEST) == []


def cut_at(window: Window, name: str, size: tuple[int, int]) -> list[str]:
    resize(window, size)
    root = PAGES[name](window)
    resize(window, size)
    return cut(root)


def resize(window: Window, size: tuple[int, int]) -> None:
    """And see that it did not grow beyond it."""
    window.resize(*size)
    for _ in range(5):  # lines that wrap take as many rounds to find their height
        QtWidgets.QApplication.processEvents()
    assert (window.width(), window.height()) == size


@pytest.fixture
def large(qapp: QtWidgets.QApplication) -> Iterator[None]:
    """Text of twice the size, as a person may have chosen for the whole system."""
    usual = QFont(qapp.font())
    twice = QFont(usual)
    twice.setPointSizeF(usual.pointSizeF() * 2)
    qapp.setFont(twice)
    yield
    qapp.setFont(usual)


@pytest.mark.long
@pytest.mark.parametrize("name", PAGES)
def test_text_of_twice_the_size_can_be_read(name, large, theme, qtbot):
    made = Window(Settings(), lambda command: None, theme)
    made.show()
    assert cut_at(made, name, (1280, 960)) == []
    made.hide()
    made.deleteLater()


_PLAIN = "aceginorsuyzACEGINORSUYZ"
_ACCENTED = "áçéğíñóřšüýžÁÇÉĞÍÑÓŘŠÜÝŽ"
_OTHERS = {"b": "ƀ", "d": "đ", "f": "ƒ", "h": "ħ", "k": "ķ", "l": "ł", "m": "ɱ", "p": "þ", "t": "ŧ"}
_OTHERS |= {"j": "ĵ", "q": "ɋ", "v": "ṽ", "w": "ŵ", "x": "ẋ"}
_OTHERS |= {each.upper(): said.upper() for each, said in _OTHERS.items()}
_TABLE = str.maketrans({**dict(zip(_PLAIN, _ACCENTED, strict=True)), **_OTHERS})
_KEPT = re.compile(r"(\{\w*\}|\*\.\w+|\t.*$)")  # places, file types, keys in a menu
_LONGER = 0.4
_FILL = "łóñğ "


def pseudo(text: str) -> str:
    parts = _KEPT.split(text)
    accented = [each if _KEPT.fullmatch(each) else each.translate(_TABLE) for each in parts]
    more = int(len(re.sub(r"\{\w*\}", "", text).strip()) * _LONGER + 0.999)
    fill = (_FILL * (more // len(_FILL) + 1))[:more].rstrip()
    last = len(accented) - 1
    while (last and not accented[last].strip()) or _KEPT.fullmatch(accented[last]):
        last -= 1
        if last < 0:
            return "".join(accented)
    body = accented[last].rstrip()
    tail = accented[last][len(body) :]
    accented[last] = f"{body} {fill}{tail}" if fill else accented[last]
    return "".join(accented)


class Pseudo(NullTranslations):
    def gettext(self, message: str) -> str:
        return pseudo(message)

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return pseudo(msgid1 if n == 1 else msgid2)


SLACK = 2  # pixels that rounding takes
ARROW = 40  # pixels of a list that opens: its arrow and its margins


def cut(root: QtWidgets.QWidget) -> list[str]:
    """A line on each widget whose words do not fit."""
    return [fault for widget in (root, *seen(root)) for fault in faults(widget)]


def faults(widget: QtWidgets.QWidget) -> Iterator[str]:
    for kind, look in _LOOKS:
        if isinstance(widget, kind):
            return look(widget)
    return iter(())


def _of_button(button: QtWidgets.QAbstractButton) -> Iterator[str]:
    needs = button.minimumSizeHint() if button.text() else button.size()
    if needs.width() > button.width() + SLACK or needs.height() > button.height() + SLACK:
        yield f"{words_of(button)} needs {needs} and has {button.size()}"


def _of_list(box: QtWidgets.QComboBox) -> Iterator[str]:
    if escape(box.currentText()) not in box.toolTip():
        yield from _line(box, box.currentText(), ARROW)


def _of_number(box: QtWidgets.QAbstractSpinBox) -> Iterator[str]:
    yield from _line(box, box.text(), 8)


def _of_tabs(tabs: QtWidgets.QTabBar) -> Iterator[str]:
    for index in range(tabs.count()):
        needs = tabs.fontMetrics().horizontalAdvance(tabs.tabText(index))
        if needs > tabs.tabRect(index).width():
            yield f"tab “{tabs.tabText(index)}”"


def _of_area(area: QtWidgets.QScrollArea) -> Iterator[str]:
    needs = area.widget().minimumSizeHint().width() if area.widget() else 0
    if needs > area.viewport().width() + SLACK:
        yield f"{type(area.parent()).__name__}: {needs} in {area.viewport().width()}"


def _of_label(label: QtWidgets.QLabel) -> Iterator[str]:
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


def _line(widget: QtWidgets.QWidget, text: str, beside: int) -> Iterator[str]:
    needs = widget.fontMetrics().horizontalAdvance(text) + beside
    if needs > widget.width() + SLACK:
        yield f"“{text}” in {words_of(widget)} needs {needs} and has {widget.width()}"


_LOOKS: tuple[tuple[type | tuple[type, ...], Callable[[Any], Iterator[str]]], ...] = (
    ((FoldingLabel, StatusRow), lambda widget: iter(())),  # the rest in a tool tip
    (QtWidgets.QLabel, _of_label),
    (QtWidgets.QAbstractButton, _of_button),
    (QtWidgets.QComboBox, _of_list),
    (QtWidgets.QAbstractSpinBox, _of_number),
    (QtWidgets.QTabBar, _of_tabs),
    (QtWidgets.QScrollArea, _of_area),
)
