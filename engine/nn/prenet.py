"""The pre-net of Tacotron (Wang et al., 2017): the last output passes through narrow layers with
dropout, in use as in training. So the network must read the text and cannot only continue.

Invariant: all randomness is passed in.
"""

from collections.abc import Sequence
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.nn.transformer import Linear

LAYERS: Final = 3  # dropout follows all but the last


class Prenet(nn.ModuleList):
    """Values [..., entry] -> [..., leave] through layers of `width`."""

    def __init__(self, entry: int, width: int, leave: int) -> None:
        sizes = (entry, *[width] * (LAYERS - 1), leave)
        super().__init__(map(Linear, sizes, sizes[1:]))
        self._width = width

    def forward(self, x: Tensor, keep: Tensor) -> Tensor:
        """`keep` [LAYERS - 1, ..., width] as keep_masks() gives it."""
        for number, layer in enumerate(self):
            x = layer(x)
            if number < LAYERS - 1:
                x = functional.relu(x) * keep[number]
        return x

    def keep_masks(
        self, shape: Sequence[int], share: float, generator: torch.Generator | None
    ) -> Tensor:
        """Return factors for values [*shape, entry]: 0 for the `share` that is dropped, the others
        scaled up. `generator` None: torch's own.
        """
        weight = next(self.parameters())
        size = (LAYERS - 1, *shape, self._width)
        chances = torch.full(size, 1 - share, device=weight.device)
        return torch.bernoulli(chances, generator=generator) / (1 - share)
