"""The source of the codec's decoder: pulses at the pitch, noise, and filters that ring forward."""

import pytest
import torch

from engine.codec.small_parts import HOP, SAMPLE_RATE
from engine.codec.source import BINS, FFT, Source, SourceDecoder, minimum_phase

SECOND = SAMPLE_RATE // HOP  # columns


def source() -> Source:
    return Source().eval()


@pytest.mark.parametrize("hz", [60.0, 131.7, 310.0])
def test_there_is_one_pulse_a_period(hz):
    pulses, _ = source()(torch.full((1, 2 * SECOND), hz))
    spectrum = torch.fft.rfft(pulses[0, 0]).abs()
    spectrum[: int(hz)] = 0.0  # bins are half a hertz: everything below half the pitch
    assert int(spectrum[: int(3 * hz)].argmax()) / 2 == pytest.approx(hz, abs=0.5)


def test_pulses_and_noise_are_equally_strong_and_the_noise_is_the_same_every_time():
    pitch = torch.full((1, 4 * SECOND), 123.4)
    (pulses, noise), (_, again) = source()(pitch), source()(pitch)
    # A pulse shared by two samples loses up to half its power, two thirds remain on average.
    assert float(pulses.square().mean()) == pytest.approx(2 / 3, rel=0.1)
    assert float(noise.square().mean()) == pytest.approx(1.0, rel=0.05)
    assert torch.equal(noise, again)
    first, second = noise.chunk(2, dim=-1)
    assert not torch.allclose(first, second)


def test_a_minimum_phase_filter_has_the_gains_asked_for_and_rings_forward():
    bins = torch.linspace(0, 3.0, BINS)
    gains = torch.cos(bins) - 1.0
    spectrum = minimum_phase(gains)
    assert torch.allclose(spectrum.abs().log(), gains, atol=1e-4)
    ringing = torch.fft.irfft(spectrum, FFT).square()
    assert float(ringing[: FFT // 4].sum() / ringing.sum()) > 0.999


def test_the_pitch_of_a_column_is_heard_from_the_next_column_on():
    torch.manual_seed(0)
    decoder = SourceDecoder(32, 1).eval()
    latents = torch.randn(1, 32, 10)
    shape = decoder.shape(latents)
    changed = shape.pitch.clone()
    changed[:, 20:] += 0.5
    before, after = (decoder.samples(shape, pitch)[0, 0] for pitch in (shape.pitch, changed))
    # What a filter rings beyond its length comes back at the piece's beginning, very quietly.
    moved = ((before - after).abs() > 0.01 * before.abs().max()).nonzero()[0]
    assert 21 * HOP <= int(moved) <= 24 * HOP
