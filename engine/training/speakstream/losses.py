"""The stages `voice` and `export` of SpeakStream.

Invariant: a pack is read back before its stage is done.
"""

import random

from torch import Tensor, nn
from torch.nn import functional

from engine.codec.mel import LEVELS
from engine.training import packing
from engine.training.corpus.speakers import People, Sides, flat
from engine.training.loop import Learner, Losses, length_bucket, on_device
from engine.training.networks import initialise, run_stack, scale_residuals, stack_config
from engine.training.run import Run
from engine.training.speakstream import Voice
from engine.training.speakstream.data import (
    NOTHING,
    Scale,
    SpeakStreamBatch,
    WordsUtterance,
    collated,
    corrupted,
    make_lesson,
    read_scale,
)
from engine.training.utterances import read_sides
from engine.tts.pack_files import VOCODER_FILE, VOICE_FILE
from engine.tts.speakstream import synthesiser
from engine.tts.speakstream.config import (
    POSITION_RATE,
    SpeakStreamGeneration,
    SpeakStreamPackConfig,
    SpeakStreamShape,
)
from engine.tts.speakstream.model import SpeakStreamModel


def voice(run: Run) -> "SpeakStreamLearner":
    """Return the network's learner."""
    sides = read_sides(run, WordsUtterance)
    return SpeakStreamLearner(run.recipe.voice, sides, read_scale(run), run.device)


def shape_of(recipe: Voice) -> SpeakStreamShape:
    """Return the shape of SpeakStream's network from its section of a recipe."""
    stack = stack_config(recipe.width, recipe.stack)
    return SpeakStreamShape(stack, level_width=recipe.level_width, prenet=recipe.prenet)


def fresh_model(shape: SpeakStreamShape) -> SpeakStreamModel:
    """Build the network with initial weights from torch's generator."""
    model = SpeakStreamModel(shape)
    initialise(model)
    scale_residuals(model.stack)
    nn.init.normal_(model.level.weight, std=1.0)  # one of many that are then summed up
    model.leave.weight.data *= 0.3  # begin near an even choice
    return model


def hidden(
    model: SpeakStreamModel,
    batch: SpeakStreamBatch,
    prenet_dropout: float,
    dropout: float = 0.0,
) -> Tensor:
    """Return the network's output at each position of a batch, [B, L, D]. `prenet_dropout` and
    `dropout` are shares of values set to zero. Levels are embedded at speech alone, because two
    thirds of the positions are text.
    """
    x = model.read(batch.ids.clamp(min=0), batch.speakers)
    speech = batch.is_speech
    keep = model.enter.keep_masks((int(speech.sum()),), prenet_dropout, None)
    x[speech] = model.hear(batch.inputs[speech], keep).to(x.dtype)
    x = x + model.saying(batch.unit, batch.later).to(x.dtype)
    x = functional.dropout(x, dropout, training=model.training)
    return run_stack(model.stack, x)


class SpeakStreamLearner(Learner):
    """Train SpeakStream's network."""

    averaged = "voice"

    def __init__(
        self, recipe: Voice, sides: Sides[WordsUtterance], scale: Scale, device: str
    ) -> None:
        self._recipe, self._sides, self._levels = recipe, sides, scale.levels
        self._model = fresh_model(shape_of(recipe))
        super().__init__(recipe.schedule, device, voice=self._model)

    def learn(self, share: float, draw: random.Random) -> Losses:
        recipe = self._recipe
        batch = self._batch(self._sides.training, draw)
        batch = corrupted(batch, wrong=recipe.wrong_levels, lost=recipe.lost)
        losses = self._losses(batch)
        return self._optimise(losses, losses["levels"] + recipe.end_weight * losses["end"])

    def validated(self, draw: random.Random) -> dict[str, Tensor]:
        return self._losses(self._batch(self._sides.validation, draw))

    def _batch(self, people: People[WordsUtterance], draw: random.Random) -> SpeakStreamBatch:
        recipe = self._recipe
        longest = recipe.longest_seconds * POSITION_RATE
        chosen = length_bucket(
            flat(people), lambda each: each.positions, draw, self._batch_size, longest=longest
        )
        window = draw.randint(1, recipe.largest_window)  # of all, or some would be mostly padding
        lessons = [make_lesson(each, self._levels, window, recipe.hop) for each in chosen]
        return on_device(collated(lessons), self._device)

    def _losses(self, batch: SpeakStreamBatch) -> dict[str, Tensor]:
        """Return the cross-entropy of the levels and that of the units' ends."""
        recipe, model = self._recipe, self._model
        real = batch.unit != NOTHING  # [B, L]
        with self._autocast():
            rows = hidden(model, batch, recipe.prenet_dropout, recipe.dropout)
            predicted = model.leave(rows[real]), model.end(rows[real])[..., 0]
        levels, end = (each.float() for each in predicted)
        return {
            "levels": functional.cross_entropy(
                levels.view(-1, LEVELS), batch.targets[real].flatten()
            ),
            "end": functional.binary_cross_entropy_with_logits(end, batch.end[real].float()),
        }


def export_pack(run: Run) -> packing.Facts:
    """Write SpeakStream's pack."""
    own, scale = run.recipe.voice, read_scale(run)
    generation = SpeakStreamGeneration(
        window=own.window,
        hop=own.hop,
        temperature=run.recipe.export.temperature,
        dropout=own.prenet_dropout,
        longer=own.longer,
        pace=round(scale.pace, 3),
    )
    config = SpeakStreamPackConfig(run.recipe.export.name, shape_of(own), generation, scale.levels)
    files = {VOICE_FILE: "voice", VOCODER_FILE: "vocoder"}
    networks = {name: packing.network(run.weights(stage)) for name, stage in files.items()}
    return packing.export_pack(run, networks, config, synthesiser.load)
