"""How long from the start of Python to the first frame, and what the window costs at rest.

Run: python tests/benchmarks/first_frame.py [SECONDS]
(with a display, or QT_QPA_PLATFORM=offscreen; SECONDS of rest to measure, default 10). Prints
milliseconds to the first frame, and processor time at rest in percent of one core.
"""

import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from PySide6.QtCore import QTimer

from app.look.theme import Mode, Theme
from app.program import make_application
from app.window import Window
from engine.api import Levels, Settings
from tests.help.fakes.engine import READY, spoken_turn

LEVELS_MS = 100  # as often as the engine sends them
SETTLE_MS = 2000


def since_process_start_s() -> float:
    """Seconds since this process began; where the system does not say, its processor time."""
    try:
        fields = Path("/proc/self/stat").read_text().rsplit(") ", 1)[1].split()
        began_s = int(fields[19]) / os.sysconf("SC_CLK_TCK")
        return time.clock_gettime(time.CLOCK_BOOTTIME) - began_s
    except OSError:
        return time.process_time()


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    application = make_application()
    window = Window(Settings(), lambda command: None, Theme(Mode.SYSTEM, application))
    levels = QTimer()
    levels.timeout.connect(lambda: window.on_event(Levels(-62.0, -120.0)))

    def painted() -> None:
        sys.stdout.write(f"first frame: {since_process_start_s() * 1000:.0f} ms\n")
        for event in (*READY, *spoken_turn(1, "What time is it?", "It is ten.")):
            window.on_event(event)
        levels.start(LEVELS_MS)
        QTimer.singleShot(SETTLE_MS, measure)

    def measure() -> None:
        begun, used = time.monotonic(), time.process_time()

        def report() -> None:
            share = (time.process_time() - used) / (time.monotonic() - begun)
            sys.stdout.write(f"at rest: {share * 100:.2f} % of one core\n")
            application.quit()

        QTimer.singleShot(int(seconds * 1000), report)

    window.first_painted.connect(painted)
    window.show()
    application.exec()


if __name__ == "__main__":
    main()
