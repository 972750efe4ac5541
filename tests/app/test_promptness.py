"""What is shown is true at once: from an engine's event to the words on screen, through the bridge,
with everything that may come in between.
"""

from collections.abc import Callable, Iterator
from threading import Thread

import pytest
from PySide6.QtWidgets import QApplication

from app.bridge import Bridge
from engine import api
from tests.fakes_engine import READY, FakeEngine, spoken_turn

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


@pytest.mark.parametrize("size", [(480, 640), (1600, 1000)])
def test_each_state_is_shown_as_soon_as_the_windows_thread_gets_to_it(qtbot, window, size):
    window.resize(*size)
    for event in spoken_turn(1, "Go on", SENTENCE):
        window.on_event(event)
    made: list[FakeEngine] = []

    def make(emit) -> FakeEngine:
        made.append(FakeEngine(api.Settings(), emit))
        return made[0]

    bridge = Bridge(make)
    bridge.arrived.connect(window.on_event)
    bridge.open()
    qtbot.waitUntil(lambda: bool(made) and made[0].is_started)
    for turn, (words, case) in enumerate(CASES.items(), 9):
        window.on_event(api.PhaseChanged(turn, api.Phase.IDLE))
        other = api.Phase.THINKING if words != "Thinking" else api.Phase.LISTENING
        window.on_event(api.PhaseChanged(turn, other))
        QApplication.processEvents()
        assert window.stage.phase.text() != words
        events = (*crowd(turn), *case(turn))
        thread = Thread(target=lambda told=events: [made[0].emit(each) for each in told])
        thread.start()  # the engine speaks on threads of its own
        thread.join()
        QApplication.processEvents()
        assert window.stage.phase.text() == words
        assert window.stage.orb.accessibleDescription() == words
    with qtbot.waitSignal(bridge.closed):
        bridge.close()


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
