"""Recording and exporting: what the person sees and what is posted."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog

from engine.api import Export, Record, RecordingChanged
from tests.app.test_window import CTRL, key, tell


def test_the_sign_is_there_exactly_while_the_engine_records_and_says_how_long(window, posted):
    sign, now = window.header.recording, [100.0]
    sign._clock = lambda: now[0]
    assert not sign.isVisible()
    key(window, Qt.Key.Key_R, CTRL)
    assert posted == [Record(True)]
    assert not sign.isVisible()  # the engine has not begun
    tell(window, RecordingChanged(True))
    assert sign.isVisible()
    assert "Recording" in sign.accessibleName()
    now[0] += 83
    sign._timer.timeout.emit()
    assert sign.text().endswith("1:23")
    sign.click()
    assert posted[-1] == Record(False)
    tell(window, RecordingChanged(False))
    assert not sign.isVisible()


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
