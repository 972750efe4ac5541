"""The transducer's loss, summed over all monotonic alignments of units and tokens, or over those
near a known one.

At node (i, j) of the lattice, units 0..i have been read and j tokens predicted. A token leads to
node (i, j + 1), a blank to node (i + 1, j); the blank at the last unit after the last token ends
the path (SMLLE, 2.1; equations 1 and 2). A band keeps the nodes near the alignment known from the
corpus (Speech-T's idea). A wide band gives the paper's loss, reach 0 the cross-entropy of a single
path.

Letters: B lessons, T tokens, W units of a band, U units.
"""

from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

NEVER: Final = -1e5  # log of a probability of nothing; infinity would make gradients NaN


@dataclass(frozen=True)
class Band:
    """The part of the lattice that the loss sums over: in each row (number of tokens) the units
    from `first` to `last`, both [B, T + 1]. `units` and `tokens` [B] are the true lengths of padded
    lessons.
    """

    first: Tensor
    last: Tensor
    units: Tensor
    tokens: Tensor

    @property
    def nodes(self) -> Tensor:
        """The unit of each node [B, T + 1, W]; padding repeats the row's last unit."""
        width = int((self.last - self.first).max()) + 1
        steps = torch.arange(width, device=self.first.device)
        return torch.minimum(self.first[..., None] + steps, self.last[..., None])

    @property
    def mask(self) -> Tensor:
        """The mask of real nodes [B, T + 1, W], False at padding."""
        width = int((self.last - self.first).max()) + 1
        steps = torch.arange(width, device=self.first.device)
        return steps <= (self.last - self.first)[..., None]


def band(places: Tensor, units: Tensor, tokens: Tensor, reach: int) -> Band:
    """Return the band of nodes at most `reach` units from a known alignment. `places` [B, T] is the
    unit that speaks each token; it never decreases.
    """
    count = len(places)
    end = (units - 1)[:, None]  # [B, 1]
    rows = torch.arange(places.shape[1] + 1, device=places.device)
    # Row j is entered by token j - 1 and left by token j; behind the last one blanks lead out.
    entered = torch.cat((places.new_zeros(count, 1), places), dim=1)
    left = torch.cat((places, end), dim=1)
    left = torch.where(rows >= tokens[:, None], end, left)
    entered = torch.where(rows > tokens[:, None], end, entered)
    first = (entered - reach).clamp(min=0)
    last = torch.minimum(left + reach, end)
    return Band(torch.minimum(first, last), last, units, tokens)


def transducer_loss(blank: Tensor, emit: Tensor, within: Band) -> Tensor:
    """Return -log of the summed probability of all paths inside the band, [B].

    `blank` and `emit` are log-probabilities at the band's nodes [B, T + 1, W]: of a blank, which
    leads to the next unit, and of the true next token (any value in rows without one).
    """
    ahead = blank.cumsum(-1) - blank  # log of all blanks before each unit of a row
    # Only unit 0 is there before anything was read.
    start = ahead[:, 0].masked_fill(~within.mask[:, 0], NEVER)
    ways = _chained(_ways(ahead, emit, within))
    forward = (start[..., None] + ways).logsumexp(1)  # [B, W]
    end = within.tokens[:, None]  # row of each lesson behind its last token
    place = within.units[:, None] - 1 - within.first.gather(1, end)  # [B, 1]
    where = end[..., None].expand(-1, 1, blank.shape[-1])
    last = blank.gather(1, where)[:, 0].gather(1, place)
    return -(forward.gather(1, place) + last).flatten()


def _ways(ahead: Tensor, emit: Tensor, within: Band) -> Tensor:
    """Return matrices [B, 1 + T, W, W] of log-probabilities from each unit of a row to each unit of
    the next row: one token, then any number of blanks. The first matrix, and those after a lesson's
    last token, are the identity.
    """
    inside, count = within.mask, ahead.shape[1] - 1
    steps = torch.arange(ahead.shape[-1], device=ahead.device)
    entered = steps - within.first.diff(dim=1)[..., None]  # [B, T, W] places in the next row
    begun = ahead[:, 1:].gather(2, entered.clamp(0, len(steps) - 1))
    ways = (emit[:, :-1] - begun)[..., None] + ahead[:, 1:, None]
    onward = (entered >= 0)[..., None] & (steps >= entered[..., None])
    legal = onward & inside[:, :-1, :, None] & inside[:, 1:, None]
    stays = torch.where(steps[:, None] == steps, 0.0, NEVER)
    over = torch.arange(count, device=ahead.device) >= within.tokens[:, None]
    ways = torch.where(over[..., None, None], stays, ways.masked_fill(~legal, NEVER))
    return torch.cat((stays.expand(len(ways), 1, -1, -1), ways), dim=1)


def _chained(ways: Tensor) -> Tensor:
    """Return the product [B, W, W] of matrices of log-probabilities [B, T, W, W]. They are
    multiplied pair by pair, because T products one after the other take a graphics card longer than
    the rest of a step.
    """
    while ways.shape[1] > 1:
        even = ways.shape[1] // 2 * 2
        first, second = ways[:, 0:even:2], ways[:, 1:even:2]
        joined = (first[..., None] + second[..., None, :, :]).logsumexp(-2)
        ways = torch.cat((joined, ways[:, even:]), dim=1)
    return ways[:, 0]
