"""The system's file dialog, wherever the system has one."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from jeepney import Message

from app.look.file_dialogs import prefer_the_systems
from tests.private_bus import Service, is_missing, member_of, private_bus

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere Qt always has it")
THEME = "QT_QPA_PLATFORMTHEME"
PORTAL = "org.freedesktop.portal.Desktop"
METHODS = {
    "org.freedesktop.DBus.Properties.Get": lambda _: ("v", (("u", 4),)),
    "org.freedesktop.portal.FileChooser.OpenFile": lambda _: ("o", ("/request/1",)),
}


def desktop(folder: Path, offers: str) -> dict[str, str]:
    """The environment of a desktop whose part of the portal offers that."""
    portals = folder / "xdg-desktop-portal" / "portals"
    portals.mkdir(parents=True)
    (portals / "some.portal").write_text(f"[portal]\nInterfaces=org.{offers};\n", encoding="utf-8")
    return {"XDG_DATA_DIRS": f"/nowhere:{folder}", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/x"}


@pytest.mark.parametrize(
    ("offers", "more", "chosen"),
    [
        ("FileChooser", {}, "xdgdesktopportal"),
        ("Secret", {}, None),
        ("FileChooser", {"DBUS_SESSION_BUS_ADDRESS": ""}, None),
        ("FileChooser", {"XDG_DATA_DIRS": "/nowhere"}, None),
        ("FileChooser", {THEME: "gtk3"}, "gtk3"),  # what the person chose stays
    ],
)
def test_a_desktop_with_a_bus_and_a_portal_for_files_is_asked(tmp_path, offers, more, chosen):
    environment = desktop(tmp_path, f"freedesktop.impl.portal.{offers}") | more
    prefer_the_systems(environment)
    assert environment.get(THEME) == chosen


# The portal's answer, that it is there, comes after the program began; a dialog before it is Qt's.
OPEN = """
import os
from app.look.file_dialogs import prefer_the_systems
prefer_the_systems(os.environ)
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QFileDialog
application = QApplication([])
def again():
    dialog = QFileDialog()
    dialog.open()
    if not dialog.children():  # Qt made none of its own
        timer.stop()
        application.quit()
    dialog.close()
timer = QTimer(interval=100)
timer.timeout.connect(again)
timer.start()
application.exec()
"""


@pytest.mark.skipif(is_missing(), reason="dbus-daemon is not installed")
def test_qt_then_asks_the_portal_for_a_file():
    with tempfile.TemporaryDirectory(prefix="bus") as folder:
        place = Path(folder)
        environment = desktop(place, "freedesktop.impl.portal.FileChooser")
        with private_bus(place) as address:
            portal = Service(address, PORTAL, METHODS)
            environment |= {"DBUS_SESSION_BUS_ADDRESS": address, "QT_QPA_PLATFORM": "offscreen"}
            rest = {name: value for name, value in os.environ.items() if name != THEME}
            command = [sys.executable, "-c", OPEN]
            done = subprocess.run(command, env=rest | environment, timeout=120, check=False)
            portal.leave()
        assert done.returncode == 0
        assert "OpenFile" in [member_of(call) for call in iter_calls(portal)]


def iter_calls(service: Service) -> Iterator[Message]:
    while service.has_calls():
        yield service.next_call()
