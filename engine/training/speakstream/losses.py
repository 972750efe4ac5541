"""The stages `voice`, `vocoder` and `export` of SpeakStream.

The vocoder is a decoder (pulses and filters) that learns to turn mel spectra into sound, exact
spectra and spectra rounded to levels, because SpeakStream's network predicts only levels.
Invariant: a vocoder's input depends on the samples alone. A pack is read back before its stage is
done.
"""

import random
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.codec.mel import COLUMN, LEVELS, MelSpectrum, fresh_decoder
from engine.codec.mimi import FRAME_SAMPLES
from engine.training import packing
from engine.training.codec.sound_losses import Made, SoundLearner
from engine.training.codec.speech import Utterances, draw_windows, read_speech
from engine.training.corpus.speakers import People, flat
from engine.training.loop import Learner, Losses, length_bucket, on_device
from engine.training.networks import initialise, run_stack, scale_residuals
from engine.training.run import Run
from engine.training.speakstream import data
from engine.training.speakstream.data import NOTHING, SpeakStreamBatch, WordsUtterance
from engine.training.utterances import read_sides
from engine.tts.pack_files import VOCODER_FILE, VOICE_FILE
from engine.tts.speakstream import synthesiser
from engine.tts.speakstream.model import (
    POSITION_RATE,
    SpeakStreamModel,
    SpeakStreamPackConfig,
    SpeakStreamShape,
)

LEAD = 5 * COLUMN  # samples before a vocoder's window, which its first columns need


def fresh_model(shape: SpeakStreamShape) -> SpeakStreamModel:
    """Build the network with initial weights from torch's generator."""
    model = SpeakStreamModel(shape)
    initialise(model)
    scale_residuals(model.stack)
    nn.init.normal_(model.level.weight, std=1.0)  # one of many that are then summed up
    model.leave.weight.data *= 0.3  # begin near an even choice
    return model


def hidden(
    model: SpeakStreamModel, batch: SpeakStreamBatch, prenet_dropout: float, dropout: float = 0.0
) -> Tensor:
    """Return the network's output at each position of a batch, [B, L, D]. Levels are embedded at
    speech alone, because two thirds of the positions are text.
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

    def __init__(self, run: Run) -> None:
        self._recipe, self._sides = run.recipe.voice, read_sides(run, WordsUtterance)
        self._hop, self._levels = run.recipe.generation.hop, data.levels_of(run)
        self._model = fresh_model(self._recipe.shape)
        super().__init__(run, self._recipe.schedule, voice=self._model)

    def learn(self, share: float, draw: random.Random) -> Losses:
        recipe = self._recipe
        batch = self._batch(self._sides.training, draw)
        batch = data.corrupted(batch, wrong=recipe.wrong_levels, lost=recipe.lost)
        return self._optimise(self._losses(batch), end=recipe.end_weight)

    def validated(self, draw: random.Random) -> Losses:
        return self._losses(self._batch(self._sides.validation, draw))

    def _batch(self, people: People[WordsUtterance], draw: random.Random) -> SpeakStreamBatch:
        recipe = self._recipe
        longest = recipe.longest_seconds * POSITION_RATE
        chosen = length_bucket(flat(people), draw, self._batch_size, longest)
        window = draw.randint(1, recipe.largest_window)  # of all, or some would be mostly padding
        lessons = [data.make_lesson(each, self._levels, window, self._hop) for each in chosen]
        return on_device(data.collated(lessons), self._device)

    def _losses(self, batch: SpeakStreamBatch) -> Losses:
        """Return the cross-entropy of the levels and that of the units' ends."""
        recipe, model = self._recipe, self._model
        real = batch.unit != NOTHING  # [B, L]
        with self._autocast():
            rows = hidden(model, batch, recipe.prenet_dropout, recipe.dropout)
            predicted = model.leave(rows[real]), model.end(rows[real])[..., 0]
        levels, end = (each.float() for each in predicted)
        targets = batch.targets[real].flatten()
        return {
            "levels": functional.cross_entropy(levels.view(-1, LEVELS), targets),
            "end": functional.binary_cross_entropy_with_logits(end, batch.end[real].float()),
        }


class VocoderLearner(SoundLearner):
    """Train the vocoder, with a critic."""

    averaged = "vocoder"

    def __init__(self, run: Run) -> None:
        self._recipe, self._levels = run.recipe.vocoder, data.levels_of(run)
        self._spectrum = MelSpectrum().to(run.device)
        self.shape = self._recipe.shape
        self._decoder = fresh_decoder(self.shape)
        speech = read_speech(run, self._recipe.hours)
        super().__init__(run, self._recipe, speech, vocoder=self._decoder)

    def _losses(self, side: Utterances, draw: random.Random) -> Made:
        frames = self._recipe.window_frames
        length = frames * FRAME_SAMPLES
        windows = draw_windows(side, draw, self._batch_size, length, FRAME_SAMPLES)
        longer = [each.samples(start - LEAD, LEAD + length) for each, start in windows]
        pitch = [each.pitch_of(start // FRAME_SAMPLES, frames) for each, start in windows]
        pcm, track = (torch.stack(each).to(self._device) for each in (longer, pitch))
        mel = self._spectrum(pcm)[:, LEAD // COLUMN :]
        rough = self._levels.restored(self._levels.quantised(mel))
        rounded = torch.tensor([draw.random() < self._recipe.rounded for _ in mel])
        mel = torch.where(rounded[:, None, None].to(mel.device), rough, mel)
        return self._decoded(self._decoder, mel.transpose(1, 2), track, pcm[:, LEAD:])


def export_pack(run: Run) -> None:
    """Write SpeakStream's pack."""
    recipe, levels = run.recipe, data.levels_of(run)
    generation = replace(recipe.generation, pace=round(run.facts("encode")["pace"], 3))
    config = SpeakStreamPackConfig(recipe.export.name, recipe.voice.shape, generation, levels)
    networks = {VOICE_FILE: "voice", VOCODER_FILE: "vocoder"}
    packing.export_pack(run, networks, config, synthesiser.load)
