"""Whether LLMVoX's attention finds the word it speaks, and a loss that shows it the way (ours).

The paper gives no alignment: a network has to find out which tokens a unit belongs to. Invariant:
what is measured or guided here is learning's alone, a session knows nothing of it.
"""

from typing import Final

import torch
from torch import Tensor

from engine.nn.transformer import Heads
from engine.tts.llmvox.config import NOTHING, TEXT_END, WORD

_NEXT: Final = 1  # words ahead that may be attended to as well: a sound depends on what follows


def on_words(units: Tensor, onsets: Tensor) -> Tensor:
    """Where the units lie that a position is to attend to [B, T, T], True = those of its word and
    the next one, as far as they have been read; units [B, T], onsets [B, T] 0 or 1.
    """
    spoken = (onsets.cumsum(1) - 1).clamp(min=0)  # the word of a token
    ends = (units == WORD).long()
    read = ends.cumsum(1) - ends  # the word of a unit
    read = read.masked_fill((units == NOTHING) | (units == TEXT_END), -1)
    ahead = read[:, None, :] - spoken[:, :, None]
    is_read = (read >= 0)[:, None, :]
    length = units.shape[1]
    known = torch.ones(length, length, dtype=torch.bool, device=units.device).tril()
    return (ahead >= 0) & (ahead <= _NEXT) & is_read & known


def mass(queries: Tensor, keys: Tensor, where: Tensor) -> Tensor:
    """The share of the causal attention of queries [B, T, E] to keys [B, T, E] that falls on
    `where` [B, T, T], at the positions [N] that have such a place.
    """
    scores = queries.float() @ keys.float().transpose(1, 2) / queries.shape[-1] ** 0.5
    known = torch.ones_like(where[0]).tril()
    share: Tensor = scores.masked_fill(~known, float("-inf")).softmax(-1)
    return (share * where).sum(-1)[where.any(-1)]


class Watch:
    """Told every layer's heads; `best` is the largest mean mass of any head so far, and `loss` that
    of the guided one, the first head of a layer.
    """

    def __init__(self, where: Tensor, guided: int, *, every: bool) -> None:
        """`guided` is the layer. `every`: measure all heads, not the guided one alone."""
        self._where, self._guided, self._every = where, guided, every
        self.best = torch.zeros(())
        self.loss = torch.zeros(())

    def __call__(self, layer: int, heads: Heads) -> None:
        group = heads.queries.shape[1] // heads.keys.shape[1]
        for head in range(heads.queries.shape[1]):
            is_guided = head == 0 and layer == self._guided
            if not (self._every or is_guided):
                continue
            share = mass(heads.queries[:, head], heads.keys[:, head // group], self._where)
            self.best = torch.maximum(self.best, share.mean().detach())
            if is_guided:
                self.loss = -share.clamp(min=1e-4).log().mean()
