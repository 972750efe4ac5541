"""Readers of sounds: whoever makes speech is held to what can be read from it.

A codec learns with readers of its codes (stage.py), a decoder beside a reader of real speech, which
reads the decoder's: distances of spectra hardly notice a consonant that became another. Invariant:
the reader of real speech learns from that alone.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.codec.mimi import FRAME_SAMPLES
from engine.training import recipe as recipes
from engine.training.codec.speech import SLOT, SOUND_NUMBERS
from engine.training.loop import optimiser, optimiser_step
from engine.training.ranks import Ranks

SLOTS = FRAME_SAMPLES // SLOT  # sounds read from one frame
RATE = 3.0  # of a reader that joins late, a factor on the schedule's learning rate


def fresh_reader(width: int) -> nn.Linear:
    """What reads the sounds of a frame's slots from its latents [D]."""
    return nn.Linear(width, SLOTS * len(SOUND_NUMBERS))


def misread(reader: nn.Module, latents: Tensor, slots: Tensor) -> Tensor:
    """Cross-entropy of the sounds [B, T SLOTS] that a reader reads from latents [B, D, T]."""
    logits = reader(latents.transpose(1, 2))  # [B, T, SLOTS * sounds]
    return functional.cross_entropy(logits.reshape(-1, len(SOUND_NUMBERS)), slots.flatten())


class Reading:
    """A reader beside a decoder."""

    def __init__(self, schedule: recipes.Schedule, width: int, device: torch.device) -> None:
        self.reader = fresh_reader(width).to(device)
        self.optimiser = optimiser(self.reader, schedule, scale=RATE)
        self._clip = schedule.clip
        self._real = torch.zeros(())  # its own loss, of the last windows

    def misread(self, real: Tensor, made: Tensor, slots: Tensor) -> Tensor:
        """What is misread of latents [B, D, T] that were made in place of real ones."""
        self._real = misread(self.reader, real, slots)
        self.reader.requires_grad_(requires_grad=False)
        of_made = misread(self.reader, made, slots)
        self.reader.requires_grad_(requires_grad=True)
        return of_made

    def learn(self, ranks: Ranks) -> None:
        """One step on the real ones of the last misread()."""
        optimiser_step(self._real, self.optimiser, self._clip, ranks)
