"""A person who opens the window, wants conversations kept, types a question, hears the answer, and
after a while closes it.

    python -m tests.end_to_end.short_visit

The program itself from its first line on, with the person's own settings; for alone.py.
"""

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from app import program
from app.__main__ import main as rubato
from app.program import make_application
from app.window import Window
from engine.api import ConversationsChanged, Engine, Event, Part, Ready, Settings, TurnEnded

STAY_S = 6.0  # ONNX Runtime first calls home some seconds after it was loaded
PATIENCE_S = 200.0  # a loaded machine is slow
Emit = Callable[[Event], None]


def main() -> int:
    seen: list[Event] = []
    open_window = program.run

    def watched(settings: Settings, make: Callable[[Settings, Emit], Engine], **how: Any) -> int:
        def make_engine(settings: Settings, emit: Emit) -> Engine:
            def keep(event: Event) -> None:
                seen.append(event)
                emit(event)

            return make(settings, keep)

        application = make_application()
        steps = visit(seen)
        clock = QTimer(application, interval=50)
        clock.timeout.connect(lambda: next(steps, None))
        clock.start()
        return open_window(settings, make_engine, **how)

    program.run = watched
    return rubato([])


def visit(seen: list[Event]) -> Iterator[None]:
    """What the person does, as far as it can go on now."""
    shown = next(w for w in QApplication.topLevelWidgets() if isinstance(w, Window))
    gives_up_at = time.monotonic() + PATIENCE_S

    def waits(until: Callable[[], bool]) -> Iterator[None]:
        while not until() and time.monotonic() < gives_up_at:
            yield

    yield from waits(lambda: {e.part for e in seen if isinstance(e, Ready)} == set(Part))
    shown.change("history.keep", "forever")
    shown.composer.line.setText("what time is it")
    shown.composer.line.returnPressed.emit()
    yield from waits(lambda: any(isinstance(event, TurnEnded) for event in seen))
    yield from waits(lambda: any(isinstance(event, ConversationsChanged) for event in seen))
    leaves_at = time.monotonic() + STAY_S
    yield from waits(lambda: time.monotonic() > leaves_at)
    told = [e for e in seen if isinstance(e, Ready | TurnEnded | ConversationsChanged)]
    sys.stderr.write(f"{told}\n")
    shown.close()


if __name__ == "__main__":
    sys.exit(main())
