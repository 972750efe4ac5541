"""The menus that choose microphone and loudspeaker.

Invariant: they list the devices that the engine reported last, with the system's default first;
choosing posts a ChangeSetting and nothing else.
"""

from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from app.bridge import Post
from app.language import mark, tr
from app.look.plain_text import one_line
from engine.api import ChangeSetting, DevicesChanged, Event, Part, SettingKey

DEVICE_KEYS = {Part.MICROPHONE: SettingKey.MICROPHONE, Part.LOUDSPEAKER: SettingKey.LOUDSPEAKER}
DEFAULT_LABEL = mark("System default")


class Devices:
    """Remembers the devices there are and makes menus of them."""

    def __init__(self, post: Post) -> None:
        self._post = post
        self._known = DevicesChanged((), (), "", "")

    def on_event(self, event: Event) -> None:
        if isinstance(event, DevicesChanged):
            self._known = event

    def names(self, part: Part) -> tuple[str, ...]:
        """Devices of a part, without the default."""
        known = self._known
        return known.microphones if part is Part.MICROPHONE else known.loudspeakers

    def selected(self, part: Part) -> str:
        """The chosen device; empty = the system's default."""
        known = self._known
        is_microphone = part is Part.MICROPHONE
        return known.selected_microphone if is_microphone else known.selected_loudspeaker

    def menu(self, part: Part, parent: QWidget) -> QMenu:
        """A menu to choose the device of MICROPHONE or LOUDSPEAKER; deletes itself when closed."""
        menu = QMenu(part.value.capitalize(), parent)
        menu.aboutToHide.connect(menu.deleteLater)
        group = QActionGroup(menu)
        for name in ("", *self.names(part)):
            action = group.addAction(one_line(name or tr(DEFAULT_LABEL)).replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(name == self.selected(part))
            command = ChangeSetting(DEVICE_KEYS[part], name)
            action.triggered.connect(lambda _=False, command=command: self._post(command))
            menu.addAction(action)
        return menu
