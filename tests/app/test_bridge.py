"""Slow engine calls stay off the Qt thread, commands in order; closing never freezes the window."""

import threading
import time
from collections.abc import Callable

import pytest
from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication

from app.bridge import Bridge
from app.program import run
from app.stage.panel import RatePanel
from app.window import Window
from engine import api
from tests.help.fakes.engine import READY, FakeEngine, speaking_turn


class Opened:
    """A bridge to a stand-in for the engine, and what came over it."""

    def __init__(self, kind: Callable[..., FakeEngine] = FakeEngine, **how: object) -> None:
        self.events: list[api.Event] = []
        self.engines: list[FakeEngine] = []
        self.bridge = Bridge(lambda emit: self._make(kind(api.Settings(), emit, **how)))
        self.bridge.arrived.connect(self.events.append)
        self.bridge.open()

    def _make(self, engine: FakeEngine) -> FakeEngine:
        self.engines.append(engine)
        return engine

    def told_of(self, key: str) -> list[object]:
        changes = [each for each in self.events if isinstance(each, api.SettingChanged)]
        return [each.value for each in changes if each.key == key]


def close(bridge: Bridge, qtbot) -> None:
    with qtbot.waitSignal(bridge.closed, timeout=5000):
        bridge.close()


def rates(*values: float) -> list[api.ChangeSetting]:
    return [api.ChangeSetting("speech.rate", each) for each in values]


def test_commands_wait_for_the_start_and_later_ones_follow_them_at_once(qtbot):
    gate = threading.Event()

    class Slow(FakeEngine):
        def start(self) -> None:
            assert gate.wait(10)
            super().start()

    opened = Opened(Slow)
    early, later = rates(1.0, 2.0, 3.0), rates(4.0, 5.0)
    for command in early:
        opened.bridge.post(command)
    qtbot.waitUntil(lambda: bool(opened.engines))
    assert opened.engines[0].commands == []
    gate.set()
    qtbot.waitUntil(lambda: bool(opened.engines[0].commands))
    for command in later:
        opened.bridge.post(command)
    values = [command.value for command in opened.engines[0].commands]
    assert values == [each.value for each in (*early, *later)]
    close(opened.bridge, qtbot)
    opened.bridge.close()  # once more, and a late command: harmless
    opened.bridge.post(api.SendText("late"))
    assert opened.engines[0].is_stopped
    assert len(opened.engines[0].commands) == len(values)


def test_commands_that_still_wait_reach_the_engine_before_it_stops(qtbot):
    threads = []

    class Watched(FakeEngine):
        def start(self) -> None:
            threads.append(threading.current_thread())

        def stop(self) -> None:
            threads.append(threading.current_thread())
            self.commands_at_stop = tuple(self.commands)

    opened = Opened(Watched)
    opened.bridge.post(rates(2.0)[0])
    close(opened.bridge, qtbot)
    assert [each.value for each in opened.engines[0].commands_at_stop] == [2.0]
    assert threads[0] is threads[1] is not threading.main_thread()


class AnsweringEngine(FakeEngine):
    """Tells what it is told of settings, and `meanwhile` before each answer."""

    meanwhile: tuple[api.SettingChanged, ...] = ()

    def post(self, command) -> None:
        super().post(command)
        for event in (
            *self.meanwhile,
            api.SettingChanged(command.key, command.value, command.origin),
        ):
            self.emit(event)


def test_of_a_setting_arrives_only_what_is_newer_than_the_windows_newest_change(qtbot):
    class Voice(AnsweringEngine):
        meanwhile = (
            api.SettingChanged("speech.rate", 3.0),
            api.SettingChanged("audio.volume", 0.5),
        )

    opened = Opened(Voice)
    qtbot.waitUntil(lambda: len(opened.events) == len(READY))
    assert opened.events == list(READY)
    for rate in (4.1, 4.2, 4.3):  # within one turn of the event loop: nothing is delivered between
        opened.bridge.post(api.ChangeSetting("speech.rate", rate))
    qtbot.waitUntil(lambda: opened.told_of("speech.rate") == [4.3])
    assert opened.told_of("audio.volume") == [0.5, 0.5, 0.5]
    close(opened.bridge, qtbot)


def test_what_comes_after_the_answer_arrives_and_so_does_a_refusal(qtbot):
    class Refusing(FakeEngine):
        def post(self, command) -> None:
            super().post(command)
            self.emit(api.SettingChanged(command.key, 4.0, command.origin))

    opened = Opened(Refusing)
    opened.bridge.post(api.ChangeSetting("speech.rate", 99.0))
    qtbot.waitUntil(lambda: opened.told_of("speech.rate") == [4.0])
    opened.engines[0].emit(api.SettingChanged("speech.rate", 3.5))
    qtbot.waitUntil(lambda: opened.told_of("speech.rate") == [4.0, 3.5])
    close(opened.bridge, qtbot)


def test_a_change_that_reached_no_engine_keeps_nothing_back(qtbot):
    script = (api.SettingChanged("speech.rate", 3.0),)
    bridge = Bridge(lambda emit: FakeEngine(api.Settings(), emit, script=script))
    events: list[api.Event] = []
    bridge.arrived.connect(events.append)
    bridge.post(api.ChangeSetting("speech.rate", 5.0))
    bridge.open()
    qtbot.waitUntil(lambda: script[0] in events)
    close(bridge, qtbot)


@pytest.mark.parametrize(
    "fault", [api.EngineError("It is broken.", hint="Mend it."), ZeroDivisionError()], ids=repr
)
def test_an_engine_that_cannot_be_made_is_a_fault_on_screen(qtbot, fault):
    def make(*_: object):
        raise fault

    opened = Opened(make)
    qtbot.waitUntil(lambda: len(opened.events) == 1)
    (told,) = opened.events
    assert told.code == "engine"
    if isinstance(fault, api.EngineError):
        assert told == api.Failed("engine", "It is broken.", "Mend it.")
    opened.bridge.post(api.StopReply())
    close(opened.bridge, qtbot)


def test_a_window_closed_before_its_first_frame_gets_no_engine(qtbot):
    made = []
    bridge = Bridge(made.append)
    close(bridge, qtbot)
    bridge.open()
    assert made == []


def window_on_screen() -> Window:
    """The window run() shows; windows of earlier tests may still wait to be deleted."""
    tops = QApplication.topLevelWidgets()
    return next(each for each in tops if isinstance(each, Window) and each.isVisible())


def run_until_closed(make, qapp, *, notes=()) -> int:
    """run(), ended after a while even if the window never closes."""
    watchdog = QTimer()
    watchdog.setSingleShot(True)
    watchdog.timeout.connect(qapp.quit)
    watchdog.start(20_000)
    status = run(api.Settings(), make, notes=notes)
    assert watchdog.isActive(), "the program did not end by itself"
    return status


def test_closing_mid_reply_hides_the_window_at_once_and_waits_for_the_engine_behind_it(qapp):
    gate = threading.Event()
    script = (*READY, *speaking_turn(1, "a", "It is ten.", word="is"))
    engines = []
    seen = {}

    def make(settings, emit):
        engines.append(FakeEngine(settings, emit, script=script, gate=gate))
        return engines[0]

    def close_mid_reply() -> None:
        window = window_on_screen()
        if not window.conversation.word_rects():
            return
        poll.stop()
        begun = time.monotonic()
        window.close()
        seen["close_s"] = time.monotonic() - begun
        seen["visible"] = window.isVisible()
        QTimer.singleShot(50, still_running)

    def still_running() -> None:
        seen["stopped too early"] = engines[0].is_stopped
        gate.set()

    poll = QTimer()
    poll.timeout.connect(close_mid_reply)
    poll.start(20)
    assert run_until_closed(make, qapp) == 0
    assert seen.pop("close_s") < 0.5  # a close that waited for the engine would wait for the gate
    assert seen == {"visible": False, "stopped too early": False}
    assert engines[0].is_stopped


def test_the_engine_is_made_after_the_first_frame_and_notes_are_shown(qapp):
    seen = {}

    def make(settings, emit):
        seen["painted"] = painted.is_set()
        return FakeEngine(settings, emit)

    def look() -> None:
        window = window_on_screen()
        if seen:
            poll.stop()
            seen["note"] = window.banner.message.text()
            window.close()

    painted = threading.Event()
    watcher = _PaintWatcher(painted)
    qapp.installEventFilter(watcher)
    poll = QTimer()
    poll.timeout.connect(look)
    poll.start(20)
    try:
        assert run_until_closed(make, qapp, notes=["A note."]) == 0
    finally:
        poll.stop()
        qapp.removeEventFilter(watcher)
    assert seen == {"painted": True, "note": "A note."}


class _PaintWatcher(QObject):
    def __init__(self, painted: threading.Event) -> None:
        super().__init__()
        self._painted = painted

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(watched, Window) and event.type() == QEvent.Type.Paint:
            self._painted.set()
        return False


def test_a_slider_that_is_moved_while_the_engine_answers_is_not_pulled_back(qtbot, theme):
    bridge = Opened(AnsweringEngine).bridge
    panel = RatePanel(bridge.post, theme, None)
    qtbot.addWidget(panel)
    bridge.arrived.connect(panel.on_event)
    panel.slider.show_rate(4.0)
    seen: list[float | None] = []
    panel.slider.shown_changed.connect(lambda: seen.append(panel.slider.rate))
    for _ in range(20):
        panel.slider.step(1)
        QApplication.processEvents()
    qtbot.waitUntil(lambda: not bridge._unanswered)
    assert seen == sorted(seen)
    assert panel.slider.rate == 6.0
    close(bridge, qtbot)
