"""Rows and columns hold what they were given, in its order."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from app.look.layout import RIGHT, Spring, card, column, fill, placed, row, wide


def test_a_row_holds_its_items_in_their_order(qtbot):
    page, one, two, three = QWidget(), QLabel("one"), QLabel("two"), QLabel("three")
    qtbot.addWidget(page)
    line = row(one, 12, wide(two, 3), Spring(2), placed(RIGHT, three), on=page, spacing=5)
    assert page.layout() is line
    assert [line.itemAt(at).widget() for at in (0, 2, 4)] == [one, two, three]
    assert [line.stretch(at) for at in range(5)] == [0, 0, 3, 2, 0]
    assert line.itemAt(1).sizeHint().width() == 12
    assert line.itemAt(4).alignment() == Qt.AlignmentFlag.AlignRight
    assert line.spacing() == 5
    assert line.contentsMargins().isNull()


def test_a_column_takes_rows_and_can_be_continued(qtbot):
    page, one, two = QWidget(), QLabel("one"), QLabel("two")
    qtbot.addWidget(page)
    inner = row(one)
    lines = column(wide(inner), on=page, margins=(1, 2, 3, 4))
    fill(lines, two)
    assert (lines.itemAt(0).layout(), lines.itemAt(1).widget()) == (inner, two)
    assert lines.stretch(0) == 1
    margins = lines.contentsMargins()
    assert (margins.left(), margins.top(), margins.right(), margins.bottom()) == (1, 2, 3, 4)


def test_a_card_is_a_frame_around_a_column(qtbot):
    page = QWidget()
    qtbot.addWidget(page)
    label = QLabel("one", page)
    frame = card(page, label, kind="fault")
    assert frame.property("kind") == "fault"
    assert (frame.parent(), label.parent()) == (page, frame)
