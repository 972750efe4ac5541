"""The program with a window: one for each person, with an engine behind it, from start to end.

Invariant: of two simultaneous starts one becomes the program and the other tells it to show itself.
The engine is created after the first frame, and the program ends only when the engine has stopped.
"""

import ctypes
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.bridge import Bridge, Emit, EngineLike
from app.interrupt import Interrupt
from app.language.system import speak
from app.language.words import tr, translated
from app.look import file_dialogs
from app.look.icons import application_icon
from app.look.theme import Theme, load_fonts, mode_named
from app.presence import installation, remote
from app.presence.desk import Desk
from app.presence.desktop_entry import APP_ID
from app.presence.instance import Claim, Instance
from app.presence.presence import Presence
from app.watch import Watch
from app.window import Window
from engine.api import Settings, upkeep


@dataclass(frozen=True)
class Start:
    """How the program starts. `hidden`: without a window, as at login. `tray`: show an icon if
    there is a tray.
    """

    hidden: bool = False
    tray: bool = True


def make_application() -> QApplication:
    """The QApplication with our name, icon, style and font; the existing one, if there is one."""
    if sys.platform == "win32":  # otherwise the taskbar shows Python and its icon
        ctypes.windll.shell32.SetCurrentProcessExplicitAppUserModelID(APP_ID)
    file_dialogs.prefer_the_systems(os.environ)
    existing = QApplication.instance()
    application = existing if isinstance(existing, QApplication) else QApplication(sys.argv[:1])
    application.setApplicationName("Rubato")
    application.setDesktopFileName(APP_ID)
    application.setStyle("Fusion")  # the same everywhere; native styles ignore parts of ours
    application.setFont(load_fonts())
    application.setWindowIcon(application_icon())
    application.setQuitOnLastWindowClosed(False)  # only once the engine has stopped
    return application


def run(
    settings: Settings,
    make_engine: Callable[[Settings, Emit], EngineLike],
    *,
    notes: Sequence[str] = (),
    start: Start | None = None,
    crash_notes: upkeep.CrashNotes | None = None,
) -> int:
    """Show the window until it is closed and the engine has stopped; the exit status.

    `make_engine` is called after the first frame, not on the Qt thread. `notes` are sentences to
    show from the start, for example about a settings file that could not be read. `start` None:
    only the window, which no other program can reach. `crash_notes` None: nothing is noted.
    """
    application = make_application()
    speak(application, settings.window.language)
    desk = Desk()
    instance = Instance(desk.on_message)
    if start is not None and (claim := instance.claim()) is not Claim.OURS:
        if claim is Claim.TAKEN:
            return remote.raise_running(hidden=start.hidden) or 0
        notes = (
            *notes,
            tr("`rubato talk` and a second start cannot reach this. {fault}", fault=instance.fault),
        )
    watch = Watch(crash_notes)
    if broke := watch.begin():
        notes = (*notes, broke)
    theme = Theme(mode_named(settings.window.theme), application)
    bridge = Bridge(lambda emit: make_engine(settings, emit))
    window = Window(settings, bridge.post, theme)
    desk.serve(window)
    presence = Presence(window, desk, settings, tray=start is not None and start.tray)
    queued = Qt.ConnectionType.QueuedConnection
    bridge.arrived.connect(window.on_event)
    bridge.arrived.connect(presence.on_event)
    bridge.closed.connect(application.quit, queued)
    window.closing.connect(bridge.close)
    for note in notes:
        window.banner.add(translated(note))
    interrupt = Interrupt(window.quit, window)
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
    """Start the window first (unless hidden), then the engine, then tray, notifications and
    keys."""
    if start is not None:
        window.first_painted.connect(installation.note_start)
    if start is not None and start.hidden:
        installation.note_start()
        bridge.open()
        presence.begin()
        presence.start_hidden()
        return
    window.first_painted.connect(bridge.open)
    if start is not None:
        window.first_painted.connect(presence.begin)
    window.show()
