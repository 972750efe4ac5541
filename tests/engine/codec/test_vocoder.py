"""The vocoder: piece by piece equals all at once, streams do not mix, bad files are refused."""

import pytest
import torch
from safetensors.torch import save_file

from engine.codec.mel import BANDS, COLUMN, LEVELS, Levels, MelSpectrum
from engine.codec.semantic import TOKEN_SAMPLES, SemanticConfig, SemanticTokeniser, load_semantic
from engine.codec.vocoder import Vocoder, VocoderConfig, fresh_decoder, load_vocoder
from engine.errors import ModelError
from engine.nn.weights_file import shape_metadata
from tests.engine.nn.stacks import with_codebooks

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
        load_vocoder(file, BANDS)
    weights = fresh_decoder(CONFIG).state_dict()
    save_file(weights, file, shape_metadata(CONFIG))
    load_vocoder(file, BANDS)
    with pytest.raises(ModelError, match="columns of 80 values, not 128"):
        load_vocoder(file, 128)
    save_file(
        {**weights, "leave.bias": weights["leave.bias"] * torch.nan}, file, shape_metadata(CONFIG)
    )
    with pytest.raises(ModelError, match="NaN"):
        load_vocoder(file, BANDS)
    save_file(weights, file, shape_metadata(VocoderConfig(BANDS, width=0)))
    with pytest.raises(ModelError, match="cannot be used"):
        load_vocoder(file, BANDS)


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


# ----------------------------------------------------------------------------------- the tokeniser


TOKENS = SemanticConfig(tokens=16, width=32, blocks=1)


@pytest.fixture(scope="module")
def tokeniser() -> SemanticTokeniser:
    torch.manual_seed(1)
    return with_codebooks(SemanticTokeniser(TOKENS)).eval().requires_grad_(requires_grad=False)


def speech(tokens: int) -> torch.Tensor:
    dice = torch.Generator().manual_seed(2)
    return 0.1 * torch.randn(tokens * TOKEN_SAMPLES, generator=dice)


def test_every_whole_40_ms_is_a_token_of_its_past(tokeniser, tmp_path):
    tokens = tokeniser.encode(speech(10)[:-1])
    assert tokens.shape == (9,)
    assert 0 <= tokens.min() <= tokens.max() < TOKENS.tokens
    assert torch.equal(tokens[:7], tokeniser.encode(speech(10)[: 7 * TOKEN_SAMPLES]))
    file = tmp_path / "semantic.safetensors"
    save_file(tokeniser.state_dict(), file, shape_metadata(TOKENS))
    assert torch.equal(load_semantic(file).encode(speech(10)[:-1]), tokens)


@pytest.mark.parametrize("about", ["", "[]", '{"tokens": 0}', '{"tokens": 16, "width": 64}'])
def test_a_file_of_another_shape(tokeniser, tmp_path, about):
    file = tmp_path / "semantic.safetensors"
    with pytest.raises(ModelError, match=r"semantic\.safetensors is not there"):
        load_semantic(file)
    save_file(tokeniser.state_dict(), file, {"config": about})
    with pytest.raises(ModelError, match="cannot be used"):
        load_semantic(file)
