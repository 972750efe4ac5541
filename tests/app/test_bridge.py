"""Engine calls stay off the Qt thread and in order; closing never freezes the window."""

import threading
import time

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication

from app.bridge import Bridge
from app.window import Window, run
from engine.api import (
    EngineError,
    Failed,
    Notice,
    SendText,
    SetRate,
    Settings,
    StopReply,
)
from tests.fakes_engine import READY, FakeEngine, speaking_turn


class Receiver:
    """Collects what arrives on the Qt thread."""

    def __init__(self, bridge: Bridge) -> None:
        self.events = []
        self.threads = set()
        bridge.arrived.connect(self.on_event, Qt.ConnectionType.QueuedConnection)

    def on_event(self, event) -> None:
        self.events.append(event)
        self.threads.add(threading.current_thread())


def opened(make, qtbot) -> tuple[Bridge, Receiver]:
    bridge = Bridge(make)
    receiver = Receiver(bridge)
    bridge.open()
    return bridge, receiver


def close(bridge: Bridge, qtbot) -> None:
    with qtbot.waitSignal(bridge.closed, timeout=5000):
        bridge.close()


def test_events_arrive_in_order(qtbot) -> None:
    bridge, receiver = opened(lambda emit: FakeEngine(Settings(), emit), qtbot)
    qtbot.waitUntil(lambda: len(receiver.events) == len(READY))
    assert receiver.events == list(READY)
    close(bridge, qtbot)


def test_commands_arrive_in_order_and_off_the_qt_thread(qtbot) -> None:
    engines = []
    threads = set()

    class Watched(FakeEngine):
        def post(self, command) -> None:
            threads.add(threading.current_thread())
            super().post(command)

    def make(emit):
        engines.append(Watched(Settings(), emit))
        return engines[0]

    bridge, _ = opened(make, qtbot)
    commands = [SetRate(each / 10) for each in range(10, 70)]
    for command in commands:
        bridge.post(command)
    qtbot.waitUntil(lambda: engines and len(engines[0].commands) == len(commands))
    assert engines[0].commands == commands
    assert threading.main_thread() not in threads
    close(bridge, qtbot)


def test_an_engine_that_cannot_be_made_is_a_fault_on_screen(qtbot) -> None:
    def make(emit):
        raise EngineError("It is broken.", hint="Mend it.")

    bridge, receiver = opened(make, qtbot)
    qtbot.waitUntil(lambda: receiver.events == [Failed("engine", "It is broken.", "Mend it.")])
    bridge.post(StopReply())
    close(bridge, qtbot)


def test_an_engine_that_breaks_in_an_unforeseen_way_is_a_fault_too(qtbot) -> None:
    def make(emit):
        raise ZeroDivisionError

    bridge, receiver = opened(make, qtbot)
    qtbot.waitUntil(lambda: len(receiver.events) == 1)
    assert receiver.events[0].code == "engine"
    close(bridge, qtbot)


def test_closing_twice_and_posting_afterwards_is_harmless(qtbot) -> None:
    engines = []

    def make(emit):
        engines.append(FakeEngine(Settings(), emit))
        return engines[0]

    bridge, _ = opened(make, qtbot)
    close(bridge, qtbot)
    bridge.close()
    bridge.post(SendText("late"))
    assert engines[0].is_stopped
    assert engines[0].commands == []


def window_of_the_program() -> Window:
    return next(each for each in QApplication.topLevelWidgets() if isinstance(each, Window))


def test_closing_mid_reply_hides_the_window_at_once_and_waits_for_the_engine_behind_it(
    qapp,
) -> None:
    gate = threading.Event()
    script = (*READY, *speaking_turn(1, "a", "It is ten.", word="is"))
    engines = []
    seen = {}

    def make(settings, emit):
        engines.append(FakeEngine(settings, emit, script=script, gate=gate))
        return engines[0]

    def close_it() -> None:
        window = window_of_the_program()
        seen["marked"] = bool(window.conversation.word_rects())
        begun = time.monotonic()
        window.close()
        seen["close_s"] = time.monotonic() - begun
        seen["visible"] = window.isVisible()
        QTimer.singleShot(50, still_running)

    def still_running() -> None:
        seen["stopped too early"] = engines[0].is_stopped
        gate.set()

    QTimer.singleShot(400, close_it)
    status = run(Settings(), make, notes=["The settings file could not be read."])
    assert status == 0
    assert seen.pop("close_s") < 0.3
    assert seen == {"marked": True, "visible": False, "stopped too early": False}
    assert engines[0].is_stopped


def test_the_engine_is_made_after_the_first_frame_and_notes_are_shown(qapp) -> None:
    seen = {}

    def make(settings, emit):
        window = window_of_the_program()
        seen["painted"] = window._was_painted
        seen["note"] = window.banner.message.text()
        engine = FakeEngine(settings, emit, script=(Notice("ready"),))
        QTimer.singleShot(0, qapp, window.close)
        return engine

    assert run(Settings(), make, notes=["A note."]) == 0
    assert seen == {"painted": True, "note": "A note."}
