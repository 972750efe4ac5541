"""The stage `vocoder`: a decoder (pulses and filters) learns to turn mel spectra into sound.

It learns on exact spectra and on spectra rounded to levels, because SpeakStream's network predicts
only levels. Invariant: its input depends on the samples alone.
"""

import random

import torch
from torch import Tensor
from torch.nn import functional

from engine.codec.mel import BANDS, COLUMN, Levels, MelSpectrum
from engine.codec.mimi import FRAME_SAMPLES
from engine.codec.vocoder import VocoderConfig, fresh_decoder
from engine.training.codec.sound_losses import SoundLearner
from engine.training.codec.speech import (
    CorpusUtterance,
    PitchTrack,
    Speech,
    read_speech,
    stack_tracks,
)
from engine.training.loop import Maker
from engine.training.run import Run
from engine.training.speakstream import Vocoder
from engine.training.speakstream.data import read_scale

LEAD = 5 * COLUMN  # samples before a window, which its first columns need


def vocoder(run: Run) -> Maker:
    """Return a function that makes the vocoder's learner on a device."""
    recipe = run.recipe.vocoder
    speech, levels = read_speech(run, recipe.hours), read_scale(run).levels
    return lambda device: VocoderLearner(recipe, speech, levels, device)


class VocoderLearner(SoundLearner):
    """Train the vocoder, with a critic."""

    averaged = "vocoder"

    def __init__(
        self, recipe: Vocoder, speech: Speech, levels: Levels, device: torch.device
    ) -> None:
        self._recipe, self._levels = recipe, levels
        self._spectrum = MelSpectrum().to(device)
        self.shape = VocoderConfig(BANDS, recipe.width, recipe.blocks)
        self._decoder = fresh_decoder(self.shape)
        super().__init__(recipe, speech, device, vocoder=self._decoder)

    def _losses(
        self, side: tuple[CorpusUtterance, ...], draw: random.Random
    ) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        longer, track = self._batch(side, draw)
        columns, pcm = self._columns(longer, draw).transpose(1, 2), longer[:, LEAD:]
        output, losses = self._decoded(self._decoder, columns, track, pcm)
        return pcm, output, losses

    def _columns(self, pcm: Tensor, draw: random.Random) -> Tensor:
        """Return the spectra of samples; in a share of the windows they are rounded to levels."""
        mel = self._spectrum(pcm)[:, LEAD // COLUMN :]
        rough = self._levels.restored(self._levels.quantised(mel))
        rounded = [draw.random() < self._recipe.rounded for _ in mel]
        return torch.where(torch.tensor(rounded, device=mel.device)[:, None, None], rough, mel)

    def _batch(
        self, side: tuple[CorpusUtterance, ...], draw: random.Random
    ) -> tuple[Tensor, PitchTrack]:
        """Draw windows of complete frames. Return samples [B, LEAD + S], and the pitch of the last
        S.
        """
        frames = self._recipe.window_frames
        samples, tracks = [], []
        for _ in range(self._batch_size):
            utterance = draw.choice(side)
            there = len(utterance.pcm) // FRAME_SAMPLES
            first = draw.randrange(max(1, there - frames + 1))
            start = first * FRAME_SAMPLES
            lead = min(LEAD, start)
            piece = utterance.samples(start - lead, lead + frames * FRAME_SAMPLES)
            samples.append(functional.pad(piece, (LEAD - lead, 0)))
            tracks.append(self._track(utterance).window(first, frames))
        return torch.stack(samples).to(self._device), stack_tracks(tracks, frames).to(self._device)
