"""Speech at another speed: its length, its pitch, its marks, and nothing lost or delayed."""

import numpy as np
import pytest

from engine.tts.base import Pcm
from engine.tts.voxtream.rate import FASTEST, SLOWEST, Stretch

RATE = 24_000
FRAME = 1_920


def voice(seconds: float, hertz: float = 120.0) -> Pcm:
    """Pulses of a voice's pitch, louder and softer four times a second."""
    time = np.arange(round(seconds * RATE)) / RATE
    tone = sum(np.sin(2 * np.pi * hertz * part * time) / part for part in range(1, 12))
    loudness = 0.6 + 0.4 * np.sin(2 * np.pi * 4 * time)
    return (0.2 * tone * loudness).astype(np.float32)


def stretched(
    pcm: Pcm, speed: float, piece: int = FRAME, marks: tuple[int, ...] = ()
) -> tuple[Pcm, list[int]]:
    stretch = Stretch(RATE)
    sounding, places = [], []
    for start in range(0, len(pcm), piece):
        inside = [mark for mark in marks if start <= mark < start + piece]
        part, found = stretch.push(pcm[start : start + piece], speed, inside)
        sounding.append(part)
        places += found
    part, found = stretch.finish()
    return np.concatenate([*sounding, part]), [*places, *found]


def pitch(pcm: Pcm) -> float:
    """Hz"""
    spectrum = np.abs(np.fft.rfft(pcm * np.hanning(len(pcm))))
    hertz = np.fft.rfftfreq(len(pcm), 1 / RATE)
    low = hertz < 200
    return float(hertz[low][spectrum[low].argmax()])


@pytest.mark.parametrize("speed", [0.4, 0.7, 0.95, 1.1, 1.35, 1.8])
def test_it_lasts_as_long_as_the_speed_says_at_the_same_pitch(speed):
    pcm = voice(3.0)
    sounding, _ = stretched(pcm, speed)
    assert len(sounding) == pytest.approx(len(pcm) / speed, abs=0.03 * RATE / min(1, speed))
    assert pitch(sounding) == pytest.approx(120.0, abs=2.0)
    assert np.abs(sounding).max() <= np.abs(pcm).max() + 1e-6


@pytest.mark.parametrize("speed", [0.5, 1.3])
def test_how_it_was_cut_does_not_matter(speed):
    pcm = voice(1.0) + np.random.default_rng(1).normal(0, 0.01, RATE).astype(np.float32)
    whole, places = stretched(pcm, speed, piece=len(pcm), marks=(100, 20_000))
    pieces, others = stretched(pcm, speed, piece=777, marks=(100, 20_000))
    assert np.array_equal(whole, pieces)
    assert places == others


@pytest.mark.parametrize("speed", [0.5, 1.0, 1.6])
def test_every_mark_comes_back_once_where_it_sounds(speed):
    marks = tuple(range(0, 2 * RATE, 2_400))
    sounding, places = stretched(voice(2.0), speed, marks=marks)
    assert len(places) == len(marks)
    assert places == sorted(places)
    assert max(places) < len(sounding)
    expected = np.asarray(marks) / speed
    assert np.abs(np.asarray(places) - expected).max() < 0.04 * RATE


def test_faster_speech_begins_with_the_first_frame():
    sounding, _ = Stretch(RATE).push(voice(0.08), 1.5)
    assert len(sounding) > 0.03 * RATE


def test_a_change_of_speed_does_not_click_and_leads_back_to_the_samples_as_they_are():
    pcm, stretch = voice(2.0), Stretch(RATE)
    speeds = [1.0] * 5 + [1.6] * 8 + [0.6] * 6 + [1.0] * 6
    frames = pcm.reshape(-1, FRAME)
    pieces = [stretch.push(frame, speed)[0] for frame, speed in zip(frames, speeds, strict=True)]
    sounding = np.concatenate(pieces)
    assert np.array_equal(sounding[: 5 * FRAME], pcm[: 5 * FRAME])
    assert np.array_equal(sounding[-5 * FRAME :], pcm[-5 * FRAME :])
    assert np.abs(np.diff(sounding)).max() < 1.2 * np.abs(np.diff(pcm)).max()


def test_speeds_that_no_speech_survives_are_bounded():
    pcm = voice(2.0)
    for beyond, end in ((50.0, FASTEST), (0.01, SLOWEST)):
        assert np.array_equal(stretched(pcm, beyond)[0], stretched(pcm, end)[0])
