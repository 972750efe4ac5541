"""What a session gives to its vocoder."""

from dataclasses import dataclass, field

import torch
from torch import Tensor


@dataclass
class Recorder:
    """In place of a vocoder or codec: keeps the columns it is given, and makes silence of them."""

    hop: int = 480  # samples of a column
    pieces: list[Tensor] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)  # pieces before each

    def open(self) -> "Recorder":
        return self

    def decode(self, columns: Tensor) -> Tensor:
        self.pieces.append(columns)
        return torch.zeros(self.hop * len(columns))

    def end(self) -> Tensor:
        self.ends.append(len(self.pieces))
        return torch.zeros(1)
