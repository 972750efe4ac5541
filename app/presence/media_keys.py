"""The keyboard's media keys, while a document is open: Rubato is a media player of the desktop
(MPRIS 2), which passes the keys on.

Invariant: without an open document nothing of this is on the bus, so the keys are other players'.
The desktop sees the document's title, no other text.
"""

from collections.abc import Callable, Mapping
from typing import Any

from jeepney import Message
from PySide6.QtCore import QObject

from app.desktop_entry import APP_ID
from app.look.plain_text import one_line
from app.presence.bus import THE_BUS, Address, Answer, Bus
from app.presence.command_handler import CommandHandler
from engine import api

PLAYER = Address("/org/mpris/MediaPlayer2", "org.mpris.MediaPlayer2.rubato", "org.mpris")
_ROOT, _PLAYER = "org.mpris.MediaPlayer2", "org.mpris.MediaPlayer2.Player"
_PROPERTIES = "org.freedesktop.DBus.Properties"
_TRACK = "/org/rubato/document"
Properties = Mapping[str, tuple[str, Any]]  # by name: the type in D-Bus's notation, and the value


class MediaKeys(QObject):
    """Follows the reading on the bus."""

    def __init__(self, bus: Bus, handler: CommandHandler, parent: QObject) -> None:
        super().__init__(parent)
        self._bus = bus
        self._handler = handler
        self._title = ""
        self._is_open = self._is_aloud = False
        self._methods: Mapping[str, Callable[[], None]] = {
            f"{_ROOT}.Raise": handler.show,
            f"{_PLAYER}.PlayPause": lambda: self._play(not self._is_aloud),
            f"{_PLAYER}.Play": lambda: self._play(True),
            f"{_PLAYER}.Pause": lambda: self._play(False),
            f"{_PLAYER}.Stop": lambda: self._play(False),
            f"{_PLAYER}.Next": lambda: self._skip(1),
            f"{_PLAYER}.Previous": lambda: self._skip(-1),
        }

    def on_event(self, event: api.Event) -> None:
        match event:
            case api.DocumentOpened(title=title):
                self._title, self._is_aloud = one_line(title), False
                self._open()
            case api.DocumentClosed() if self._is_open:
                self._is_open = False
                self._bus.call(THE_BUS, "ReleaseName", "s", (PLAYER.service,))
            case api.ReadingChanged(aloud):
                self._is_aloud = aloud
                self._tell_changed()

    def _open(self) -> None:
        if not self._is_open:
            self._is_open = True
            self._bus.serve(PLAYER.path, self._answer)
            self._bus.call(THE_BUS, "RequestName", "su", (PLAYER.service, 0))
        self._tell_changed()

    def _play(self, on: bool) -> None:
        self._handler.post(api.ReadAloud() if on else api.PauseReading())

    def _skip(self, by: int) -> None:
        self._handler.post(api.SkipReading(api.Unit.PARAGRAPH, by))

    def _answer(self, called: str, message: Message) -> Answer | None:
        """Return the answer to a call; None for an unknown one."""
        interfaces = {_ROOT: self._root, _PLAYER: self._player}
        if called == f"{_PROPERTIES}.GetAll":
            return "a{sv}", (interfaces.get(message.body[0], {}),)
        if called == f"{_PROPERTIES}.Get":
            found = interfaces.get(message.body[0], {}).get(message.body[1])
            return None if found is None else ("v", (found,))
        if called not in self._methods:
            return None
        self._methods[called]()
        return "", ()

    @property
    def _root(self) -> Properties:
        no = ("b", False)
        return {
            "Identity": ("s", "Rubato"),
            "DesktopEntry": ("s", APP_ID),
            "CanRaise": ("b", True),
            **dict.fromkeys(("CanQuit", "HasTrackList"), no),
            **dict.fromkeys(("SupportedUriSchemes", "SupportedMimeTypes"), ("as", [])),
        }

    @property
    def _player(self) -> Properties:
        can = ("CanGoNext", "CanGoPrevious", "CanPlay", "CanPause", "CanControl")
        track = {"mpris:trackid": ("o", _TRACK), "xesam:title": ("s", self._title)}
        return {
            "PlaybackStatus": ("s", "Playing" if self._is_aloud else "Paused"),
            "Metadata": ("a{sv}", track),
            "CanSeek": ("b", False),
            **dict.fromkeys(can, ("b", True)),
        }

    def _tell_changed(self) -> None:
        if self._is_open:
            changed: tuple[object, ...] = (_PLAYER, dict(self._player), [])
            self._bus.emit_signal(
                PLAYER.path, _PROPERTIES, "PropertiesChanged", "sa{sv}as", changed
            )
