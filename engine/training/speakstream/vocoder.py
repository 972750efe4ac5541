"""The stage `vocoder`: a decoder (pulses and filters) learns to turn mel spectra into sound.

It learns on exact spectra and on spectra rounded to levels, because SpeakStream's network predicts
only levels. Invariant: its input depends on the samples alone.
"""

import random

import torch
from torch import Tensor

from engine.codec.mel import BANDS, COLUMN, Levels, MelSpectrum
from engine.codec.mimi import FRAME_SAMPLES
from engine.codec.vocoder import VocoderConfig, fresh_decoder
from engine.training.codec.sound_losses import SoundLearner
from engine.training.codec.speech import CorpusUtterance, read_speech
from engine.training.corpus.speakers import Sides
from engine.training.run import Run
from engine.training.speakstream import Vocoder
from engine.training.speakstream.data import read_scale

LEAD = 5 * COLUMN  # samples before a window, which its first columns need


def vocoder(run: Run) -> "VocoderLearner":
    """Return the vocoder's learner."""
    recipe = run.recipe.vocoder
    speech, levels = read_speech(run, recipe.hours), read_scale(run).levels
    return VocoderLearner(recipe, speech, levels, run.device)


class VocoderLearner(SoundLearner):
    """Train the vocoder, with a critic."""

    averaged = "vocoder"

    def __init__(
        self, recipe: Vocoder, speech: Sides[CorpusUtterance], levels: Levels, device: str
    ) -> None:
        self._recipe, self._levels = recipe, levels
        self._spectrum = MelSpectrum().to(device)
        self.shape = VocoderConfig(BANDS, recipe.width, recipe.blocks)
        self._decoder = fresh_decoder(self.shape)
        super().__init__(recipe, speech, device, vocoder=self._decoder)

    def _losses(
        self, side: tuple[CorpusUtterance, ...], draw: random.Random
    ) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        frames = self._recipe.window_frames
        length, samples, pitch = frames * FRAME_SAMPLES, [], []
        for utterance in draw.choices(side, k=self._batch_size):
            start = utterance.draw_start(draw, length, FRAME_SAMPLES)
            samples.append(utterance.samples(start - LEAD, LEAD + length))
            pitch.append(utterance.pitch_of(start // FRAME_SAMPLES, frames))
        longer, track = (torch.stack(each).to(self._device) for each in (samples, pitch))
        columns, pcm = self._columns(longer, draw).transpose(1, 2), longer[:, LEAD:]
        output, losses = self._decoded(self._decoder, columns, track, pcm)
        return pcm, output, losses

    def _columns(self, pcm: Tensor, draw: random.Random) -> Tensor:
        """Return the spectra of samples; in a share of the windows they are rounded to levels."""
        mel = self._spectrum(pcm)[:, LEAD // COLUMN :]
        rough = self._levels.restored(self._levels.quantised(mel))
        rounded = [draw.random() < self._recipe.rounded for _ in mel]
        return torch.where(torch.tensor(rounded, device=mel.device)[:, None, None], rough, mel)
