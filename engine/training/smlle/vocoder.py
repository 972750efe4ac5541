"""The stage `decoder` of SMLLE: the vocoder that all spectra share, trained on columns as rough as
drawn ones. The paper uses BigVGAN (3.2); with one vocoder for all systems, their networks are
compared and not their vocoders.
"""

import random

import torch
from torch import Tensor

from engine.codec.mel import BANDS, COLUMN, MelSpectrum
from engine.codec.vocoder import VocoderConfig
from engine.training.codec.vocoder import LEAD, train_vocoder
from engine.training.run import Run

ROUGHNESS = 0.3  # of drawn columns, in log magnitudes; drawing never hits the true ones


def train_mel_vocoder(run: Run) -> None:
    """Train and write vocoder.safetensors."""
    inputs = run.require("corpus")
    recipe, spectrum = run.recipe, MelSpectrum()

    def columns(pcm: Tensor, draw: random.Random) -> Tensor:
        """The true columns; in a share of the windows with some noise."""
        mel: Tensor = spectrum.to(pcm.device)(pcm)[:, LEAD // COLUMN :]
        rough = [ROUGHNESS * (draw.random() < recipe.decoder.drawn) for _ in mel]
        return mel + torch.tensor(rough, device=mel.device)[:, None, None] * torch.randn_like(mel)

    config = VocoderConfig(BANDS, recipe.codec.width, recipe.codec.blocks)
    train_vocoder(run, config, columns, inputs)
