"""The parts of Rubato outside its window: tray, notifications, global keys.

Invariant: begin() is called after the first frame, and a conversation needs nothing from here. A
feature that the desktop does not offer is left out, and reported if the person has asked for it.
"""

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QSystemTrayIcon

from app import background_job
from app.language import mark, tr
from app.presence.bus import Bus
from app.presence.command_handler import CommandHandler
from app.presence.keys.global_keys import KEYS, Action, GlobalKeys, source_here
from app.presence.media_keys import MediaKeys
from app.presence.notifications import Buttons, Notifications, ReducedMotion
from app.presence.tray import Tray
from app.settings.server import Server
from app.window import Window
from engine import api

_KINDS = {
    api.TimerKind.TIMER: mark("Timer"),
    api.TimerKind.ALARM: mark("Alarm"),
    api.TimerKind.REMINDER: mark("Reminder"),
}
_GOES_ON = mark("Rubato keeps running in the tray. Quit there, or with Ctrl+Q in the window.")


class Presence(QObject):
    """`tray` False: no icon, whatever the settings are."""

    def __init__(
        self, window: Window, handler: CommandHandler, settings: api.Settings, *, tray: bool
    ) -> None:
        super().__init__(window)
        self._window = window
        self._handler = handler
        self._may_have_tray = tray
        self._wants_tray = settings.presence.tray
        self._notifies = settings.presence.notifications
        self._was_put_away = False
        self._fetching: set[str] = set()  # models; that one was verified is not reported
        self._notifications: Notifications | None = None  # None until begin()
        self.bus = Bus(self)
        self.media_keys = MediaKeys(self.bus, handler, self)
        self.tray = Tray(handler, window.parts, parent=self)
        self._chosen = settings.presence
        self.keys = GlobalKeys(handler, lambda: source_here(self.bus), self)
        self.keys.failed.connect(lambda *texts: window.on_event(api.Failed("global key", *texts)))
        self.keys.bound.connect(lambda text: window.on_event(api.Notice(text)))
        self.keys.bound.connect(window.first_start.keys_given)
        self.keys.talk_pressed.connect(window.first_start.key_felt_everywhere)
        self.server = Server(settings, window)
        self.tray.quit_chosen.connect(window.quit)
        self.tray.settings_chosen.connect(self._open_settings)
        window.closing_hides = lambda: self.tray.is_there
        window.put_away.connect(self._on_put_away)

    def begin(self) -> None:
        """Connect to the desktop, listen for commands, and set up the tray and the global keys."""
        self.bus.connect_to_session()
        self._notifications = Notifications(self.bus, self._show_balloon, self)
        self._notifications.clicked.connect(self._handler.show)
        self.server.begin()
        self._stillness = ReducedMotion(self.bus, self._window.motion.follow_system)
        self.tray.want(self._may_have_tray and self._wants_tray)
        self.keys.choose(
            {action: getattr(self._chosen, f"{action.value}_key") for action in Action}
        )

    def end(self) -> None:
        """Disconnect from the desktop, and end the processes that Rubato still runs."""
        self.tray.want(False)
        self.keys.close()
        self.server.end()
        self.bus.close()
        background_job.finish_all()

    def start_hidden(self) -> None:
        """Start without the window: in the tray, or minimised until there is a tray."""
        if not self.tray.is_there:
            self.tray.came.connect(self._hide_minimised)
            self._window.showMinimized()

    def on_event(self, event: api.Event) -> None:
        self.tray.on_event(event)
        self.media_keys.on_event(event)
        match event:
            case api.TimerRang() if not self._window.isActiveWindow():
                self._tell_timer(event)
            case api.TimersChanged(timers) if self._notifications is not None:
                rang = frozenset(each.number for each in timers if each.rang_at is not None)
                self._notifications.keep_timers(rang)
            case api.Failed(message=message, part=api.Part.MICROPHONE) if (
                not self._window.isVisible()
            ):
                self.notify(tr("The microphone does not work"), message)
            case api.ModelProgress(name, api.Activity.FETCHING):
                self._fetching.add(name)
            case api.ModelSettled(name, text) if name in self._fetching:
                self._fetching.discard(name)
                if not self._window.isActiveWindow():
                    self.notify(tr("Fetching {name}", name=name), text)
            case api.SettingChanged(key, value):
                self._on_setting(key, value)

    def notify(self, title: str, text: str, buttons: Buttons | None = None) -> None:
        """Show a notification, unless the person wants none."""
        if self._notifies and self._notifications is not None:
            self._notifications.show(title, text, buttons)

    def _tell_timer(self, rang: api.TimerRang) -> None:
        post, number = self._handler.post, (rang.number,)
        acts = {
            tr("Snooze"): lambda: post(api.ExtendTimers(number, api.SNOOZE_S)),
            tr("Dismiss"): lambda: post(api.CancelTimers(number)),
        }
        self.notify(tr(_KINDS[rang.kind]), rang.text, Buttons(rang.number, acts))

    def _on_setting(self, key: str, value: api.Value) -> None:
        self.server.choose(key, value)
        if key == api.SettingKey.TRAY:
            self._wants_tray = bool(value)
            self.tray.want(self._may_have_tray and self._wants_tray)
            if not self._wants_tray and not self._window.isVisible():
                self._handler.show()  # otherwise it could not be reached any more
        elif key == api.SettingKey.NOTIFICATIONS:
            self._notifies = bool(value)
        elif key in KEYS:
            self.keys.choose({KEYS[key]: str(value)})

    def _on_put_away(self) -> None:
        if not self._was_put_away:
            self._was_put_away = True
            self.notify(tr("Rubato is still here"), tr(_GOES_ON))

    def _hide_minimised(self) -> None:
        if self._window.isMinimized():
            self._window.hide()

    def _open_settings(self) -> None:
        self._handler.show()
        self._window.open_settings(None)

    def _show_balloon(self, title: str, text: str) -> None:
        """Show a balloon at the tray icon, for desktops without a notification service."""
        if self.tray.icon is not None:
            information = QSystemTrayIcon.MessageIcon.Information
            self.tray.icon.showMessage(title, text, information)
