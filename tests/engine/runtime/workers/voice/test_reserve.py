"""What stays in the ring is what a voice has needed: for its first frame, and for those behind."""

from types import SimpleNamespace

import pytest

from engine.runtime.turn.playback import KEPT_MS
from engine.runtime.workers.voice import reserve as file
from engine.runtime.workers.voice.reserve import _BEHIND_MS, _BLOCK_MS, Reserve


class Steps:
    """A reserve, and steps that take a time and make a frame."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock = SimpleNamespace(now=100.0)
        monkeypatch.setattr(file, "time", SimpleNamespace(monotonic=lambda: self.clock.now))
        self.reserve = Reserve()

    def make(self, *steps: tuple[float, float], moved: bool = False) -> None:
        """Milliseconds that each step takes, and that its frame lasts."""
        self.reserve.begin(moved=moved)
        for took_ms, frame_ms in steps:
            self.reserve.note()
            self.clock.now += took_ms / 1000
            self.reserve.come(frame_ms)
        self.reserve.note()
        self.reserve.end()


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Steps:
    return Steps(monkeypatch)


@pytest.mark.parametrize(
    ("made", "kept_ms"),
    [
        pytest.param([(10, 80), (10, 80)], KEPT_MS, id="quick: what a loaded machine needs"),
        pytest.param([(100, 80), (10, 80)], 100 + _BLOCK_MS, id="slow to begin"),
        pytest.param(  # less what was made before
            [(100, 80), (0, 80), (300, 80)], 400 - 160 + _BEHIND_MS, id="slow behind the first"
        ),
        pytest.param([(20, 1000), (300, 80)], KEPT_MS, id="slow, with much made before it"),
        pytest.param([(5000, 80)], 500, id="a hiccup, to a limit"),
    ],
)
def test_as_much_is_kept_as_the_voice_has_needed(
    steps: Steps, made: list[tuple[float, float]], kept_ms: float
) -> None:
    steps.make(*made)
    assert steps.reserve.kept_ms == pytest.approx(kept_ms)


def test_once_the_slider_was_moved_that_alone_counts(steps: Steps) -> None:
    """A reply's first frame takes longer, because its words are new."""
    steps.make((300, 200), (10, 80))
    steps.make((120, 200), (10, 80), moved=True)
    steps.make((400, 200), (10, 80))
    assert steps.reserve.kept_ms == pytest.approx(120 + _BLOCK_MS)


def test_most_first_frames_come_in_time_and_all_behind_them(steps: Steps) -> None:
    for first_ms in (100, 100, 100, 250):
        steps.make((first_ms, 200), (10, 80), moved=True)
    assert steps.reserve.kept_ms == pytest.approx(100 + _BLOCK_MS)
    steps.make((100, 80), (250, 80), moved=True)
    assert steps.reserve.kept_ms == pytest.approx(350 - 80 + _BEHIND_MS)


def test_a_hiccup_is_forgotten_and_waiting_for_words_is_no_need(steps: Steps) -> None:
    for took_ms in (5000, *[10] * 12):
        steps.make((took_ms, 80))
    steps.reserve.begin()
    steps.clock.now += 5
    steps.reserve.end()
    assert steps.reserve.kept_ms == KEPT_MS


@pytest.mark.parametrize(
    ("made", "held_ms"),
    [
        ([(100, 80), (0, 80), (180, 80)], 1.5 * (20 + _BEHIND_MS)),
        ([(300, 200), (50, 200), (80, 200)], 0),  # the next ones come in time
        ([(300, 80), (1000, 80)], 150),  # never for long
    ],
)
def test_a_first_frame_is_held_back_for_what_the_next_ones_needed(
    steps: Steps, made: list[tuple[float, float]], held_ms: float
) -> None:
    steps.make(*made)
    assert steps.reserve.held_ms == pytest.approx(held_ms)
