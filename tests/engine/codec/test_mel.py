"""Spectra."""

import torch

from engine.codec.mel import BANDS, COLUMN, Levels, MelSpectrum

SCALE = Levels(-6.0, 3.0)


def test_a_column_needs_no_sample_behind_it() -> None:
    pcm = torch.randn(1, 20 * COLUMN, generator=torch.Generator().manual_seed(1))
    spectrum = MelSpectrum()
    whole, part = spectrum(pcm), spectrum(pcm[:, : 7 * COLUMN])
    assert whole.shape == (1, 20, BANDS)
    assert torch.allclose(whole[:, :7], part, atol=1e-5)
