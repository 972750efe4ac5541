"""The system's file dialog, wherever the system has one."""

import sys
from pathlib import Path

import pytest

from app.look.file_dialogs import prefer_the_systems

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere Qt always has it")
THEME = "QT_QPA_PLATFORMTHEME"


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
