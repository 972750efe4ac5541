"""GPT-2's blocks in low-bit products."""

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


@pytest.mark.parametrize("precision", [Precision.INT8, Precision.INT4])
def test_packed_products_are_those_of_restored_weights(stack, precision):
    restored = Gpt(CONFIG).requires_grad_(requires_grad=False)
    restored.load_state_dict(stack.state_dict())
    for module in restored.modules():
        if isinstance(module, Linear):
            module.weight.copy_(restore(quantise(module.weight, precision)))
    blocks = (block for block in restored.layers if isinstance(block, Block))
    packed = PackedGpt(CONFIG, blocks, restored.norm.scale, precision=precision, threads=1)
    found, wanted = stepped(packed), stepped(restored)
    assert float((found - wanted).norm() / wanted.norm()) < 0.03
