"""The stage `speaker`: a small network learns to distinguish hundreds of virtual speakers.

It is trained as a classifier with an additive angular margin (Deng et al., 2019), and validated by
whether the nearest clip of a held-out speaker's clip is the same speaker's. Invariant: held-out
speakers take no part in training.
"""

import math
import random

import numpy as np
import numpy.typing as npt
import soxr
import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.training.codec.speech import CorpusUtterance, Speech, read_speech
from engine.training.corpus.rooms import in_a_room
from engine.training.corpus.utterance import SAMPLE_RATE
from engine.training.loop import Learner, Losses, Maker, StepContext
from engine.training.run import Run
from engine.training.voxtream import Speaker
from engine.tts.speaker.small import SAMPLE_RATE as SPEAKER_RATE
from engine.tts.speaker.small import (
    SmallSpeaker,
    SmallSpeakerConfig,
)

VALIDATION_CLIPS = 60
NOISY = 0.5  # share of windows with the sound of a room


def speaker(run: Run) -> Maker:
    """Return a function that makes the speaker encoder's learner on a device."""
    recipe = run.recipe.speaker
    speech = read_speech(run, recipe.hours)
    return lambda device: SpeakerLearner(recipe, speech, device)


class SpeakerLearner(Learner):
    """Train the speaker encoder, with a class for each training speaker."""

    averaged = "speaker"

    def __init__(self, recipe: Speaker, speech: Speech, device: torch.device) -> None:
        self._recipe = recipe
        self._speech = speech
        numbers = sorted({utterance.entry.speaker for utterance in speech.training})
        self._classes = {number: place for place, number in enumerate(numbers)}
        self._by_speaker = {
            number: [
                utterance for utterance in speech.training if utterance.entry.speaker == number
            ]
            for number in numbers
        }
        self.shape = SmallSpeakerConfig(recipe.bands, recipe.channels, recipe.width)
        self._network = SmallSpeaker(self.shape)
        self._heads = nn.Linear(recipe.width, len(numbers), bias=False)
        both = nn.ModuleDict({"network": self._network, "classes": self._heads})
        super().__init__(recipe.schedule, device, speaker=both)

    def select(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        start = "network."
        return {k[len(start) :]: v for k, v in weights.items() if k.startswith(start)}

    def learn(self, context: StepContext) -> Losses:
        draw = context.draw
        people = [draw.choice(list(self._by_speaker)) for _ in range(self._batch_size)]
        clips = [self._clip(draw.choice(self._by_speaker[number]), draw) for number in people]
        labels = torch.tensor([self._classes[number] for number in people], device=self._device)
        loss = self._loss(torch.stack(clips).to(self._device), labels)
        return self._optimise({"margin": loss})

    @torch.no_grad()
    def validate(self) -> dict[str, float]:
        """Return the share of held-out clips whose nearest clip is another speaker's."""
        clips = self._speech.held_out[:VALIDATION_CLIPS]
        draw, seconds = random.Random(0), self._recipe.window_seconds
        pcm = np.stack([_window(each, seconds, draw) for each in clips])
        self._network.eval()
        vectors = functional.normalize(self._network(torch.from_numpy(pcm).to(self._device)))
        self._network.train()
        nearest = (vectors @ vectors.T).fill_diagonal_(-1).argmax(1)
        people = torch.tensor([each.speaker for each in clips], device=self._device)
        return {"nearest_wrong": float((people != people[nearest]).float().mean())}

    def _clip(self, utterance: CorpusUtterance, draw: random.Random) -> Tensor:
        pcm = _window(utterance, self._recipe.window_seconds, draw)
        if draw.random() < NOISY:
            pcm = in_a_room(pcm, SPEAKER_RATE, draw)
        return torch.from_numpy(pcm)

    def _loss(self, pcm: Tensor, labels: Tensor) -> Tensor:
        vectors = functional.normalize(self._network(pcm))
        cosines = functional.linear(vectors, functional.normalize(self._heads.weight))
        angles = cosines.clamp(-1 + 1e-6, 1 - 1e-6).acos()
        own = functional.one_hot(labels, len(self._classes)).bool()
        with_margin = torch.where(own, (angles + self._recipe.margin).clamp(max=math.pi), angles)
        return functional.cross_entropy(with_margin.cos() * self._recipe.scale, labels)


def _window(
    utterance: CorpusUtterance, seconds: float, draw: random.Random
) -> npt.NDArray[np.float32]:
    """Return a window of an utterance at the encoder's rate. A short utterance is repeated."""
    length = int(seconds * SAMPLE_RATE)
    start = draw.randrange(max(1, len(utterance.pcm) - length))
    part = utterance.pcm[start : start + length].astype(np.float32) / 32768
    if len(part) < length:
        part = np.resize(part, length)
    resampled: npt.NDArray[np.float32] = soxr.resample(part, SAMPLE_RATE, SPEAKER_RATE)
    return resampled
