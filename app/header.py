"""The row on top: conversations, name, the sign for a private conversation (pressing it ends that),
hands-free, volume, and buttons for the rest.

Invariant: when the engine reports hands-free and volume, they are shown but not posted back. The
sign is visible exactly while the engine reports a private conversation.
"""

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QPushButton, QSlider, QWidget

from app.bridge import Post
from app.language import mark, tr
from app.look.controls import IconButton, Switch, button
from app.look.label import Label
from app.look.layout import Spring, fill, row
from app.look.theme import Mode, Theme, scaled
from engine import api
from engine.api import SettingKey

_GAP = 4  # logical pixels
_LESSER_GAPS = (2, 0)
_MODES = {Mode.LIGHT: mark("light"), Mode.DARK: mark("dark")}


class Header(QWidget):
    """Buttons are public: the window connects them."""

    is_private = False  # the conversation
    _is_muted = False  # the microphone

    def __init__(self, post: Post, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._post, self._theme = post, theme
        self._gain_before_mute = 1.0
        self._row = row(on=self, spacing=_GAP)
        self.history = IconButton("conversations", tr("Conversations (Ctrl+B)"), theme, self)
        self.history.setCheckable(True)
        self.name = Label("Rubato", self, size=1.3, strong=True)
        self.private = self._make_sign(post)
        self.hands_free = Switch(tr("Hands-&free"), theme, self)
        self.hands_free.setAccessibleName(tr("Hands-free"))
        self.hands_free.setToolTip(tr("Answer whenever you speak, without a key (Ctrl+H)"))
        self.hands_free.toggled.connect(
            lambda on: post(api.ChangeSetting(SettingKey.HANDS_FREE, on))
        )
        self.microphone = IconButton("microphone", "", theme, self, self._on_microphone)
        self.show_muted(False)
        self.mute = IconButton("loudspeaker", tr("Mute"), theme, self, self._on_mute)
        self.volume = self._make_volume()
        self.new = IconButton("new-conversation", tr("New conversation (Ctrl+N)"), theme, self)
        self.details = IconButton("panel", tr("Voice and status (Ctrl+D)"), theme, self)
        self.details.setCheckable(True)
        self.details.hide()
        self.theme_button = IconButton("theme-system", "", theme, self)
        self.more = IconButton("more", tr("More"), theme, self)
        self.settings = IconButton("settings", tr("Settings (Ctrl+,)"), theme, self)
        theme.changed.connect(self._show_mode)
        self._show_mode()
        fill(self._row, self.history, self.name, self.private, Spring())
        fill(self._row, self.hands_free, 8, self.microphone, self.mute, self.volume, 8)
        fill(self._row, self.new, self.details, self.theme_button, self.more, self.settings)
        self.be_compact(False)

    def on_event(self, event: api.Event) -> None:
        match event:
            case api.SettingChanged(SettingKey.HANDS_FREE, bool(on)):
                self.show_hands_free(on)
            case api.SettingChanged(SettingKey.VOLUME, int() | float() as gain):
                self.show_volume(gain)
            case api.ConversationOpened(private=private):
                self.is_private = private
                self.private.setVisible(private)
                self._make_room()

    def show_hands_free(self, on: bool) -> None:
        with QSignalBlocker(self.hands_free):
            self.hands_free.setChecked(on)
        self.hands_free.update()

    def show_muted(self, on: bool) -> None:
        """Show whether the microphone is muted, as the engine reports it."""
        self._is_muted = on
        if on:
            self.microphone.show_as(
                "microphone-off", tr("Muted: the microphone is closed (Ctrl+U)")
            )
        else:
            self.microphone.show_as("microphone", tr("Mute the microphone (Ctrl+U)"))

    def show_volume(self, gain: float) -> None:
        """`gain` is 0..1."""
        with QSignalBlocker(self.volume):
            self.volume.setValue(round(gain * 100))
        self._show_muted()

    def change_volume(self, percent: int) -> None:
        """Change the volume by this many per cent."""
        self.volume.setValue(self.volume.value() + percent)

    def be_compact(self, on: bool) -> None:
        """In a narrow window, hide the controls of the menu and show the panel's button."""
        for widget in (self.mute, self.volume, self.theme_button):
            widget.setVisible(not on)
        self.details.setVisible(on)
        self._row.setContentsMargins(12 if on else 20, 10, 8 if on else 14, 4)
        self._make_room()

    def _make_room(self) -> None:
        """When there is not enough room, hide first the name, then the words of the switch: the
        sign for a private conversation matters more.
        """
        self.name.show()
        self.hands_free.setText(tr("Hands-&free"))
        self._row.setSpacing(_GAP)
        if self._is_crowded:
            self.name.hide()
        if self._is_crowded:
            self.hands_free.setText("")
        for gap in _LESSER_GAPS:
            if self._is_crowded:
                self._row.setSpacing(gap)

    @property
    def _is_crowded(self) -> bool:
        return self._row.minimumSize().width() > self.width()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._make_room()

    def _on_microphone(self) -> None:
        self._post(api.ChangeSetting(SettingKey.MUTED, not self._is_muted))

    def _on_volume(self, percent: int) -> None:
        self._show_muted()
        self._post(api.ChangeSetting(SettingKey.VOLUME, percent / 100))

    def _on_mute(self) -> None:
        if self.volume.value() > 0:
            self._gain_before_mute = self.volume.value() / 100
            self.volume.setValue(0)
        else:
            self.volume.setValue(round(self._gain_before_mute * 100))

    def _show_muted(self) -> None:
        if self.volume.value() == 0:
            self.mute.show_as("loudspeaker-off", tr("Unmute"))
        else:
            self.mute.show_as("loudspeaker", tr("Mute"))

    def _show_mode(self) -> None:
        mode = self._theme.mode
        words = tr("follows the system") if mode is Mode.SYSTEM else tr(_MODES[mode])
        self.theme_button.show_as(f"theme-{mode.value}", tr("Appearance: {words}", words=words))

    def _make_volume(self) -> QSlider:
        volume = QSlider(Qt.Orientation.Horizontal, self)
        volume.setRange(0, 100)
        volume.setPageStep(10)
        volume.setFixedWidth(92)
        volume.setAccessibleName(tr("Volume"))
        volume.setToolTip(tr("Volume"))
        volume.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        volume.valueChanged.connect(self._on_volume)
        return volume

    def _make_sign(self, post: Post) -> QPushButton:
        """Create the sign for a private conversation; pressing it begins one that is saved."""
        words, name = tr("Private"), tr("Private conversation. Press to end it")
        sign = button(
            words, self, lambda: post(api.NewConversation()), kind="sign", name=name, by_tab=True
        )
        sign.setFont(scaled(self.font(), 0.95, figures=True))
        sign.setCursor(Qt.CursorShape.PointingHandCursor)
        sign.setToolTip(tr("Nothing of this conversation is kept. Press to end it"))
        sign.hide()
        return sign
