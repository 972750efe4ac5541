"""What is shown is true at once: from an engine's event to the words on screen, through the bridge,
with everything that may come in between.

Counted is the time the window's thread works for it, which a busy machine does not lengthen; a slow
one does, and a core that is shared can be half as fast as a moment ago, so a fixed piece of work is
timed beside it.
"""

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread

import pytest
from PySide6.QtWidgets import QApplication

from app.bridge import Bridge
from engine import api
from tests.fakes_engine import READY, FakeEngine, spoken_turn

AT_ONCE_S = 0.1  # on a core that is not slow just now
FIXED_WORK_S = 0.017  # what `fixed_work_s` takes there
SENTENCE = "The metronome was patented by Johann Maelzel in 1815, and argued about since. "


def crowd(turn: int) -> Iterator[api.Event]:
    """What can be waiting when something happens: a long reply, levels, words heard."""
    yield from (api.ReplyDelta(turn, SENTENCE) for _ in range(20))
    yield from (api.Levels(-30.0, -20.0) for _ in range(10))
    yield from (api.WordHeard(turn, 4 * n, 4 * n + 3) for n in range(10))


def stopped(turn: int, ending: api.Ending) -> tuple[api.Event, ...]:
    ended = api.TurnEnded(turn, ending, "a", SENTENCE, "The", SENTENCE)
    return ended, api.PhaseChanged(turn, api.Phase.IDLE)


CASES: dict[str, Callable[[int], tuple[api.Event, ...]]] = {
    "Listening": lambda turn: (api.PhaseChanged(turn, api.Phase.LISTENING),),
    "Thinking": lambda turn: (api.PhaseChanged(turn, api.Phase.THINKING),),
    "Speaking": lambda turn: (api.PhaseChanged(turn, api.Phase.SPEAKING),),
    "Interrupted": lambda turn: stopped(turn, api.Ending.INTERRUPTED_BY_ESCAPE),
    "Ready": lambda turn: stopped(turn, api.Ending.COMPLETE),
}


@contextmanager
def running(qtbot, window) -> Iterator[FakeEngine]:
    """An engine behind the window's bridge."""
    made: list[FakeEngine] = []

    def make(emit) -> FakeEngine:
        made.append(FakeEngine(api.Settings(), emit))
        return made[0]

    bridge = Bridge(make)
    bridge.arrived.connect(window.on_event)
    bridge.open()
    qtbot.waitUntil(lambda: bool(made) and made[0].is_started)
    QApplication.processEvents()
    yield made[0]
    with qtbot.waitSignal(bridge.closed):
        bridge.close()


@pytest.mark.parametrize("size", [(480, 640), (1600, 1000)])
def test_each_state_is_shown_within_a_tenth_of_a_second(qtbot, window, size):
    window.resize(*size)
    for turn in range(1, 9):  # a conversation that is on its way already
        for event in spoken_turn(turn, "Go on", SENTENCE * 10):
            window.on_event(event)
    with running(qtbot, window) as engine:  # which speaks on a thread of its own
        for turn, (words, case) in enumerate(CASES.items(), 9):
            window.on_event(api.PhaseChanged(turn, api.Phase.IDLE))
            other = api.Phase.THINKING if words != "Thinking" else api.Phase.LISTENING
            window.on_event(api.PhaseChanged(turn, other))
            QApplication.processEvents()
            assert window.stage.phase.text() != words
            events = (*crowd(turn), *case(turn))
            thread = Thread(target=lambda told=events: [engine.emit(each) for each in told])
            thread.start()
            thread.join()
            slowness = max(1.0, fixed_work_s() / FIXED_WORK_S)
            took_s = handling_s(window)
            slowness = max(slowness, fixed_work_s() / FIXED_WORK_S)
            assert window.stage.phase.text() == words
            assert window.stage.orb.accessibleDescription() == words
            told = f"{words}: {took_s * 1000:.0f} ms on a core {slowness:.1f} times as slow"
            assert took_s < AT_ONCE_S * slowness, told


def handling_s(window) -> float:
    """How long the window's thread works for what waits for it, and to paint."""
    gc.collect()  # what other tests left and loaded is not the window's to walk through
    began_s = time.thread_time()
    QApplication.processEvents()
    window.repaint()
    return time.thread_time() - began_s


def fixed_work_s() -> float:
    """How long this thread works for something that never changes."""
    began_s = time.thread_time()
    sum(number * number for number in range(300_000))
    return time.thread_time() - began_s


def test_a_stopped_reply_says_so_and_then_rests_and_who_interrupts_by_speaking_is_listened_to(
    window,
):
    def shown(*events: api.Event) -> str:
        for event in events:
            window.on_event(event)
        return window.stage.phase.text()

    speaking = api.PhaseChanged(9, api.Phase.SPEAKING)
    shown(*READY, speaking)
    assert shown(*stopped(9, api.Ending.INTERRUPTED_BY_STOP)) == "Interrupted"
    window.stage._stopped.timeout.emit()
    assert shown() == "Ready"
    shown(speaking, stopped(9, api.Ending.INTERRUPTED_BY_SPEECH)[0])
    assert shown(api.PhaseChanged(10, api.Phase.LISTENING)) == "Listening"
    assert shown(api.PhaseChanged(10, api.Phase.IDLE)) == "Ready"  # nothing was said
