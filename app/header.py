"""The row on top: conversations, name, the signs for recording and for a private conversation,
hands-free, volume, and buttons for the rest.

Invariant: when the engine reports hands-free and volume, they are shown but not posted back.
"""

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSlider, QToolButton, QWidget

from app.bridge import Post
from app.conversation.recording import RecordingSign
from app.history.private import PrivateSign
from app.language.words import mark, tr
from app.look.icons import IconButton
from app.look.label import Label
from app.look.switch import Switch
from app.look.theme import Mode, Theme, scaled
from app.stage.mute import MicrophoneButton
from engine.api import (
    ChangeSetting,
    ConversationOpened,
    Event,
    RecordingChanged,
    SettingChanged,
)

HANDS_FREE_KEY = "audio.hands_free"
VOLUME_KEY = "audio.volume"
_GAP = 4  # logical pixels
_LESSER_GAPS = (2, 0)
_MODES = {Mode.LIGHT: mark("light"), Mode.DARK: mark("dark")}


class Header(QWidget):
    """Buttons are public: the window connects them."""

    def __init__(self, post: Post, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._post, self._theme = post, theme
        self._gain_before_mute = 1.0
        self._row = QHBoxLayout(self)
        self.history = IconButton("conversations", tr("Conversations (Ctrl+B)"), theme, self)
        self.history.setCheckable(True)
        self.name = Label("Rubato", self)
        self.name.setFont(scaled(self.font(), 1.3, strong=True))
        self.recording = RecordingSign(post, self)
        self.private = PrivateSign(post, self)
        self.hands_free = Switch(tr("Hands-&free"), theme, self)
        self.hands_free.setAccessibleName(tr("Hands-free"))
        self.hands_free.setToolTip(tr("Answer whenever you speak, without a key (Ctrl+H)"))
        self.hands_free.toggled.connect(lambda on: post(ChangeSetting(HANDS_FREE_KEY, on)))
        self.microphone = MicrophoneButton(post, theme, self)
        self.mute = IconButton("loudspeaker", tr("Mute"), theme, self)
        self.mute.clicked.connect(self._on_mute)
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
        self._lay_out()
        self.be_compact(False)

    @property
    def next_mode(self) -> Mode:
        """The mode after a click on the theme button: always a different look. "Follow the system",
        which may look the same, is in the settings.
        """
        return Mode.LIGHT if self._theme.is_dark else Mode.DARK

    def on_event(self, event: Event) -> None:
        match event:
            case SettingChanged(key=str(key), value=bool(on)) if key == HANDS_FREE_KEY:
                self.show_hands_free(on)
            case SettingChanged(key=str(key), value=int() | float() as gain) if key == VOLUME_KEY:
                self.show_volume(gain)
            case RecordingChanged():
                self.recording.on_event(event)
                self._make_room()
            case ConversationOpened():
                self.private.on_event(event)
                self._make_room()
            case _:
                pass

    def show_hands_free(self, on: bool) -> None:
        with QSignalBlocker(self.hands_free):
            self.hands_free.setChecked(on)
        self.hands_free.update()

    def show_volume(self, gain: float) -> None:
        """`gain` is 0..1."""
        with QSignalBlocker(self.volume):
            self.volume.setValue(round(gain * 100))
        self._show_muted()

    def be_compact(self, on: bool) -> None:
        """In a narrow window, hide what is also in the settings and show the panel's button."""
        for widget in (self.mute, self.volume, self.theme_button):
            widget.setVisible(not on)
        self.details.setVisible(on)
        self._row.setContentsMargins(12 if on else 20, 10, 8 if on else 14, 4)
        self._make_room()

    def _make_room(self) -> None:
        """When there is not enough room, hide first the name, then the words of the switch: the
        signs for recording and for a private conversation matter more.
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

    def _on_volume(self, percent: int) -> None:
        self._show_muted()
        self._post(ChangeSetting(VOLUME_KEY, percent / 100))

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

    def _lay_out(self) -> None:
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        row = self._row
        row.setSpacing(_GAP)
        row.addWidget(self.history)
        row.addWidget(self.name)
        row.addWidget(self.recording)
        row.addWidget(self.private)
        row.addStretch(1)
        row.addWidget(self.hands_free)
        row.addSpacing(8)
        row.addWidget(self.microphone)
        row.addWidget(self.mute)
        row.addWidget(self.volume)
        row.addSpacing(8)
        for button in (self.new, self.details, self.theme_button, self.more, self.settings):
            row.addWidget(button)
