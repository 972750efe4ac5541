"""The window: puts the parts together, passes events to them and their commands to the bridge.

Invariant: the first frame is painted before the engine is created. Closing hides the window at
once; then the engine stops, or the program stays in the tray.
"""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QKeyEvent,
    QKeySequence,
    QPaintEvent,
    QResizeEvent,
    QShortcut,
    QShowEvent,
)
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from app.actions import act, carry_out
from app.arrangement import Arrangement, SideColumn
from app.bridge import Post
from app.conversation.composer import Composer
from app.conversation.view import Conversation
from app.conversation.welcome import Welcome
from app.first_start import FirstStart
from app.header import Header
from app.history.panel import FORMATS, HistoryPanel
from app.keys import MoreMenu, Shortcut, ShortcutFilter
from app.language import tr
from app.look.file_dialogs import ask_where
from app.look.layout import room_for_window
from app.look.page import OnDemand
from app.look.plain_text import one_line
from app.look.theme import Mode, Theme, mode_named
from app.models import ModelsPage
from app.reading.page import Reading
from app.settings.dialog import SettingsDialog
from app.settings.form import Form
from app.stage.panel import Stage
from app.stage.talk import TalkKey
from app.status.banner import Banner, NoticeLine
from app.status.panel import NAMES
from app.status.parts import Parts
from app.timers import TimersPanel
from app.voice.panel import dropped_file
from engine import api

_DEVICES = {
    api.Part.MICROPHONE: api.SettingKey.MICROPHONE,
    api.Part.LOUDSPEAKER: api.SettingKey.LOUDSPEAKER,
}
SMALLEST = (480, 640)  # logical pixels; less on a screen without room for it


class Window(QWidget):
    """The main window.

    Signals:
        first_painted: the first frame is on its way to the screen.
        closing: the person ends the program.
        put_away: the person closed the window, and the program keeps running without it.
    """

    first_painted = Signal()
    closing = Signal()
    put_away = Signal()

    def __init__(self, settings: api.Settings, post: Post, theme: Theme) -> None:
        super().__init__()
        self._send = post
        self.closing_hides: Callable[[], bool] = lambda: False  # asked at each close
        self._theme, self.motion = theme, theme.motion
        self.motion.choose(settings.window.motion)
        self._form = Form(settings)
        self._values = self._form.values
        self._was_painted = False
        self._dialog: SettingsDialog | None = None
        self._is_asked = False  # something was typed, or an old conversation is open
        self.parts = Parts()
        self.header = Header(self.post, theme, self)
        self.banner = Banner(theme, self)
        self.history = HistoryPanel(self.post, settings.history.keep, theme, self)
        self.conversation = Conversation(theme, self)
        self.welcome = Welcome(self.post, self.parts, self)
        self.first_start = FirstStart(self.post, self.change, theme, self.parts, self)
        self.timers = TimersPanel(self.post, theme, self)
        self.notice = NoticeLine(self)
        self.composer = Composer(self.post, self.parts, theme, self)
        self.stage = Stage(self.post, self.parts, theme, self)
        self.side = SideColumn(self.post, self.parts, theme, self)
        self.models = OnDemand(partial(ModelsPage, self.post, theme, self))
        self.reading = Reading(self.post, theme, self)
        self.talk_key = TalkKey(settings.window.talk_key, self)
        self._precedence = ShortcutFilter(self)
        self._lay_out()
        self._connect()
        self._show_settings(settings)

    # ------------------------------------------------------- events and commands

    def on_event(self, event: api.Event) -> None:
        """Pass the event on; every part handles the events that it shows."""
        match event:
            case api.SettingChanged(key, value):
                self._on_setting(key, value)
            case api.Heard() if event.recogniser == api.KEYBOARD:
                self._is_asked = True
                self._show_page()
                self._uncover()
            case api.UseWindow():
                carry_out(self, event)
            case api.ConversationOpened(conversation=int()):
                self._is_asked = True
                self._uncover()
        for tell in self._concerned(event):
            tell(event)
        if self._dialog is not None:
            self._dialog.on_event(event)

    def _concerned(self, event: api.Event) -> tuple[Callable[[api.Event], None], ...]:
        """The handlers of an event. Levels come ten times a second, also in silence: they go only
        to the parts that show them.
        """
        meters = (self.composer.on_event, self.stage.on_event, self.side.on_event)
        if isinstance(event, api.Levels):
            return (*meters, self.first_start.on_event) if self.first_start.isVisible() else meters
        return (
            *(self.parts.on_event, self.header.on_event),
            *(self.banner.on_event, self.conversation.on_event, self.welcome.on_event),
            *(self.history.on_event, self.timers.on_event, self.notice.on_event),
            *meters,
            *(self.first_start.on_event, self.models.on_event, self.reading.on_event),
        )

    def post(self, command: api.Command) -> None:
        """Show at once what a command changes in the window, and pass the command on."""
        match command:
            case api.NewConversation():
                self._is_asked = False
                self.conversation.clear_all()
            case api.SendText():
                self.conversation.follow_again()
            case api.PressTalk() if self.first_start.isVisible():
                self.first_start.key_felt.emit()
                return
            case api.ChangeSetting(api.SettingKey.HANDS_FREE as key, on):
                self._on_setting(key, on)
        self._send(command)

    def change(self, key: str, value: api.Value) -> None:
        """Change a setting here and in the engine, which saves it."""
        self._on_setting(key, value)
        self.post(api.ChangeSetting(key, value))

    def _on_setting(self, key: str, value: api.Value) -> None:
        self._values[key] = value
        self.first_start.show_values(self._values)
        match key:
            case api.SettingKey.FIRST_START if isinstance(value, int):
                self.first_start.show_step(value)
                self._show_page()
            case api.SettingKey.THEME if mode_named(str(value)) is not self._theme.mode:
                self._theme.choose(mode_named(str(value)))
            case api.SettingKey.MOTION:
                self.motion.choose(str(value))
            case api.SettingKey.TALK_KEY:
                self.talk_key.choose(str(value))
                self._show_talking()
            case api.SettingKey.MUTED:
                self._show_talking()
            case api.SettingKey.HANDS_FREE:
                self.header.show_hands_free(bool(value))
                self._show_talking()

    def _show_settings(self, settings: api.Settings) -> None:
        self.header.show_hands_free(settings.audio.hands_free)
        self.header.show_volume(settings.audio.volume)
        self.stage.rate.be_fast(settings.speech.fast)
        self.stage.rate.slider.show_rate(settings.speech.rate)
        self.first_start.show_values(self._values)
        self.first_start.show_step(settings.window.first_start)
        self._show_page()
        self._show_talking()

    def _show_talking(self) -> None:
        """Show whether the assistant listens, and how to begin."""
        self.parts.is_muted = bool(self._values[api.SettingKey.MUTED])
        self.parts.is_hands_free = bool(self._values[api.SettingKey.HANDS_FREE])
        self.header.show_muted(self.parts.is_muted)
        self.stage.show_mood()
        self.composer.talk.explain(self.talk_key.label)
        self.welcome.explain(self.talk_key.label)

    # ------------------------------------------------------------------- actions

    def _connect(self) -> None:
        talk = self.composer.talk
        self.talk_key.pressed.connect(lambda: talk.hold(True))
        self.talk_key.released.connect(lambda: talk.hold(False))
        self.conversation.emptied.connect(self._show_page)
        self.conversation.tools.model_link.clicked.connect(lambda: act(self, Shortcut.MODELS))
        self.first_start.models.connect(lambda: act(self, Shortcut.MODELS))
        self.welcome.smarter.clicked.connect(lambda: act(self, Shortcut.MODELS))
        self.welcome.own_voice.clicked.connect(lambda: self.side.voices.open_page().record.click())
        status = self.side.status
        status.chosen.connect(lambda part: self._on_part_chosen(part, status.rows[part]))
        self.banner.fix_wanted.connect(lambda part: self._on_part_chosen(part, self.banner.fix))
        status.loading_changed.connect(self.notice.set_idle_text)
        header = self.header
        header.new.clicked.connect(lambda: act(self, Shortcut.NEW))
        header.details.toggled.connect(self._arrangement.show_details)
        header.history.toggled.connect(self._show_history)
        self.conversation.word_chosen.connect(
            lambda turn, start: self.post(api.Replay(turn, start))
        )
        self.conversation.tools.edit_wanted.connect(self.composer.edit)
        header.theme_button.clicked.connect(self._change_theme)
        header.more.open_menu(MoreMenu(partial(act, self), self))
        header.settings.clicked.connect(lambda: act(self, Shortcut.SETTINGS))
        for each in Shortcut:
            shortcut = QShortcut(QKeySequence(each.keys), self)
            shortcut.activated.connect(lambda each=each: act(self, each))

    def export(self) -> QFileDialog:
        """Ask where to write the conversation, and in which format."""
        post, title = self.post, tr("Export the conversation")
        return ask_where(self, title, "conversation", FORMATS, lambda path: post(api.Export(path)))

    def _change_theme(self) -> None:
        """Take the other look. "Follow the system", which may look the same, is in the settings."""
        other = Mode.LIGHT if self._theme.is_dark else Mode.DARK
        self.change(api.SettingKey.THEME, other.value)

    def stop_reply(self) -> None:
        """Esc ends the editing of a question; else it stops the reply, and leaves the line."""
        if self.composer.end_editing():
            return
        self.post(api.StopReply(by_escape=True))
        if self.composer.line.hasFocus():
            self.composer.line.clearFocus()

    def open_settings(self, part: api.Part | None, section: str = "") -> SettingsDialog:
        """Open the settings, at the page of a part or of a section if one is given."""
        if self._dialog is None:
            self._dialog = SettingsDialog(self._form, self._theme, self.parts, self)
            self._dialog.edited.connect(self.change)
            self._dialog.hear.connect(self.post)
            self._dialog.wake_training.noted.connect(self.on_event)
            self.closing.connect(self._dialog.wake_training.end)
        self._dialog.show_part(part, section)
        return self._dialog

    def _on_part_chosen(self, part: api.Part, at: QWidget) -> None:
        """A device is chosen from a menu below `at`, anything else in the settings."""
        if part in _DEVICES:
            self.device_menu(part).popup(at.mapToGlobal(at.rect().bottomLeft()))
        else:
            self.open_settings(part)

    def device_menu(self, part: api.Part) -> QMenu:
        """A menu to choose the device of MICROPHONE or LOUDSPEAKER; deletes itself when closed."""
        menu, key = QMenu(tr(NAMES[part]), self), _DEVICES[part]
        menu.aboutToHide.connect(menu.deleteLater)
        for name in ("", *self.parts.devices(part)):
            entry = menu.addAction(one_line(name or tr("System default")).replace("&", "&&"))
            entry.setCheckable(True)
            entry.setChecked(name == self._values[key])
            entry.triggered.connect(lambda _=False, name=name: self.change(key, name))
        return menu

    # -------------------------------------------------------------------- layout

    def _lay_out(self) -> None:
        self.setObjectName("root")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAcceptDrops(True)
        self.setWindowTitle("Rubato")
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setFocus()  # not on the first button, so that the talk key works from the start
        self._arrangement = Arrangement(self)
        self._fit_screen()
        self.resize(QSize(1100, 780).boundedTo(room_for_window(self)))

    def _fit_screen(self) -> None:
        self.setMinimumSize(QSize(*SMALLEST).boundedTo(room_for_window(self)))

    def _show_history(self, on: bool) -> None:
        self._arrangement.open_panel(on)
        if on:
            if self._arrangement.is_narrow:
                self.header.details.setChecked(False)
            self.history.take_focus()
        else:
            self.setFocus()

    def _uncover(self) -> None:
        """Show the conversation where the list of conversations lies over it."""
        if self._arrangement.hides_pages:
            self.header.history.setChecked(False)

    def _show_page(self) -> None:
        """Show the conversation or, while it is empty, how to begin. The first start stays while it
        is spoken to, which its first step asks for; a typed question puts it aside.
        """
        page: QWidget = self.welcome if self.conversation.is_blank else self.conversation
        if not self.first_start.is_done and (self.conversation.is_blank or not self._is_asked):
            page = self.first_start
        self._arrangement.show_page(page)

    def begin_first_start(self) -> None:
        self._is_asked = False  # the steps are shown over the conversation, which stays
        self.change(api.SettingKey.FIRST_START, 0)

    # ----------------------------------------------------------- Qt's own events

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrangement.fit(self.size())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        handle = self.windowHandle()
        if handle is not None:
            handle.installEventFilter(self.talk_key)
            handle.installEventFilter(self._precedence)
            handle.screenChanged.connect(self._fit_screen, Qt.ConnectionType.UniqueConnection)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._was_painted:
            self._was_painted = True
            QTimer.singleShot(0, self.first_painted.emit)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Letters that no widget handled begin a typed turn."""
        chord = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
        text = event.text()
        if text.isprintable() and text.strip() and not event.modifiers() & chord:
            self.composer.type(text)
        else:
            super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """A file may be dropped anywhere in the window."""
        self.side.voices.dragEnterEvent(event)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.side.voices.dragLeaveEvent(event)

    def dropEvent(self, event: QDropEvent) -> None:
        if self.reading.take(event.mimeData()):
            self.side.voices.target.invite(False)
            return
        self.side.voices.dropEvent(event)
        if self._arrangement.is_narrow and dropped_file(event.mimeData()) is not None:
            self.header.details.setChecked(True)

    def closeEvent(self, event: QCloseEvent) -> None:
        if self.closing_hides():
            event.ignore()
            self.hide()
            self.put_away.emit()
        else:
            event.accept()
            self.quit()

    def quit(self) -> None:
        """End the program, wherever the window is."""
        self.hide()
        self.closing.emit()
