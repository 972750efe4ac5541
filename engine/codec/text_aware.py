"""A Mimi whose decoder also gets the phones of each frame.

Codes lose some of the sounds, but a speech synthesiser knows them exactly (a text-aware decoder, as
in TaDiCodec, Wang et al. 2025). The ids of a frame's first and last phone are in PHONE_ROWS rows
behind the codebooks. Invariant: a frame with the phones NOTHING is decoded from its codes alone.
"""

from typing import Any, Final

from moshi.models.compression import MimiModel
from torch import Tensor, nn

from engine.codec.mimi import NOTHING, PHONE_ROWS

GAIN: Final = 30.0  # of the phones: small weights would take long to reach the size of latents


class TextAwareMimi(MimiModel):
    """Codes [B, K + PHONE_ROWS, T] -> samples; ids of phones, the last rows, from NOTHING to
    `phones` - 1.
    """

    def __init__(self, *parts: Any, phones: int, **sizes: Any) -> None:
        """In a new network the phones have no effect."""
        super().__init__(*parts, **sizes)
        self.phones = nn.Embedding(phones - NOTHING, self.dimension, padding_idx=0)
        nn.init.zeros_(self.phones.weight)

    def decode_latent(self, codes: Tensor) -> Tensor:
        latents: Tensor = super().decode_latent(codes[:, :-PHONE_ROWS])
        said: Tensor = self.phones(codes[:, -PHONE_ROWS:] - NOTHING).sum(dim=1)  # [B, T, D]
        return latents + GAIN * said.transpose(1, 2)
