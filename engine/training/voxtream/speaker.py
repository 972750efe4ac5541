"""The stage `speaker`: a small network learns to distinguish hundreds of virtual speakers.

It is trained as a classifier with an additive angular margin (Deng et al., 2019), and validated by
whether the nearest clip of a held-out speaker's clip is the same speaker's. Invariant: held-out
speakers take no part in training.
"""

import math
import random

import numpy as np
import soxr
import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.training.codec.speech import CorpusUtterance, read_speech
from engine.training.corpus.shards import floats
from engine.training.corpus.speakers import flat
from engine.training.corpus.utterance import SAMPLE_RATE, in_a_room
from engine.training.loop import Learner, Losses
from engine.training.run import Run
from engine.training.utterances import Pcm
from engine.tts.speaker.small import SAMPLE_RATE as SPEAKER_RATE
from engine.tts.speaker.small import SmallSpeaker

VALIDATION_CLIPS = 60
NOISY = 0.5  # share of windows with the sound of a room
MARGIN, SCALE = 0.2, 24.0


class SpeakerLearner(Learner):
    """Train the speaker encoder, with a class for each training speaker."""

    averaged = "speaker"

    def __init__(self, run: Run) -> None:
        self._recipe = run.recipe.speaker
        self._speech = read_speech(run, self._recipe.hours)
        self._people = list(self._speech.training)
        self.shape = self._recipe.shape
        self._network = SmallSpeaker(self.shape)
        self._classes = nn.Linear(self.shape.width, len(self._people), bias=False)
        parts = {"speaker": self._network, "classes": self._classes}
        super().__init__(run, self._recipe.schedule, **parts)

    def learn(self, share: float, draw: random.Random) -> Losses:
        labels = [draw.randrange(len(self._people)) for _ in range(self._batch_size)]
        clips = []
        for label in labels:
            pcm = self._window(draw.choice(self._speech.training[self._people[label]]), draw)
            if draw.random() < NOISY:
                pcm = in_a_room(pcm, SPEAKER_RATE, draw)
            clips.append(torch.from_numpy(pcm))
        numbers = torch.tensor(labels, device=self._device)
        loss = self._loss(torch.stack(clips).to(self._device), numbers)
        return self._optimise({"margin": loss})

    @torch.no_grad()
    def validate(self) -> dict[str, float]:
        """Return the share of held-out clips whose nearest clip is another speaker's."""
        clips = flat(self._speech.held_out or self._speech.training)[:VALIDATION_CLIPS]
        draw = random.Random(0)
        pcm = torch.from_numpy(np.stack([self._window(each, draw) for each in clips]))
        with self._eval_mode():
            vectors = functional.normalize(self._network(pcm.to(self._device)))
        nearest = (vectors @ vectors.T).fill_diagonal_(-1).argmax(1)
        people = torch.tensor([each.speaker for each in clips], device=self._device)
        return {"nearest_wrong": float((people != people[nearest]).float().mean())}

    def _loss(self, pcm: Tensor, labels: Tensor) -> Tensor:
        vectors = functional.normalize(self._network(pcm))
        cosines = functional.linear(vectors, functional.normalize(self._classes.weight))
        angles = cosines.clamp(-1 + 1e-6, 1 - 1e-6).acos()
        own = functional.one_hot(labels, len(self._people)).bool()
        with_margin = torch.where(own, (angles + MARGIN).clamp(max=math.pi), angles)
        return functional.cross_entropy(with_margin.cos() * SCALE, labels)

    def _window(self, utterance: CorpusUtterance, draw: random.Random) -> Pcm:
        """Return a window of an utterance at the encoder's rate. A short utterance is repeated."""
        length = int(self._recipe.window_seconds * SAMPLE_RATE)
        start = utterance.draw_start(draw, length, 1)
        part = np.resize(floats(utterance.pcm[start : start + length]), length)
        resampled: Pcm = soxr.resample(part, SAMPLE_RATE, SPEAKER_RATE)
        return resampled
