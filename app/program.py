"""The program with a window, from start to end: one for each person, with an engine behind it. It
chooses the language, closes at Ctrl+C in the terminal as at the close button, and keeps notes of
crashes for the person.

Invariant: of two simultaneous starts one becomes the program and the other requests its window. The
engine is created after the first frame, and the program ends only when the engine has stopped.
"""

import ctypes
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import (
    QLibraryInfo,
    QLocale,
    QMessageLogContext,
    QObject,
    QSocketNotifier,
    Qt,
    QtMsgType,
    QTranslator,
    qInstallMessageHandler,
)
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from app import language
from app.bridge import Bridge, Emit
from app.desktop_entry import APP_ID
from app.language import tr, translated
from app.look import file_dialogs
from app.look.theme import Theme, load_fonts, mode_named
from app.presence import ipc_client
from app.presence.command_handler import CommandHandler
from app.presence.instance import Claim, Instance
from app.presence.presence import Presence
from app.window import Window
from engine.api import CrashNotes, Engine, Settings, resource


@dataclass(frozen=True)
class Start:
    """How the program starts: without a window, as at login; with an icon in the tray, if any."""

    hidden: bool = False
    tray: bool = True


def make_application() -> QApplication:
    """Return the QApplication, new or existing, with our name, icon, style and font."""
    if sys.platform == "win32":  # otherwise the taskbar shows Python and its icon
        ctypes.windll.shell32.SetCurrentProcessExplicitAppUserModelID(APP_ID)
    file_dialogs.prefer_the_systems(os.environ)
    existing = QApplication.instance()
    application = existing if isinstance(existing, QApplication) else QApplication(sys.argv[:1])
    application.setApplicationName("Rubato")
    application.setDesktopFileName(APP_ID)
    application.setStyle("Fusion")  # the same everywhere; native styles ignore parts of ours
    application.setFont(load_fonts())
    application.setWindowIcon(QIcon(str(resource("icons", "rubato.svg"))))
    application.setQuitOnLastWindowClosed(False)  # only once the engine has stopped
    return application


def run(
    settings: Settings,
    make_engine: Callable[[Settings, Emit], Engine],
    *,
    notes: Sequence[str] = (),
    start: Start | None = None,
    crash_notes: CrashNotes | None = None,
) -> int:
    """Show the window until it is closed and the engine has stopped; the exit status.

    `make_engine` is called after the first frame, not on the Qt thread. `notes` are sentences to
    show from the start, for example about a settings file that could not be read. `start` None:
    only the window, which no other program can reach. `crash_notes` None: nothing is noted.
    """
    application = make_application()
    install_language(application, settings.window.language)
    handler = CommandHandler()
    instance = Instance(handler.on_message)
    if start is not None and (claim := instance.claim()) is not Claim.OURS:
        if claim is Claim.TAKEN:
            return ipc_client.raise_running(hidden=start.hidden) or 0
        notes = (
            *notes,
            tr("`rubato talk` and a second start cannot reach this. {fault}", fault=instance.fault),
        )
    watch = CrashWatch(crash_notes)
    if broke := watch.begin():
        notes = (*notes, broke)
    theme = Theme(mode_named(settings.window.theme), application)
    bridge = Bridge(lambda emit: make_engine(settings, emit))
    window = Window(settings, bridge.post, theme)
    handler.serve(window)
    presence = Presence(window, handler, settings, tray=start is not None and start.tray)
    queued = Qt.ConnectionType.QueuedConnection
    bridge.arrived.connect(window.on_event)
    bridge.arrived.connect(presence.on_event)
    bridge.closed.connect(application.quit, queued)
    window.closing.connect(bridge.close)
    for note in notes:
        window.banner.add(translated(note))
    interrupt = SignalWatch(window.quit, window)
    _begin(window, bridge, presence, start)
    status = application.exec()
    presence.end()
    instance.close()
    interrupt.restore()
    watch.end()
    for made in (window, theme):
        made.deleteLater()
    return status


def _begin(window: Window, bridge: Bridge, presence: Presence, start: Start | None) -> None:
    """Start the window (unless hidden), then the engine, then tray, notifications and keys."""
    if start is not None and start.hidden:
        bridge.open()
        presence.begin()
        presence.start_hidden()
        return
    window.first_painted.connect(bridge.open)
    if start is not None:
        window.first_painted.connect(presence.begin)
    window.show()


_NAMED_BY_QT = {"pt": "pt_BR"}  # ours is Brazilian too; Qt has no other
_QUIET = (QtMsgType.QtDebugMsg, QtMsgType.QtInfoMsg)


class SignalWatch(QObject):
    """Calls `close` on SIGINT and SIGTERM for as long as it lives; main thread only.

    Invariant: the signal handler only makes Python notice the signal; closing happens on the Qt
    thread. (While Qt waits for events, Python runs no handlers; hence the socket.)
    """

    def __init__(self, close: Callable[[], object], parent: QObject) -> None:
        super().__init__(parent)
        self._close = close
        self._read, self._write = socket.socketpair()
        self._read.setblocking(False)
        self._write.setblocking(False)
        self._notifier = QSocketNotifier(self._read.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_readable)
        self._descriptor_before = signal.set_wakeup_fd(self._write.fileno())
        self._before = {
            number: signal.signal(number, lambda *_: None)
            for number in (signal.SIGINT, signal.SIGTERM)
        }

    def restore(self) -> None:
        """Put everything back as it was."""
        self._notifier.setEnabled(False)
        signal.set_wakeup_fd(self._descriptor_before)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._read.close()
        self._write.close()

    def _on_readable(self) -> None:
        self._read.recv(64)
        self._close()


class CrashWatch:
    """Crash notes between begin() and end(): the engine's hooks, and Qt's own warnings. `notes`
    None: notes nothing.

    Invariant: only the severity and the category of Qt's messages are noted, because the text may
    contain a file's name. The previous message handler still gets everything.
    """

    def __init__(self, notes: CrashNotes | None) -> None:
        self._notes = notes
        # The previous message handler; None = Qt's own.
        self._before: Callable[..., Any] | None = None

    def begin(self) -> str:
        """Start; return one sentence about a crash in the last run, or ""."""
        if self._notes is None:
            return ""
        broke = self._notes.begin()
        self._before = qInstallMessageHandler(self._on_message)
        return broke

    def end(self) -> None:
        if self._notes is not None:
            qInstallMessageHandler(self._before)
            self._notes.end()

    def _on_message(self, kind: QtMsgType, context: QMessageLogContext, words: str) -> None:
        if kind not in _QUIET:
            logging.getLogger(f"app.{context.category}").warning("severity=%s", kind)
        if self._before is not None:
            self._before(kind, context, words)
        elif kind is not QtMsgType.QtDebugMsg:
            sys.stderr.write(f"{words}\n")


def install_language(application: QApplication, chosen: str) -> str:
    """Install the language of the setting window.language, for our texts and Qt's (menus, typed
    numbers). Call it before the first widget is made. Return the code of the language.
    """
    code = of_system(QLocale.system().uiLanguages()) if chosen == "system" else chosen
    language.choose(code)
    system = QLocale.system()
    locale = QLocale(code)
    # a person with Austrian German also wants its number format
    QLocale.setDefault(system if system.language() == locale.language() else locale)
    application.installTranslator(qt_texts(code, application))
    return code


def qt_texts(code: str, parent: QObject | None = None) -> QTranslator:
    """Load Qt's own texts in this language; the translator is empty for English."""
    texts = QTranslator(parent)
    if code != "en":
        folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
        texts.load(f"qtbase_{_NAMED_BY_QT.get(code, code)}", folder)
    return texts


def of_system(preferred: list[str]) -> str:
    """The first of the person's preferred languages ('de-AT', 'en') that we have; else English."""
    codes = (each.replace("_", "-").split("-")[0].lower() for each in preferred)
    return next((code for code in codes if code in language.LANGUAGES), "en")
