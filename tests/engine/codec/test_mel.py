"""The vocoder: piece by piece equals all at once, streams do not mix, bad files are refused."""

import pytest
import torch
from safetensors.torch import save_file

from engine.codec.mel import (
    BANDS,
    COLUMN,
    LEVELS,
    Levels,
    MelSpectrum,
    Vocoder,
    VocoderConfig,
    fresh_decoder,
    load_vocoder,
)
from engine.errors import ModelError
from engine.nn.weights_file import shape_metadata

ROUNDING = 1e-3  # of the pitch, summed up to a phase
CONFIG = VocoderConfig(BANDS, width=32, blocks=1)


@pytest.fixture(scope="module")
def vocoder() -> Vocoder:
    torch.manual_seed(1)
    return Vocoder(fresh_decoder(CONFIG).eval().requires_grad_(requires_grad=False))


def columns(count: int) -> torch.Tensor:
    return torch.randn(count, BANDS, generator=torch.Generator().manual_seed(2))


@pytest.mark.parametrize("pieces", [(1,) * 12, (2, 1, 4, 5), (7, 5)])
def test_piece_by_piece_equals_all_at_once(vocoder, pieces):
    """Whatever another stream decodes in between."""
    spectrum, made = columns(12), []
    whole = vocoder.open().decode(spectrum)
    assert whole.shape == (12 * COLUMN,)
    stream, other = vocoder.open(), vocoder.open()
    for piece in spectrum.split(list(pieces)):
        made.append(stream.decode(piece))
        other.decode(-piece)
    assert torch.allclose(torch.cat(made), whole, atol=ROUNDING)


def test_a_file_is_read_whole_or_refused(tmp_path):
    file = tmp_path / "vocoder.safetensors"
    with pytest.raises(ModelError, match="is not there"):
        load_vocoder(file)
    weights = fresh_decoder(CONFIG).state_dict()
    save_file(weights, file, shape_metadata(CONFIG))
    load_vocoder(file)
    save_file(
        {**weights, "leave.bias": weights["leave.bias"] * torch.nan}, file, shape_metadata(CONFIG)
    )
    with pytest.raises(ModelError, match="NaN"):
        load_vocoder(file)
    save_file(weights, file, shape_metadata(VocoderConfig(BANDS, width=0)))
    with pytest.raises(ModelError, match="cannot be used"):
        load_vocoder(file)


# ------------------------------------------------------------------------ spectra and their levels


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
