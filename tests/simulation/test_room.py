"""The room does what it claims: delay, level, drift, and no memory of how it was stepped."""

import numpy as np
import pytest

from engine.audio.base import Pcm
from tests.simulation.room import BLOCK, NEAR_DB, RATE, Acoustics, Room, active_db

QUIET = 200.0  # dB of person over noise: none


def noise(seconds: float) -> Pcm:
    return (0.1 * np.random.default_rng(5).standard_normal(int(seconds * RATE))).astype(np.float32)


def heard_in(room: Room, played: Pcm) -> Pcm:
    blocks = played[: len(played) // BLOCK * BLOCK].reshape(-1, BLOCK)
    return np.concatenate([room.step(block) for block in blocks])


def lag(heard: Pcm, played: Pcm) -> int:
    size = 1 << (2 * len(heard)).bit_length()
    likely = np.fft.irfft(np.fft.rfft(heard, size) * np.conj(np.fft.rfft(played, size)))
    return int(np.argmax(np.abs(likely[: size // 2])))


@pytest.mark.parametrize(("delay_ms", "echo_db"), [(20, -12.0), (80, 0.0), (300, 6.0)])
def test_the_echo_has_the_delay_and_the_level_asked_for(delay_ms: float, echo_db: float) -> None:
    played = noise(2.0)
    acoustics = Acoustics(delay_ms=delay_ms, echo_db=echo_db, noise_db=QUIET, drive=0)
    heard = heard_in(Room(acoustics, voice_db=active_db(played)), played)
    assert lag(heard, played) == pytest.approx(delay_ms * RATE / 1000, abs=BLOCK)
    assert active_db(heard[RATE:]) == pytest.approx(NEAR_DB + echo_db, abs=2)


def test_the_microphones_clock_drifts() -> None:
    played = noise(20.0)
    room = Room(Acoustics(delay_ms=50, noise_db=QUIET, drift_ppm=-100, drive=0))
    heard = heard_in(room, played)
    first = lag(heard[: 2 * RATE], played[: 2 * RATE])
    last = lag(heard[-2 * RATE :], played[-2 * RATE :])
    assert abs(first - last) == pytest.approx(18 * RATE * 100e-6, abs=3)
