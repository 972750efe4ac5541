"""A combo box that shortens what it shows: where there is room, it looks like any other."""

from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from app.look.controls import ElidedBox

NAME = "English (Great Britain)"


def picture(box: QComboBox, qtbot: QtBot, width: int):
    qtbot.addWidget(box)
    box.addItem(NAME)
    box.resize(width, 32)
    return box.grab().toImage()


def test_with_room_it_looks_like_any_other(qtbot):
    assert picture(ElidedBox(), qtbot, 400) == picture(QComboBox(), qtbot, 400)


def test_without_room_the_text_is_shortened_on_screen_alone(qtbot):
    box = ElidedBox()
    assert picture(box, qtbot, 110) != picture(QComboBox(), qtbot, 110)
    assert box.currentText() == NAME
