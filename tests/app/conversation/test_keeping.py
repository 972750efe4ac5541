"""Recording and exporting: what the person sees and what is posted."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog

from app.keys import Act
from engine.api import Export, Record, RecordingChanged
from tests.app.test_window import CTRL, key, tell


def test_nothing_is_recorded_and_no_sign_shown_until_asked(window, posted):
    assert not window.header.recording.isVisible()
    key(window, Qt.Key.Key_R, CTRL)
    assert posted == [Record(True)]
    assert not window.header.recording.isVisible()  # the engine has not begun


def test_the_sign_is_there_exactly_while_the_engine_records(window, posted):
    tell(window, RecordingChanged(True))
    assert window.header.recording.isVisible()
    assert "Recording" in window.header.recording.accessibleName()
    window.header.recording.click()
    assert posted == [Record(False)]
    tell(window, RecordingChanged(False))
    assert not window.header.recording.isVisible()


def test_the_sign_says_how_long_it_has_been_on(window):
    sign = window.header.recording
    now = [100.0]
    sign._clock = lambda: now[0]
    tell(window, RecordingChanged(True))
    now[0] += 83
    sign._timer.timeout.emit()
    assert sign.text().endswith("1:23")


@pytest.mark.parametrize("size", [(480, 640), (1100, 760)])
def test_the_sign_has_room_in_every_window(window, size):
    window.resize(*size)
    tell(window, RecordingChanged(True))
    assert (window.width(), window.height()) == size
    sign = window.header.recording
    assert sign.width() >= sign.minimumSizeHint().width()
    tell(window, RecordingChanged(False))
    assert window.header.name.isVisible()


def test_the_menu_offers_what_the_keys_do(window, posted):
    menu = window.header.more.menu()
    assert menu.entries[Act.EXPORT].text().endswith("Ctrl+E")
    menu.entries[Act.RECORD].trigger()
    assert posted == [Record(True)]
    tell(window, RecordingChanged(True))
    menu.aboutToShow.emit()
    assert menu.entries[Act.RECORD].isChecked()


def test_a_chosen_file_is_exported(window, posted, tmp_path):
    key(window, Qt.Key.Key_E, CTRL)
    dialog = window.findChild(QFileDialog)
    assert dialog is not None
    dialog.fileSelected.emit(str(tmp_path / "talk.md"))
    assert posted == [Export(tmp_path / "talk.md")]
    dialog.close()
    QApplication.processEvents()


def test_the_chosen_kind_gives_a_name_without_a_suffix_one(window):
    dialog = window.export()
    for name in dialog.nameFilters():
        dialog.filterSelected.emit(name)
        assert f"*.{dialog.defaultSuffix()})" in name
    dialog.deleteLater()
