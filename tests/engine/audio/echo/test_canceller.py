"""What the loudspeaker plays is removed, what the user says stays and is noticed at once."""

from copy import deepcopy
from functools import cache

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
    DoubleTalk,
    EchoCanceller,
    Split,
)
from engine.audio.echo.near_end import DriftTracker
from engine.audio.pcm import level_db

DELAY = 480  # samples from played to heard

needs_livekit = pytest.mark.skipif(not echo.installed(), reason="livekit is not installed")

SECOND = 100  # blocks


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


def noise(blocks: int, level: float, seed: int) -> Pcm:
    pcm = level * np.random.default_rng(seed).standard_normal((blocks, BLOCK))
    return pcm.astype(np.float32)


def syllables(blocks: int) -> Pcm:
    """Loudness that rises and falls four times a second, [block, 1]."""
    rising: Pcm = (0.05 + np.abs(np.sin(np.arange(blocks) * np.pi / 25)))[:, None]
    return rising.astype(np.float32)


def heard(detector: DoubleTalk, residual: Pcm, echo: Pcm) -> list[bool]:
    """Block by block."""
    found = []
    for left, taken in zip(residual, echo, strict=True):
        detector.push(Split(left, taken))
        found.append(detector.heard)
    return found


def reply_in_room(seconds: int, seed: int = 1) -> tuple[Pcm, Pcm]:
    """(residual, echo) of a reply whose rest is 15 dB below it, in steady noise."""
    blocks = seconds * SECOND
    shape = syllables(blocks)
    echo = noise(blocks, 0.05, seed) * shape
    left = noise(blocks, 0.009, seed + 1) * shape + noise(blocks, 0.001, seed + 2)
    return left, echo


@cache
def _accustomed() -> DoubleTalk:
    detector = DoubleTalk()
    heard(detector, *reply_in_room(5))
    return detector


def at_home() -> DoubleTalk:
    """One that knows the room."""
    return deepcopy(_accustomed())


def hiss() -> Pcm:
    """An "s", which fills few bands."""
    spectrum = np.fft.rfft(noise(SECOND, 0.05, seed=62).ravel())
    spectrum[np.fft.rfftfreq(SECOND * BLOCK, 1 / 16_000) < 4500] = 0
    return np.fft.irfft(spectrum).astype(np.float32).reshape(SECOND, BLOCK)


@pytest.mark.parametrize(
    ("person", "within"),
    [pytest.param(noise(SECOND, 0.05, 21), 5, id="words"), pytest.param(hiss(), 8, id="a hiss")],
)
def test_a_person_is_noticed_within_so_many_blocks(person, within):
    left, echo = reply_in_room(1, seed=11)
    assert any(heard(at_home(), left + person, echo)[:within])


def test_what_the_filter_usually_leaves_is_nobody():
    found = heard(DoubleTalk(), *reply_in_room(20))
    assert not any(found[3 * SECOND :])


def test_a_person_is_noticed_in_a_silence_of_the_reply():
    detector = at_home()
    nothing = noise(SECOND, 0.001, seed=31)
    assert not any(heard(detector, nothing, np.zeros_like(nothing))[50:])
    person = noise(SECOND, 0.01, seed=32)
    assert any(heard(detector, person, np.zeros_like(person))[:5])


def test_a_click_and_what_an_onset_of_the_echo_leaves_for_three_blocks_are_nobody():
    left, echo = reply_in_room(1, seed=41)
    left[50] += noise(1, 0.05, seed=42)[0]
    assert not any(heard(at_home(), left, echo))
    for seed in range(71, 79):
        left, echo = reply_in_room(1, seed=seed)
        left[60:63] *= 4
        assert not any(heard(at_home(), left, echo))


def test_a_room_that_rings_more_than_it_did_is_nobody_after_a_while():
    left, echo = reply_in_room(10, seed=51)
    found = heard(at_home(), 3 * left, echo)
    assert not any(found[5 * SECOND :])


@pytest.mark.parametrize(("before", "silent_s"), [(0, 5), (5, 50)])
def test_a_long_digital_silence_makes_no_number_overflow_and_nobody_deaf(before, silent_s):
    """What was predicted of an echo fades by itself, to less than a number can hold in 44 s."""
    detector = DoubleTalk()
    heard(detector, *reply_in_room(before))
    silence = np.zeros((silent_s * SECOND, BLOCK), np.float32)
    assert not any(heard(detector, silence, silence))
    loud = noise(SECOND, 0.3, seed=81)
    heard(detector, loud, np.zeros_like(loud))
    heard(detector, *reply_in_room(10, seed=83))
    left, echo = reply_in_room(1, seed=85)
    person = noise(SECOND, 0.05, seed=87)
    assert any(heard(detector, left + person, echo)[:6])
