"""Whether attention finds what is being said, and a loss that shows it the way (ours, after the
guided attention of Tachibana et al., 2018).

SpeakStream and LLMVoX read text and speech in one sequence, and have to find out themselves which
text a position says. Invariant: what is measured or guided here is learning's alone, a session
knows nothing of it.
"""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor

from engine.nn.transformer import Heads


def places(first: int, count: int, starts: Sequence[int], end: int) -> list[int]:
    """The place of what is said at every position of a word, from starts[0] to `end`: its `count`
    units, the first at `first`, are said by phones that begin at `starts`.
    """
    phones = len(starts)
    return [
        first + number * count // phones
        for number, (begin, over) in enumerate(pairwise((*starts, end)))
        for _ in range(begin, over)
    ]


def around(guide: Tensor) -> Tensor:
    """Where a position is to look [B, T, T]: at its place [B, T] and beside it, as far as that has
    been read. A place below 0 is none.
    """
    every = torch.arange(guide.shape[1], device=guide.device)
    near = (every - guide[:, :, None]).abs() <= 1
    return near & (guide >= 0)[:, :, None] & (every <= every[:, None])


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
        self.best = self.loss = torch.zeros((), device=where.device)

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
