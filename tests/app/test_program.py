"""What Qt complains of is noted by severity and category, and still heard by others."""

from PySide6.QtCore import QtMsgType, qInstallMessageHandler, qWarning

from app.program import Watch
from engine.api import CrashNotes


def test_a_complaint_of_qt_is_noted_without_its_words_and_passed_on(tmp_path):
    heard: list[tuple[QtMsgType, str]] = []
    notes = CrashNotes(tmp_path)
    before = qInstallMessageHandler(lambda kind, context, words: heard.append((kind, words)))
    try:
        watch = Watch(notes)
        assert watch.begin() == ""
        qWarning("cannot open /srv/petunia")
        watch.end()
        qWarning("after the end")
    finally:
        qInstallMessageHandler(before)
    assert [words for _, words in heard] == ["cannot open /srv/petunia", "after the end"]
    (line,) = notes.log()
    assert line.endswith("WARNING app.default: severity=QtWarningMsg")
