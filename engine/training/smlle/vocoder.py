"""The stage `decoder` of SMLLE: the vocoder all spectra share, which hears columns as they are
drawn. The paper has BigVGAN (3.2); one vocoder for all compares what is said, not who says it.
"""

import random

import torch
from torch import Tensor

from engine.codec.mel import BANDS, COLUMN, MelSpectrum
from engine.codec.vocoder import VocoderConfig
from engine.training.codec.vocoder import LEAD, train_vocoder
from engine.training.run import Run

ROUGHNESS = 0.3  # of drawn columns, in log magnitudes: latents never hit them exactly


def train_mel_vocoder(run: Run) -> None:
    """Train and write vocoder.safetensors."""
    inputs = run.require("corpus")
    recipe, spectrum = run.recipe, MelSpectrum()

    def columns(pcm: Tensor, draw: random.Random) -> Tensor:
        """The true columns; in a share of the windows a little off."""
        mel: Tensor = spectrum.to(pcm.device)(pcm)[:, LEAD // COLUMN :]
        rough = [ROUGHNESS * (draw.random() < recipe.decoder.drawn) for _ in mel]
        return mel + torch.tensor(rough, device=mel.device)[:, None, None] * torch.randn_like(mel)

    config = VocoderConfig(BANDS, recipe.codec.width, recipe.codec.blocks)
    train_vocoder(run, config, columns, inputs)
