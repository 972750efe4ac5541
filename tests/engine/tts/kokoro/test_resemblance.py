"""Blends that resemble a recording: shares, pitch, pace and colour."""

import numpy as np
import pytest
from safetensors.numpy import load_file

from engine.errors import UnreadableClip
from engine.resources import resource
from engine.tts.base import Voice
from engine.tts.kokoro import resemblance
from engine.tts.kokoro.fit.measuring import RATE, log_pitch, pitch_of
from engine.tts.kokoro.parts import SAMPLE_RATE
from engine.tts.kokoro.resemblance import delivery_of, equaliser, own_pitch
from engine.tts.kokoro.voices import MAKING, NAME, STYLE, TAPS, style_of

NOISE = np.random.default_rng(2).normal(0, 0.1, 3 * SAMPLE_RATE).astype(np.float32)


def harmonics(pitch_hz: float, seconds: float = 2.0, rate: int = SAMPLE_RATE) -> np.ndarray:
    """A sound with harmonics."""
    times = np.arange(int(seconds * rate)) / rate
    waves = [np.sin(2 * np.pi * pitch_hz * k * times) / k for k in range(1, 30)]
    return (0.1 * np.sum(waves, axis=0)).astype(np.float32)


WEIGHTS = (1.0, 0.3, 0.1, 0.1, 0.1)


@pytest.fixture(scope="module")
def stock() -> tuple[Voice, ...]:
    draw = np.random.default_rng(1)
    languages = ("en-us", "en-gb") * 4
    return tuple(
        Voice(
            f"V{n}", NAME, {STYLE: draw.normal(0, 0.25, 256).astype(np.float32)}, {"language": each}
        )
        for n, each in enumerate(languages)
    )


@pytest.fixture(scope="module")
def measures() -> resemblance.Numbers:
    draw = np.random.default_rng(2)
    speakers = draw.normal(size=(8, 192))
    speakers /= np.linalg.norm(speakers, axis=1, keepdims=True)
    others = [draw.uniform(4.5, 5.5, 8), draw.uniform(0.2, 0.6, 8), draw.uniform(3, 5, 8)]
    return np.hstack([speakers, np.stack(others, 1), draw.normal(size=(8, 14))])


def test_the_shares_of_a_blend_are_found_again(measures):
    wanted = np.array([0, 0.6, 0, 0, 0.3, 0, 0.1, 0])
    found = resemblance.shares(measures, wanted @ measures, WEIGHTS)
    assert found == pytest.approx(wanted, abs=0.02)
    # few voices take part, and none with a negative share
    found = resemblance.shares(measures, measures.mean(0), WEIGHTS)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(1)
    assert 1 <= (found > 0).sum() <= 6


@pytest.mark.parametrize("pitch_hz", [80.0, 125.0, 210.0, 330.0])
def test_the_pitch_of_a_harmonic_sound_is_found(pitch_hz):
    found = log_pitch(harmonics(pitch_hz, rate=RATE))
    assert np.exp(np.median(found)) == pytest.approx(pitch_hz, rel=0.02)

    noise = np.random.default_rng(3).normal(0, 0.1, RATE).astype(np.float32)
    assert len(log_pitch(noise)) < 10
    assert len(log_pitch(np.zeros(RATE, np.float32))) == 0


def test_a_recording_becomes_a_voice_that_says_how_it_was_made(
    stock, measures, speech, monkeypatch
):
    monkeypatch.setattr(resemblance, "measures_of", lambda voices: measures)
    made, again = (resemblance.resembling(stock, speech.pcm, speech.sample_rate) for _ in range(2))
    assert (made.model, made.metadata["making"]) == (NAME, MAKING)
    assert made.metadata["language"] in ("en-us", "en-gb")
    assert style_of(made).shape == (1, 256)
    assert np.array_equal(style_of(made), style_of(again))


def test_a_recording_without_speech_is_refused(stock):
    with pytest.raises(UnreadableClip):
        resemblance.resembling(stock, np.zeros(48_000, np.float32), 24_000)


def test_every_stock_voice_that_ships_was_measured():
    rows = load_file(str(resource(*resemblance.MEASURES)))
    assert len(rows) == 28
    assert {row.shape for row in rows.values()} == {(192 + 3 + 14,)}


def test_the_middle_and_the_spread_of_a_pitch_are_brought_to_another_s():
    draw = np.random.default_rng(1)
    ours, theirs = (np.exp(draw.normal(m, s, 400)) for m, s in ((5.3, 0.2), (4.8, 0.22)))
    offset, spread = own_pitch(ours, theirs)
    moved = offset + spread * np.log(ours)
    assert np.median(moved) == pytest.approx(np.median(np.log(theirs)), abs=0.01)
    widths = [np.ptp(np.percentile(each, (15, 85))) for each in (moved, np.log(theirs))]
    assert widths[0] == pytest.approx(widths[1], rel=0.01)
    assert own_pitch(ours, np.zeros(90)) == (0.0, 1.0)


def test_the_equaliser_gives_the_colour_of_a_clip_up_to_its_bandwidth():
    tilted = np.convolve(NOISE, (1.0, 0.9), "same").astype(np.float32)
    taps = equaliser(tilted, NOISE)
    assert taps.shape == (TAPS,)
    response = np.abs(np.fft.rfft(taps, 2048))
    wanted = np.abs(np.fft.rfft((1.0, 0.9), 2048))
    ratio = response / wanted
    middle = slice(40, 700)
    assert ratio[middle] / ratio[middle].mean() == pytest.approx(1.0, abs=0.25)
    assert np.abs(np.fft.rfft(equaliser(NOISE, NOISE), 2048)) == pytest.approx(1.0, abs=0.02)
    loud = np.convolve(NOISE, np.ones(60) / 60, "same").astype(np.float32)
    assert np.abs(np.fft.rfft(equaliser(loud, NOISE), 2048)).max() < 6


def test_a_deep_slow_speaker_is_delivered_so():
    said, clip = harmonics(200.0), harmonics(120.0)
    delivery = delivery_of(clip, SAMPLE_RATE, said, pitch_of(said))
    assert delivery.pitched(np.array([200.0], np.float32)) == pytest.approx(120.0, rel=0.03)
