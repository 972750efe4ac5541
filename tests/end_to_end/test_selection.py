"""The text that is selected in another program, over the real AT-SPI."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from app.presence import selection
from app.presence.bus import Bus
from app.presence.selection import SelectedText
from tests.help.machine import at_spi, private_bus
from tests.help.machine.virtual_desktop import missing_programs, virtual_desktop

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
    assert not missing_programs(), missing_programs()
    assert not at_spi.is_missing(), "the test needs at-spi2-core"
    with (
        tempfile.TemporaryDirectory(prefix="rubato-test") as folder,
        private_bus.private_bus(Path(folder)) as bus,
        virtual_desktop() as desktop,
    ):
        environment = {
            **os.environ,
            **desktop.environment,
            "DBUS_SESSION_BUS_ADDRESS": bus,
            "XDG_RUNTIME_DIR": folder,
            "QT_QPA_PLATFORM": "xcb",
            "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
        }
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", bus)
        monkeypatch.setattr(selection, "_WITHIN_MS", 20_000)  # on a busy machine
        with at_spi.at_spi(environment) as reader:
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
