"""The transducer's loss: all monotonic alignments of units and tokens, or those near a known one.

At node (i, j), units 0..i were read and j tokens predicted. A token leads from it to (i, j + 1), a
blank to (i + 1, j); the blank at the last unit after the last token ends the path (SMLLE, 2.1;
equations 1 and 2). A band keeps the nodes near the alignment that the corpus knows (Speech-T's
idea): with a wide one this is the paper's loss, with reach 0 the cross-entropy of one path.

Letters: B lessons, T tokens, W units of a band, U units.
"""

from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

NEVER: Final = -1e5  # log of a probability of nothing; infinity would make gradients NaN


@dataclass(frozen=True)
class Band:
    """Which units a row of the lattice keeps: `first` and `last` of each, [B, T + 1]; lessons are
    padded at the end. `units` and `tokens` are how many each lesson has, [B].
    """

    first: Tensor
    last: Tensor
    units: Tensor
    tokens: Tensor

    @property
    def nodes(self) -> Tensor:
        """Unit of every node kept, [B, T + 1, W]; of those beyond a row's last, its last."""
        width = int((self.last - self.first).max()) + 1
        steps = torch.arange(width, device=self.first.device)
        return torch.minimum(self.first[..., None] + steps, self.last[..., None])

    @property
    def kept(self) -> Tensor:
        """Which nodes are real, [B, T + 1, W]."""
        width = int((self.last - self.first).max()) + 1
        steps = torch.arange(width, device=self.first.device)
        return steps <= (self.last - self.first)[..., None]


def band(places: Tensor, units: Tensor, tokens: Tensor, reach: int) -> Band:
    """The nodes at most `reach` units from an alignment: `places` [B, T] is the unit that says each
    token, never falling.
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
    """-log of the sum over all paths inside the band, [B].

    `blank` and `emit` are log-probabilities of the band's nodes [B, T + 1, W]: of going on to the
    next unit, and of the true token (anything in rows without one).
    """
    inside = within.kept
    width = inside.shape[-1]
    steps = torch.arange(width, device=blank.device)
    rows: list[Tensor] = []
    for row in range(inside.shape[1]):
        if row == 0:
            # Only unit 0 is there before anything was read.
            entered = torch.full_like(blank[:, 0], NEVER)
            entered[:, 0] = 0.0
        else:
            shift = within.first[:, row] - within.first[:, row - 1]  # [B]
            before = steps + shift[:, None]  # places of the same units in the row below
            lower = (rows[-1] + emit[:, row - 1]).gather(1, before.clamp(max=width - 1))
            entered = lower.masked_fill(before >= width, NEVER)
        entered = entered.masked_fill(~inside[:, row], NEVER)
        rows.append(_along(entered, blank[:, row]).masked_fill(~inside[:, row], NEVER))
    end = within.tokens[:, None]  # row of each lesson behind its last token
    place = (within.units[:, None] - 1 - within.first.gather(1, end))[..., None]  # [B, 1, 1]
    where = end[..., None].expand(-1, 1, width)
    forward = torch.stack(rows, dim=1).gather(1, where).gather(2, place)
    last = blank.gather(1, where).gather(2, place)
    return -(forward + last).flatten()


def _along(entered: Tensor, blank: Tensor) -> Tensor:
    """Add the paths along a row [B, W]: what entered at a unit or was at the one before."""
    ahead = blank.cumsum(-1) - blank  # log of all blanks before each unit
    return torch.logcumsumexp(entered - ahead, dim=-1) + ahead
