"""The program with a stand-in for its engine, for test_beyond_the_window.py and for who reads the
screen (test_screen_reader.py); all else is real.

    python -m tests.end_to_end.beyond [--start-hidden] [--talk-key]

With --talk-key F9 talks whatever has the focus. A typed line is answered by a notice and a fault.

Commands that reach the engine are written to standard output, one a line, and so is every change
of what can be seen.
"""

import sys
from collections.abc import Callable

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from app import program
from app.presence import tray
from app.window import Window
from engine.api import ChangeSetting, Command, Event, Failed, Notice, Part, SendText, Settings
from engine.settings import change
from tests.help.fakes.engine import READY, FakeEngine, spoken_turn

LOOK_MS = 50
FAULT = Failed("device", "The microphone was unplugged.", "Plug it in.", part=Part.MICROPHONE)
SCRIPT = (*READY, *spoken_turn(1, "What time is it?", "It is noon."))


class WritingEngine(FakeEngine):
    def __init__(self, settings: Settings, emit: Callable[[Event], None]) -> None:
        super().__init__(settings, emit, script=SCRIPT)

    def post(self, command: Command) -> None:
        super().post(command)
        changes = isinstance(command, ChangeSetting)
        say(f"{command.key} {command.value}" if changes else command)
        if isinstance(command, SendText):
            self.emit(Notice("Timer set."))
            self.emit(FAULT)


def say(what: object) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


def main() -> int:
    tray._LOOK_MS = LOOK_MS  # no test waits for five seconds
    application = program.make_application()
    shown: list[str] = [""]

    def look() -> None:
        windows = [w for w in QApplication.topLevelWidgets() if isinstance(w, Window)]
        if not windows:
            return
        window = windows[0]
        seen = "hidden" if not window.isVisible() else "shown"
        seen = "minimised" if window.isVisible() and window.isMinimized() else seen
        if seen != shown[0]:
            shown[0] = seen
            say(f"window {seen}")

    clock = QTimer(application, interval=LOOK_MS)
    clock.timeout.connect(look)
    clock.start()
    start = program.Start(hidden="--start-hidden" in sys.argv)
    settings = change(Settings(), "window.first_start", 5)  # it is over
    if "--talk-key" in sys.argv:
        settings = change(settings, "presence.talk_key", "F9")
    return program.run(settings, WritingEngine, start=start)


if __name__ == "__main__":
    sys.exit(main())
