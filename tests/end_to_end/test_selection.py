"""The text that is selected in another program, over the real AT-SPI."""

import subprocess
import sys

import pytest

from app.presence import selection
from app.presence.bus import Bus
from app.presence.selection import SelectedText
from tests.help.machine.at_spi import accessible_desktop

pytestmark = pytest.mark.long
EDITOR = """
from PySide6.QtWidgets import QApplication, QTextEdit
app = QApplication([])
edit = QTextEdit("The quick brown fox")
edit.setWindowTitle("Editor")
cursor = edit.textCursor()
cursor.setPosition(4)
cursor.setPosition(15, cursor.MoveMode.KeepAnchor)
edit.setTextCursor(cursor)
edit.show()
edit.activateWindow()
app.exec()
"""


def test_what_is_selected_in_another_program_is_found(qtbot, monkeypatch):
    with accessible_desktop() as (reader, environment):
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", environment["DBUS_SESSION_BUS_ADDRESS"])
        monkeypatch.setattr(selection, "_WITHIN_MS", 20_000)  # on a busy machine
        editor = subprocess.Popen([sys.executable, "-c", EDITOR], env=environment)
        try:
            window = reader.window("Editor")
            qtbot.waitUntil(lambda: reader.is_active(window), timeout=20_000)
            parent = Bus()
            asked = SelectedText(parent)
            with qtbot.waitSignal(asked.found, timeout=30_000) as found:
                asked.ask()
        finally:
            editor.kill()
            editor.wait()
    assert found.args == ["quick brown"]
