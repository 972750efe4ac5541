"""What each desktop says of animations, through the portal's settings."""

from collections.abc import Iterator

import pytest

from app.presence.notifications import SETTINGS, Stillness
from tests.private_bus import Service

GNOME = ("org.gnome.desktop.interface", "enable-animations")
KDE = ("org.kde.kdeglobals.KDE", "AnimationDurationFactor")
PORTAL = ("org.freedesktop.appearance", "reduced-motion")
ANIMATED = {GNOME[0]: {GNOME[1]: ("b", True)}, "org.other": {"x": ("i", 3)}}


@pytest.fixture
def told() -> list[bool]:
    return []


@pytest.fixture
def desktop(bus_address: str) -> Iterator[Service]:
    def read_all(message: object) -> tuple[str, tuple[object, ...]]:
        return "a{sa{sv}}", (ANIMATED,)

    made = Service(bus_address, SETTINGS.service, {f"{SETTINGS.interface}.ReadAll": read_all})
    yield made
    made.leave()


def change(desktop: Service, key: tuple[str, str], value: tuple[str, object]) -> None:
    desktop.emit(SETTINGS.path, SETTINGS.interface, "SettingChanged", "ssv", (*key, value))


@pytest.mark.parametrize(
    ("key", "values"),
    [
        (GNOME, (("b", False), ("b", True))),
        (KDE, (("s", "0"), ("s", "1.0"))),
        (PORTAL, (("u", 1), ("u", 0))),
    ],
    ids=["gnome", "kde", "portal"],
)
def test_stillness_is_followed_and_so_is_its_end(qtbot, desktop, bus, told, key, values):
    Stillness(bus, told.append)
    qtbot.waitUntil(lambda: told == [False])
    change(desktop, ("org.other", "x"), ("i", 4))
    for value in values:
        change(desktop, key, value)
    qtbot.waitUntil(lambda: told == [False, True, False])


def test_without_a_portal_things_move(qtbot, bus, told):
    Stillness(bus, told.append)
    answers: list[object] = []
    bus.call(SETTINGS, "ReadAll", "as", ([],), answers.append)
    qtbot.waitUntil(lambda: bool(answers))
    assert told == []
