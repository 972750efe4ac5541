"""GPT-2's blocks: plain, step by step, and in low-bit products."""

import pytest
import torch
from torch import Tensor

from engine.nn.cache import KvCache
from engine.nn.gpt import Gpt, unturned
from engine.nn.packed.modules import PackedGpt
from engine.nn.packed.quantise import Precision, quantise, restore
from engine.nn.transformer import Block, Linear, TransformerConfig

CPU = torch.device("cpu")
CONFIG = TransformerConfig(layers=2, width=256, heads=4, kv_heads=4, hidden=512)
LENGTH = 5


@pytest.fixture(scope="module")
def stack() -> Gpt:
    made, generator = Gpt(CONFIG).requires_grad_(requires_grad=False), torch.Generator()
    for module in made.modules():
        if isinstance(module, Linear):
            module.weight.normal_(0, 0.07, generator=generator.manual_seed(1))
    for scale in (p for name, p in made.named_parameters() if name.endswith("scale")):
        scale.uniform_(0.5, 1.5, generator=generator)
    return made


def entered() -> Tensor:
    return torch.randn(1, LENGTH, CONFIG.width, generator=torch.Generator().manual_seed(2))


def stepped(stack: Gpt | PackedGpt) -> Tensor:
    """Position by position."""
    cache, out = KvCache(CONFIG, 1, CPU, torch.float32), []
    for x in entered().split(1, dim=1):
        out.append(stack(x, unturned(CONFIG, CPU), cache))
        cache.advance(1)
    return torch.cat(out, dim=1)


def written_out(stack: Gpt) -> Tensor:
    """All positions at once, by the equations alone."""

    def normed(x: Tensor, scale: Tensor) -> Tensor:
        centred = x - x.mean(-1, keepdim=True)
        return centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt() * scale

    x = entered()[0]
    past = torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril()
    for block in stack.layers:
        assert isinstance(block, Block)
        heads = (normed(x, block.attention_norm.scale) @ block.attention.qkv.weight.T).chunk(3, -1)
        q, k, v = (part.view(LENGTH, CONFIG.heads, -1).transpose(0, 1) for part in heads)
        scores = (q @ k.transpose(1, 2) / CONFIG.head_width**0.5).masked_fill(~past, -torch.inf)
        mixed = (scores.softmax(-1) @ v).transpose(0, 1).flatten(1)
        x = x + mixed @ block.attention.output.weight.T
        wide = normed(x, block.mlp_norm.scale) @ block.mlp.gate_up.weight.T
        bent = 0.5 * wide * (1 + (0.7978845608 * (wide + 0.044715 * wide**3)).tanh())
        x = x + bent @ block.mlp.down.weight.T
    return normed(x, stack.norm.scale)[None]


def test_it_is_what_its_equations_say(stack: Gpt) -> None:
    assert torch.allclose(stepped(stack), written_out(stack), atol=1e-5)


@pytest.mark.parametrize("precision", [Precision.INT8, Precision.INT4])
def test_packed_products_are_those_of_restored_weights(stack: Gpt, precision: Precision) -> None:
    restored = Gpt(CONFIG).requires_grad_(requires_grad=False)
    restored.load_state_dict(stack.state_dict())
    for module in restored.modules():
        if isinstance(module, Linear):
            module.weight.copy_(restore(quantise(module.weight, precision)))
    blocks = (block for block in restored.layers if isinstance(block, Block))
    packed = PackedGpt(CONFIG, blocks, restored.norm.scale, precision=precision, threads=1)
    found, wanted = stepped(packed), stepped(restored)
    assert float((found - wanted).norm() / wanted.norm()) < 0.03
