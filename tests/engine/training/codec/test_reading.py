"""A reader of real speech holds a decoder to what can be read from it."""

import torch

from engine.training.codec.reading import SLOTS, Reading
from engine.training.codec.speech import SOUND_NUMBERS
from engine.training.ranks import Ranks
from engine.training.recipe import Schedule

ALONE = Ranks(0, 1, torch.device("cpu"))
SOUNDS = len(SOUND_NUMBERS)


def test_it_learns_from_real_speech_and_teaches_what_is_made() -> None:
    torch.manual_seed(1)
    slots = torch.randint(0, SOUNDS, (2, 6 * SLOTS))
    meaning = torch.randn(SOUNDS, 24)
    real = meaning[slots].view(2, 6, SLOTS, 24).sum(2).transpose(1, 2)  # [B, D, T]
    made = torch.randn(2, 24, 6, requires_grad=True)
    reading = Reading(Schedule(steps=60, batch=1, learning_rate=3e-2), 24, ALONE.device)
    before = [value.clone() for value in reading.reader.parameters()]
    losses = []
    for _ in range(60):
        loss = reading.misread(real, made, slots)
        loss.backward()
        reading.learn(ALONE)
        losses.append(float(loss.detach()))
    assert made.grad is not None
    assert bool(made.grad.any())
    assert not torch.equal(before[0], reading.reader.weight)
    assert float(reading.misread(real, real, slots)) < 0.2 * losses[0]
    assert losses[-1] > losses[0]  # noise stays noise to it
