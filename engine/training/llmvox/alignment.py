"""Where LLMVoX's attention is to lie: the paper gives no alignment, the corpus knows the words'."""

from typing import Final

import torch
from torch import Tensor

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
