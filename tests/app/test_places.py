"""What a person may be holding keeps its place, and what is shown is true at once."""

from collections.abc import Callable, Iterator
from threading import Thread

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QWidget

from app.bridge import Bridge
from app.window import Window
from engine import api
from tests.help.fakes.engine import READY, FakeEngine, measurements, speaking_turn, spoken_turn
from tests.help.window import tell

SIZES = [(480, 432), (480, 640), (792, 432), (952, 492), (900, 640), (1280, 800), (1600, 1000)]
LONG = "It is out of order, and this sentence says at length what happened to it. " * 5
TIMERS = tuple(api.TimerSet(4e9 + at, "Tea", "Tea is ready", at) for at in range(5))
STATES: dict[str, tuple[api.Event, ...]] = {
    "loading": (api.Loading(api.Part.RECOGNISER, "Loading a large model", 0.4),),
    "ready": READY,
    "speaking": speaking_turn(1, "Convert", "Ten miles are about 16 km. " * 40, word="about"),
    "measured": measurements(1),
    "interrupted": spoken_turn(1, "Convert", "Ten", ending=api.Ending.INTERRUPTED_BY_ESCAPE),
    "thinking": (
        api.Heard(2, LONG, 0.5, "sphinx"),
        api.PhaseChanged(2, api.Phase.THINKING),
        api.Thought(2, LONG),
    ),
    "asleep": (
        api.PhaseChanged(2, api.Phase.IDLE),
        api.SleepChanged(True, "hey Rubato, my dear old friend"),
    ),
    "muted": (api.SleepChanged(False, ""), api.SettingChanged("audio.muted", True)),
    "no microphone": (api.Failed("device", LONG, LONG, None, api.Part.MICROPHONE),),
    "needs attention": tuple(api.Failed("broken", LONG, LONG, None, part) for part in api.Part),
    "one long fault": (*READY, api.Failed("model", LONG, LONG)),
    "no rate": (api.VoicesChanged(("Fixed",), "Fixed", has_rate=False),),
    "timers": (api.TimersChanged(TIMERS),),
    "notice": (api.Notice(LONG),),
}


def settle(*, rounds: int = 8) -> None:
    """Lines that wrap take some rounds to find their height."""
    for _ in range(rounds):
        QApplication.processEvents()


def held(window: Window) -> dict[str, QRect]:
    """What a hand may be on, in the window's coordinates."""
    composer = window.composer
    widgets: dict[str, QWidget] = {
        "rate": window.stage.rate.slider,
        "line": composer.line,
        "stop": composer.stop,
        "talk": composer.talk,
        "microphone": window.header.microphone,
        "volume": window.header.volume,
    }
    seen = {name: each for name, each in widgets.items() if each.isVisible()}
    return {name: QRect(w.mapTo(window, QPoint(0, 0)), w.size()) for name, w in seen.items()}


def moved(window: Window) -> list[str]:
    """In which state what has another place than at the start."""
    settle()
    first = held(window)
    assert first.keys() >= {"rate", "line", "stop", "talk"}
    faults = []
    for name, events in STATES.items():
        tell(window, *events)
        settle()
        now = held(window)
        faults += [f"{what} in {name}: {now[what]}" for what in first if now[what] != first[what]]
    return faults


@pytest.fixture
def large_text(qapp: QApplication) -> Iterator[None]:
    usual = qapp.font()
    large = qapp.font()
    large.setPointSizeF(usual.pointSizeF() * 1.6)
    qapp.setFont(large)
    yield
    qapp.setFont(usual)


def move_to(window: Window, name: str) -> None:
    screen = next(each for each in QGuiApplication.screens() if each.name() == name)
    window.move(screen.geometry().topLeft())
    settle()
    assert window.screen() is screen


@pytest.fixture
def small_screen(window: Window) -> Window:
    move_to(window, "small")
    return window


@pytest.mark.parametrize("size", SIZES)
def test_nothing_that_may_be_held_moves_when_the_state_changes(small_screen, size):
    small_screen.resize(*size)
    settle()
    assert (small_screen.width(), small_screen.height()) == size
    assert moved(small_screen) == []
    slider = small_screen.stage.rate.slider
    assert size[1] < 600 or slider.height() >= slider.sizeHint().height()  # it keeps its scale


@pytest.mark.parametrize("size", [(700, 640), (1280, 900)])
@pytest.mark.usefixtures("large_text")
def test_nor_with_large_text(window, size):
    window.resize(*size)
    assert moved(window) == []


@pytest.mark.parametrize("name", ["small", "doubled"])
def test_on_a_small_screen_the_window_is_small_enough(window, name):
    move_to(window, name)
    window.resize(1, 1)
    settle()
    assert window.height() < window.screen().availableSize().height()
    for events in STATES.values():
        tell(window, *events)
    settle()
    for what, place in held(window).items():
        assert window.rect().contains(place), what


def test_a_small_screen_sees_all_of_a_settings_page(small_screen):
    page = small_screen.side.voices.open_page()
    settle()
    room = small_screen.screen().availableSize()
    assert page.height() < room.height()
    assert page.width() <= room.width()


SENTENCE = "The metronome was patented by Johann Maelzel in 1815, and argued about since. "


def stopped(turn: int, ending: api.Ending) -> tuple[api.Event, ...]:
    ended = api.TurnEnded(turn, ending, "a", SENTENCE, "The", SENTENCE)
    return ended, api.PhaseChanged(turn, api.Phase.IDLE)


CASES: dict[str, Callable[[int], tuple[api.Event, ...]]] = {
    "Listening": lambda turn: (api.PhaseChanged(turn, api.Phase.LISTENING),),
    "Thinking": lambda turn: (api.PhaseChanged(turn, api.Phase.THINKING),),
    "Speaking": lambda turn: (api.PhaseChanged(turn, api.Phase.SPEAKING),),
    "Ready": lambda turn: stopped(turn, api.Ending.INTERRUPTED_BY_ESCAPE),
}


@pytest.mark.parametrize("size", [(480, 640), (1600, 1000)])
def test_each_state_is_shown_as_soon_as_the_windows_thread_gets_to_it(qtbot, window, size):
    window.resize(*size)
    tell(window, *spoken_turn(1, "Go on", SENTENCE))
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
        words_heard = (api.WordHeard(turn, 4 * n, 4 * n + 3) for n in range(10))
        waiting = (*[api.ReplyDelta(turn, SENTENCE)] * 20, *[api.Levels(-30.0, -20.0)] * 10)
        events = (*waiting, *words_heard, *case(turn))
        thread = Thread(target=lambda told=events: [made[0].emit(each) for each in told])
        thread.start()  # the engine speaks on threads of its own
        thread.join()
        QApplication.processEvents()
        assert window.stage.phase.text() == words
        assert window.stage.orb.accessibleDescription() == words
    with qtbot.waitSignal(bridge.closed):
        bridge.close()
