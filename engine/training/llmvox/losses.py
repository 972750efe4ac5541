"""The stages `voice` and `export` of LLMVoX.

Lessons are single sentences. Invariant: a pack is read back before its stage is done.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from engine.nn.transformer import Heads
from engine.training import packing
from engine.training.corpus.speakers import People, flat
from engine.training.llmvox.data import SentenceUtterance, splice
from engine.training.loop import Learner, Losses, length_bucket, on_device
from engine.training.networks import guide_loss, initialise, padded, run_stack, scale_residuals
from engine.training.run import Run
from engine.training.smlle.spectrum import spectrum_shape_of
from engine.training.utterances import read_sides
from engine.tts.llmvox import synthesiser
from engine.tts.llmvox.model import (
    NOTHING,
    TEXT_END,
    TOKEN_RATE,
    LlmVoxModel,
    LlmVoxPackConfig,
    LlmVoxShape,
    Prediction,
)
from engine.tts.pack_files import SPECTRUM_FILE, VOCODER_FILE, VOICE_FILE

MANY = 64  # sentences from which a batch is chosen by length
UNKNOWN = -1  # a label that nothing is learnt from


@dataclass(frozen=True)
class LlmVoxBatch:
    """A batch of B sentences and T positions, padded at the end."""

    units: Tensor  # [B, T]
    before: Tensor  # [B, T] the token before
    labels: Tensor  # [B, T] the token to say or the end's label, UNKNOWN behind it
    onsets: Tensor  # [B, T] whether a word begins, 0 or 1
    speakers: Tensor  # [B, S]
    guide: Tensor  # [B, T] the place of the unit that a token says, UNKNOWN where none does


def shape_of(run: Run) -> LlmVoxShape:
    """Return the shape of LLMVoX's network from the recipe."""
    own = run.recipe.voice
    return LlmVoxShape(own.stack, spectrum_shape_of(run), own.prenet)


def fresh_model(shape: LlmVoxShape) -> LlmVoxModel:
    """Build the network with initial weights from torch's generator."""
    model = LlmVoxModel(shape)
    initialise(model)
    scale_residuals(model.stack)
    model.leave.weight.data *= 0.3  # begin near an even choice
    model.codebook.weight.data.normal_()  # near one another, tokens would all mean the same
    return model


def predict(
    model: LlmVoxModel,
    batch: LlmVoxBatch,
    prenet_dropout: float,
    dropout: float = 0.0,
    layers: list[Heads] | None = None,
) -> Prediction:
    """Predict the next token at each position. `layers` receives the attention heads."""
    keep = model.token.keep_masks(batch.before.shape, prenet_dropout, None)
    x = model.enter(batch.units, batch.before, batch.speakers, keep)
    x = functional.dropout(x, dropout, training=model.training)
    return model.predict(run_stack(model.stack, x, layers=layers))


def collated(sentences: Sequence[SentenceUtterance], end: int) -> LlmVoxBatch:
    """Collate sentences. `end`: the label of the end, and the input at the first position."""
    labels = padded([np.append(each.tokens, end) for each in sentences], UNKNOWN)
    onsets = torch.zeros_like(labels)
    for row, each in enumerate(sentences):
        onsets[row, torch.from_numpy(each.onsets).long()] = 1
    length = labels.shape[1]
    return LlmVoxBatch(
        units=padded([np.append(each.units, TEXT_END) for each in sentences], NOTHING, length),
        before=padded([np.insert(each.tokens, 0, end) for each in sentences], end),
        labels=labels,
        onsets=onsets,
        speakers=padded(each.vector for each in sentences),
        guide=padded((each.said for each in sentences), UNKNOWN, length),
    )


class LlmVoxLearner(Learner):
    """Train LLMVoX's network."""

    averaged = "voice"

    def __init__(self, run: Run) -> None:
        self._recipe, self._sides = run.recipe.voice, read_sides(run, SentenceUtterance)
        self._model = fresh_model(shape_of(run))
        super().__init__(run, self._recipe.schedule, voice=self._model)

    def learn(self, share: float, draw: random.Random) -> Losses:
        recipe = self._recipe
        batch = self._batch(self._sides.training, draw)
        before = batch.before
        wrong = torch.rand(before.shape, device=before.device) < recipe.wrong_tokens
        other = torch.randint_like(before, self._model.no_token)
        before = torch.where(wrong & (before < self._model.no_token), other, before)
        losses = self._losses(replace(batch, before=before))
        return self._optimise(losses, onsets=recipe.onset_weight, guide=recipe.guided)

    def validated(self, draw: random.Random) -> Losses:
        return self._losses(self._batch(self._sides.validation, draw))

    def _batch(self, people: People[SentenceUtterance], draw: random.Random) -> LlmVoxBatch:
        """Draw a batch. In training, a share of the sentences are splices of their speaker's."""
        longest, every = self._recipe.longest_seconds * TOKEN_RATE, list(flat(people))
        if people is self._sides.training:
            every = draw.choices(every, k=MANY)
            for number, each in enumerate(every):
                if draw.random() < self._recipe.spliced:
                    made = splice(people[each.speaker], draw)
                    every[number] = made if len(made.units) < made.steps else each
        count = self._batch_size
        sentences = length_bucket(every, draw, count, longest)
        return on_device(collated(sentences, self._model.no_token), self._device)

    def _losses(self, batch: LlmVoxBatch) -> Losses:
        """Return the cross-entropy of the tokens, that of the words' onsets, and the loss of the
        guided attention head. The few onsets weigh as much as all other tokens together.
        """
        recipe = self._recipe
        layers: list[Heads] = []
        with self._autocast():
            prediction = predict(self._model, batch, recipe.prenet_dropout, recipe.dropout, layers)
        real = batch.labels != UNKNOWN
        labels = batch.labels.flatten()
        logits = prediction.tokens.flatten(0, 1).float()
        tokens = functional.cross_entropy(logits, labels, ignore_index=UNKNOWN)
        begins = batch.onsets.float()
        heavy = (real.sum() - begins.sum()) / begins.sum().clamp(min=1)
        weights = torch.where(begins > 0, heavy, 1.0) * real / real.sum()
        onsets = functional.binary_cross_entropy_with_logits(
            prediction.onset.float(), begins, weights, reduction="sum"
        )
        return {
            "tokens": tokens,
            "onsets": onsets,
            "guide": guide_loss(layers[len(layers) // 2], batch.guide),
        }


def export_pack(run: Run) -> None:
    """Write LLMVoX's pack, with SpeakStream's vocoder."""
    recipe = run.recipe
    config = LlmVoxPackConfig(recipe.export.name, shape_of(run), recipe.generation)
    networks = {VOICE_FILE: "voice", SPECTRUM_FILE: "spectrum", VOCODER_FILE: "vocoder"}
    packing.export_pack(run, networks, config, synthesiser.load)
