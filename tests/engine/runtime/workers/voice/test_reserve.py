"""What stays in the ring is what a voice has needed: for its first frame, and for those behind."""

from types import SimpleNamespace

import pytest

from engine.runtime.turn.playback import KEPT_MS
from engine.runtime.workers.voice import reserve as file
from engine.runtime.workers.voice.reserve import _BLOCK_MS, Reserve


class Steps:
    """A reserve, and steps that take a time and make a frame."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock = SimpleNamespace(now=100.0)
        monkeypatch.setattr(file, "time", SimpleNamespace(monotonic=lambda: self.clock.now))
        self.reserve = Reserve()

    def make(self, *steps: tuple[float, float]) -> None:
        """Milliseconds that each step takes, and that its frame lasts."""
        self.reserve.begin()
        for took_ms, frame_ms in steps:
            self.reserve.note()
            self.clock.now += took_ms / 1000
            self.reserve.come(frame_ms)
        self.reserve.note()
        self.reserve.end()


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Steps:
    return Steps(monkeypatch)


def test_a_quick_voice_keeps_what_a_loaded_machine_needs(steps: Steps) -> None:
    steps.make((10, 80), (10, 80))
    assert steps.reserve.kept_ms == KEPT_MS


def test_a_slow_first_frame_is_kept_for(steps: Steps) -> None:
    steps.make((100, 80), (10, 80))
    assert steps.reserve.kept_ms == pytest.approx(1.5 * (100 + _BLOCK_MS))


def test_a_slow_frame_behind_the_first_counts_less_what_was_made_before(steps: Steps) -> None:
    steps.make((100, 80), (0, 80), (300, 80))
    assert steps.reserve.kept_ms == pytest.approx(1.5 * (400 - 160 + _BLOCK_MS))


def test_a_slow_frame_with_much_made_before_it_needs_nothing(steps: Steps) -> None:
    steps.make((20, 1000), (300, 80))
    assert steps.reserve.kept_ms == KEPT_MS


def test_a_hiccup_counts_to_a_limit_and_is_forgotten(steps: Steps) -> None:
    steps.make((5000, 80))
    assert steps.reserve.kept_ms == 500
    for _ in range(200):
        steps.make((10, 80))
    assert steps.reserve.kept_ms == KEPT_MS


def test_waiting_for_words_is_no_need(steps: Steps) -> None:
    steps.reserve.begin()
    steps.clock.now += 5
    steps.reserve.end()
    assert steps.reserve.kept_ms == KEPT_MS


def test_a_first_frame_is_held_back_for_what_the_next_ones_needed(steps: Steps) -> None:
    steps.make((100, 80), (0, 80), (200, 80))
    assert steps.reserve.held_ms == pytest.approx(1.5 * (40 + _BLOCK_MS))


def test_a_first_frame_is_not_held_back_where_the_next_ones_come_in_time(steps: Steps) -> None:
    steps.make((300, 80), (50, 80), (80, 80))
    assert steps.reserve.held_ms == 0


def test_no_machine_is_so_slow_that_a_first_frame_is_held_back_for_long(steps: Steps) -> None:
    steps.make((300, 80), (1000, 80))
    assert steps.reserve.held_ms == 150
