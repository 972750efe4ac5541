"""Pieces may be very short, and slow down without changing pitch; test_session.py hears joins."""

import numpy as np
import pytest

from engine.tts.base import Pcm
from engine.tts.espeak.joining import Joiner, Span, stretch
from engine.tts.espeak.library import SAMPLE_RATE


def tone(frequency: float, samples: int, phase: float = 0.0) -> Pcm:
    angle = 2 * np.pi * frequency / SAMPLE_RATE * np.arange(samples) + phase
    return (0.5 * np.sin(angle)).astype(np.float32)


def largest_step(pcm: Pcm) -> float:
    return float(np.abs(np.diff(pcm)).max())


def test_very_short_pieces_and_pauses_do_no_harm():
    joiner = Joiner()
    pcm = tone(150, 300)
    lengths = [len(joiner.append(Span(pcm, 299, 300))), len(joiner.pause(1))]
    lengths += [len(joiner.append(Span(pcm, 0, 3), 1.5)), len(joiner.append(Span(pcm, 298, 300)))]
    assert all(0 < length < 300 for length in lengths)


@pytest.mark.parametrize("factor", [1.0, 1.1, 1.37, 1.6, 2.0])
def test_stretching_makes_it_longer_by_that_factor(factor):
    pcm = tone(120, 9000)
    made = stretch(Span(pcm, 1000, 7000), factor)
    assert made.end == round(6000 * factor)
    assert factor > 1 or np.array_equal(made.pcm[: made.end], pcm[1000:7000])


@pytest.mark.parametrize("frequency", [70.0, 120.0, 233.0])
def test_stretching_keeps_the_pitch_and_the_level(frequency):
    pcm = tone(frequency, 12_000)
    slow = stretch(Span(pcm, 0, 11_000), 1.5)
    body = slow.pcm[: slow.end]
    spectrum = np.abs(np.fft.rfft(body * np.hanning(len(body))))
    assert np.argmax(spectrum) * SAMPLE_RATE / len(body) == pytest.approx(frequency, abs=2)
    assert np.std(body) == pytest.approx(np.std(pcm), rel=0.05)
    assert largest_step(body) < 1.3 * largest_step(pcm)
