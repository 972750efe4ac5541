"""The canceller takes out what was played, leaves what was said, and can be missing."""

import numpy as np
import pytest

from engine.audio.base import Pcm
from engine.audio.echo import canceller as echo
from engine.audio.echo.canceller import FRAME, SAMPLE_RATE, Cleaning, EchoCanceller
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


def test_without_the_library_the_microphone_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(echo, "find_spec", lambda name: None)
    canceller = echo.open_canceller(Cleaning())
    assert not canceller.cancels
    heard = babble(0.1)
    np.testing.assert_array_equal(run(canceller, heard, heard), heard)


@needs_livekit
def test_what_was_played_is_taken_out() -> None:
    played = babble(4.0)
    heard = np.concatenate([np.zeros(DELAY, np.float32), 0.5 * played[:-DELAY]])
    cleaned = run(echo.open_canceller(Cleaning()), heard, played)
    assert level_db(cleaned[2 * SAMPLE_RATE :]) < level_db(heard[2 * SAMPLE_RATE :]) - 20


@needs_livekit
def test_what_was_said_stays_while_nothing_is_played() -> None:
    said = babble(2.0, seed=2)
    cleaned = run(echo.open_canceller(Cleaning()), said, np.zeros_like(said))
    assert level_db(cleaned[SAMPLE_RATE:]) == pytest.approx(level_db(said[SAMPLE_RATE:]), abs=2)


@needs_livekit
def test_noise_can_be_taken_out_without_a_loudspeaker() -> None:
    rng = np.random.default_rng(3)
    noise = (0.01 * rng.standard_normal(4 * SAMPLE_RATE)).astype(np.float32)
    canceller = echo.open_canceller(Cleaning(echo=False, noise=True))
    assert canceller.improves
    assert not canceller.cancels
    cleaned = run(canceller, noise, np.zeros_like(noise))
    assert level_db(cleaned[-SAMPLE_RATE:]) < level_db(noise[-SAMPLE_RATE:]) - 6
