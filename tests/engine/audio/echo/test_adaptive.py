"""The filter learns a room, and leaves what is not an echo."""

import numpy as np
from scipy import signal

from engine.audio.base import Pcm
from engine.audio.echo.adaptive import BLOCK, AdaptiveFilter

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


def test_what_is_said_meanwhile_stays_as_it_is() -> None:
    played, said = coloured(6.0, seed=3), coloured(6.0, seed=4)
    said[: 3 * RATE] = 0
    left = residual(echo_of(played) + said, played)
    assert power_db(left[-RATE:] - said[-RATE:]) < power_db(said[-RATE:]) - 12


def test_an_echo_is_taken_away_and_a_room_that_changes_is_learnt_anew() -> None:
    played = coloured(7.0, seed=5)
    changes = 4 * RATE
    heard = np.concatenate([echo_of(played)[:changes], echo_of(played, seed=9)[changes:]])
    left = residual(heard, played)
    for second, least_db in ((slice(3 * RATE, changes), 25), (slice(-RATE, None), 20)):
        assert power_db(left[second]) < power_db(heard[second]) - least_db
