"""A Mimi whose decoder is told which phones each frame says.

Codes lose consonants before anything else, and whoever speaks a text knows it exactly (a text-aware
decoder, as in TaDiCodec, Wang et al. 2025). The ids of a frame's first and last phone are two rows
behind the codebooks. Invariant: a frame that is told nothing is decoded from its codes alone.
"""

from typing import Any, Final

from moshi.models.compression import MimiModel
from torch import Tensor, nn

from engine.codec.mimi import NOTHING

ROWS: Final = 2
GAIN: Final = (
    30.0  # of the phones: the size of latents, which small weights would take long to reach
)


class TextAwareMimi(MimiModel):
    """Codes [B, K + ROWS, T] -> samples, the ids in the last rows from NOTHING to `phones` - 1."""

    phone_rows = ROWS

    def __init__(self, *parts: Any, phones: int, **sizes: Any) -> None:
        """A fresh network hears nothing in the phones."""
        super().__init__(*parts, **sizes)
        self.phones = nn.Embedding(phones - NOTHING, self.dimension, padding_idx=0)
        nn.init.zeros_(self.phones.weight)

    def decode_latent(self, codes: Tensor) -> Tensor:
        latents: Tensor = super().decode_latent(codes[:, :-ROWS])
        said: Tensor = self.phones(codes[:, -ROWS:] - NOTHING).sum(dim=1)  # [B, T, D]
        return latents + GAIN * said.transpose(1, 2)
