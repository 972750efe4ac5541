"""The tokeniser: a token every 40 ms, each from its own past alone; bad files are refused."""

import pytest
import torch
from safetensors.torch import save_file

from engine.codec.semantic import TOKEN_SAMPLES, SemanticConfig, SemanticTokeniser, load_semantic
from engine.errors import ModelError
from engine.nn.weights_file import shape_metadata
from tests.engine.nn.stacks import with_codebooks

CONFIG = SemanticConfig(tokens=16, width=32, blocks=1)


@pytest.fixture(scope="module")
def tokeniser() -> SemanticTokeniser:
    torch.manual_seed(1)
    return with_codebooks(SemanticTokeniser(CONFIG)).eval().requires_grad_(requires_grad=False)


def speech(tokens: int) -> torch.Tensor:
    dice = torch.Generator().manual_seed(2)
    return 0.1 * torch.randn(tokens * TOKEN_SAMPLES, generator=dice)


def test_every_whole_40_ms_is_a_token_of_its_past(tokeniser, tmp_path):
    tokens = tokeniser.encode(speech(10)[:-1])
    assert tokens.shape == (9,)
    assert 0 <= tokens.min() <= tokens.max() < CONFIG.tokens
    assert torch.equal(tokens[:7], tokeniser.encode(speech(10)[: 7 * TOKEN_SAMPLES]))
    file = tmp_path / "semantic.safetensors"
    save_file(tokeniser.state_dict(), file, shape_metadata(CONFIG))
    assert torch.equal(load_semantic(file).encode(speech(10)[:-1]), tokens)


@pytest.mark.parametrize("about", ["", "[]", '{"tokens": 0}', '{"tokens": 16, "width": 64}'])
def test_a_file_of_another_shape(tokeniser, tmp_path, about):
    file = tmp_path / "semantic.safetensors"
    with pytest.raises(ModelError, match=r"semantic\.safetensors is not there"):
        load_semantic(file)
    save_file(tokeniser.state_dict(), file, {"config": about})
    with pytest.raises(ModelError, match="cannot be used"):
        load_semantic(file)
