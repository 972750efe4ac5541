"""Spectra and their levels."""

import torch

from engine.codec.mel import BANDS, COLUMN, LEVELS, Levels, MelSpectrum

SCALE = Levels(-6.0, 3.0)


def test_a_column_needs_no_sample_behind_it():
    pcm = torch.randn(1, 20 * COLUMN, generator=torch.Generator().manual_seed(1))
    spectrum = MelSpectrum()
    whole, part = spectrum(pcm), spectrum(pcm[:, : 7 * COLUMN])
    assert whole.shape == (1, 20, BANDS)
    assert torch.allclose(whole[:, :7], part, atol=1e-5)


def test_a_level_is_within_half_a_step_and_the_scales_ends_beyond_it():
    mel = torch.linspace(SCALE.lowest, SCALE.highest, 1000)
    levels = SCALE.quantised(mel)
    assert float((SCALE.restored(levels) - mel).abs().max()) <= SCALE.step / 2 + 1e-5
    assert torch.equal(SCALE.quantised(SCALE.restored(levels)), levels)
    assert SCALE.quantised(torch.tensor([-100.0, 100.0])).tolist() == [0, LEVELS - 1]
