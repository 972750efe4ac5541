"""What the canceller takes out, how its filters adapt, and the delay it finds."""

import numpy as np
import pytest
from scipy import signal

from engine.audio.base import Pcm
from engine.audio.echo import canceller as echo
from engine.audio.echo.canceller import (
    BLOCK,
    FRAME,
    SAMPLE_RATE,
    AdaptiveFilter,
    Cleaning,
    EchoCanceller,
)
from engine.audio.echo.near_end import DriftTracker
from engine.audio.pcm import level_db

DELAY = 480  # samples from played to heard

needs_livekit = pytest.mark.skipif(not echo.installed(), reason="livekit is not installed")


def babble(seconds: float, seed: int = 1) -> Pcm:
    """Noise that rises and falls like syllables."""
    rng = np.random.default_rng(seed)
    samples = int(seconds * SAMPLE_RATE)
    slow = np.abs(np.sin(np.arange(samples) * 2 * np.pi * 2 / SAMPLE_RATE))
    coloured = np.convolve(rng.standard_normal(samples), np.ones(8) / 8, "same")
    return (0.2 * slow * coloured).astype(np.float32)


def run(canceller: EchoCanceller, heard: Pcm, played: Pcm) -> Pcm:
    frames = range(0, len(heard) - FRAME + 1, FRAME)
    return np.concatenate(
        [canceller.process(heard[i : i + FRAME], played[i : i + FRAME], 30) for i in frames]
    )


def test_without_the_library_the_microphone_stays_as_it_is(monkeypatch):
    monkeypatch.setattr(echo, "find_spec", lambda name: None)
    canceller = echo.open_canceller(Cleaning())
    assert not canceller.cancels
    heard = babble(0.1)
    np.testing.assert_array_equal(run(canceller, heard, heard), heard)


@needs_livekit
def test_what_was_played_is_taken_out_and_what_is_said_stays():
    played = babble(4.0)
    heard = np.concatenate([np.zeros(DELAY, np.float32), 0.5 * played[:-DELAY]])
    cleaned = run(echo.open_canceller(Cleaning()), heard, played)
    assert level_db(cleaned[2 * SAMPLE_RATE :]) < level_db(heard[2 * SAMPLE_RATE :]) - 20
    said = run(echo.open_canceller(Cleaning()), played, np.zeros_like(played))
    assert level_db(said[SAMPLE_RATE:]) == pytest.approx(level_db(played[SAMPLE_RATE:]), abs=2)


@needs_livekit
def test_noise_can_be_taken_out_without_a_loudspeaker():
    rng = np.random.default_rng(3)
    noise = (0.01 * rng.standard_normal(4 * SAMPLE_RATE)).astype(np.float32)
    canceller = echo.open_canceller(Cleaning(echo=False, noise=True))
    assert canceller.improves
    assert not canceller.cancels
    cleaned = run(canceller, noise, np.zeros_like(noise))
    assert level_db(cleaned[-SAMPLE_RATE:]) < level_db(noise[-SAMPLE_RATE:]) - 6


RATE = 16_000


def room(seed: int = 1) -> Pcm:
    """A direct sound after 10 ms and a tail of 100 ms."""
    tail = np.random.default_rng(seed).standard_normal(1600) * np.exp(-np.arange(1600) / 300)
    return np.concatenate([np.zeros(160), 0.05 * tail]).astype(np.float32)


def coloured(seconds: float, seed: int) -> Pcm:
    """Noise with the slope of speech."""
    white = np.random.default_rng(seed).standard_normal(int(seconds * RATE))
    sound = signal.lfilter([0.1], [1, -0.9], white)
    return (0.1 * sound).astype(np.float32)


def residual(heard: Pcm, played: Pcm) -> Pcm:
    adaptive = AdaptiveFilter()
    blocks = range(0, len(heard) - BLOCK + 1, BLOCK)
    return np.concatenate(
        [adaptive.push(heard[i : i + BLOCK], played[i : i + BLOCK]).residual for i in blocks]
    )


def power_db(pcm: Pcm) -> float:
    return float(10 * np.log10(np.mean(pcm**2) + 1e-15))


def echo_of(played: Pcm, seed: int = 1) -> Pcm:
    echo: Pcm = signal.lfilter(room(seed), [1.0], played).astype(np.float32)
    return echo


def test_what_is_said_meanwhile_stays_as_it_is():
    played, said = coloured(6.0, seed=3), coloured(6.0, seed=4)
    said[: 3 * RATE] = 0
    left = residual(echo_of(played) + said, played)
    assert power_db(left[-RATE:] - said[-RATE:]) < power_db(said[-RATE:]) - 12


def test_an_echo_is_taken_away_and_a_room_that_changes_is_learnt_anew():
    played = coloured(7.0, seed=5)
    changes = 4 * RATE
    heard = np.concatenate([echo_of(played)[:changes], echo_of(played, seed=9)[changes:]])
    left = residual(heard, played)
    for second, least_db in ((slice(3 * RATE, changes), 25), (slice(-RATE, None), 20)):
        assert power_db(left[second]) < power_db(heard[second]) - least_db


STEP_S = 0.01
ANSWER_STEPS = 26


@pytest.mark.parametrize("drift", [1.6, -1.6, 0.3])
def test_clocks_that_run_apart_are_learnt_and_when_nothing_more_is_answered_still_do(drift):
    """The delay creeps by `drift` samples a second."""
    tracker, delay, held, errors = DriftTracker(STEP_S), 0.0, 0.0, []
    for step in range(15_000):
        if step % ANSWER_STEPS == 0 and step < 12_000:
            tracker.correct(delay - held)
        held += tracker.step()
        delay += drift * STEP_S
        errors.append(abs(delay - held))
    assert max(errors[:12_000]) < 8.0
    assert max(errors[9_000:12_000]) < 0.3
    assert errors[-1] < 1.0


def test_one_wrong_answer_is_no_leap():
    tracker = DriftTracker(STEP_S)
    tracker.correct(10_000.0)
    steps = [tracker.step() for _ in range(1000)]
    assert max(steps) < 0.03
    assert sum(steps) < 1.0
