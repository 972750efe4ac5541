"""The stage `semantic`: tokens that say what is spoken and not by whom.

Two teachers take the place of HuBERT (ours): a reader of the phone of every 20 ms, which the corpus
knows exactly, and a small decoder of the spectrum that is given who speaks.
"""

import random
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.codec.mel import BANDS, COLUMN, MelSpectrum
from engine.codec.semantic import (
    TOKEN_SAMPLES,
    SemanticConfig,
    SemanticTokeniser,
)
from engine.nn.weights_file import shape_metadata
from engine.training import recipe as recipes
from engine.training.codec.speech import SLOT, SOUND_NUMBERS, Speech, Spoken, read_speech
from engine.training.loop import Learner, Losses, StepContext, train_and_save
from engine.training.run import Run

SLOTS = TOKEN_SAMPLES // SLOT  # phones read off one token
COLUMNS = TOKEN_SAMPLES // COLUMN  # of the spectrum
SPEAKER_CODES = 32  # numbers for a speaker, learnt here; the speaker encoder is not needed yet


def train_semantic(run: Run) -> None:
    """Train and write semantic.safetensors (its last weights, not averaged ones: the tokens must be
    those that were learnt).
    """
    inputs = run.require("corpus")
    recipe = run.recipe.semantic
    speech = read_speech(run, recipe.hours)
    config = semantic_config(recipe)
    train_and_save(
        run,
        run.stage("semantic") / "semantic.safetensors",
        lambda device: SemanticLearner(recipe, speech, device),
        inputs,
        shape=shape_metadata(config),
    )


def semantic_config(recipe: recipes.Semantic) -> SemanticConfig:
    """The shape a recipe asks for."""
    return SemanticConfig(recipe.tokens, recipe.width, recipe.blocks)


class SemanticLearner(Learner):
    """The tokeniser, a reader of phones, and a decoder that knows who speaks."""

    averaged = "semantic"
    exact = ("",)  # no weight is averaged

    def __init__(self, recipe: recipes.Semantic, speech: Speech, device: torch.device) -> None:
        self._recipe = recipe
        self._speech = speech
        every = (*speech.training, *speech.validation, *speech.held_out)
        numbers = sorted({utterance.entry.speaker for utterance in every})
        self._people = {number: place for place, number in enumerate(numbers)}
        tokeniser = SemanticTokeniser(semantic_config(recipe))
        helpers = nn.ModuleDict(
            {
                "reader": nn.Linear(recipe.width, SLOTS * len(SOUND_NUMBERS)),
                "people": nn.Embedding(len(numbers), SPEAKER_CODES),
                "decoder": nn.Sequential(
                    nn.Linear(recipe.width + SPEAKER_CODES, 2 * recipe.width),
                    nn.GELU(),
                    nn.Linear(2 * recipe.width, COLUMNS * BANDS),
                ),
            }
        )
        super().__init__(recipe.schedule, device, semantic=tokeniser, helpers=helpers)
        self._mel = MelSpectrum().to(device)

    def learn(self, context: StepContext) -> Losses:
        return self._optimise(self._losses(self._speech.training, context.draw))

    def validated(self, draw: random.Random) -> dict[str, Tensor]:
        return self._losses(self._speech.validation, draw)

    def _losses(self, side: tuple[Spoken, ...], draw: random.Random) -> dict[str, Tensor]:
        """The losses of a batch of windows, by name."""
        recipe, helpers = self._recipe, self.parts["helpers"]
        assert isinstance(helpers, nn.ModuleDict)
        length = recipe.window_tokens * TOKEN_SAMPLES
        windows = [self._speech.window(side, draw, length) for _ in range(self._batch_size)]
        pcm = torch.stack([each.samples(start, length) for each, start in windows])
        slots = torch.stack([each.slots(start, length) for each, start in windows])
        people = torch.tensor([self._people[each.entry.speaker] for each, _ in windows])
        pcm, slots, people = (part.to(self._device) for part in (pcm, slots, people))
        quantised: Any = self.parts["semantic"](pcm[:, None])
        rows = quantised.x.transpose(1, 2)  # [B, T, width]
        phones = helpers["reader"](rows).reshape(-1, len(SOUND_NUMBERS))
        vectors = helpers["people"](people)[:, None].expand(-1, rows.shape[1], -1)
        columns = helpers["decoder"](torch.cat((rows, vectors), dim=-1)).reshape(
            len(pcm), -1, BANDS
        )
        return {
            "phones": recipe.phones * functional.cross_entropy(phones, slots.flatten()),
            "mel": recipe.mel * functional.l1_loss(columns, self._mel(pcm)),
            "commitment": recipe.commitment * quantised.penalty,
        }
