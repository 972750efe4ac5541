"""The stage `codec`: the small codec learns to reproduce speech through few codes.

Encoder, codes and a decoder learn together, and the phones have to be readable from the first
codebook. Only the encoder and the codes stay: the stage `decoder` trains the decoder that is
shipped.
"""

import random
from typing import Any, cast

import torch
from torch import Tensor, nn

from engine.codec.mimi import FRAME_SAMPLES
from engine.codec.small import build
from engine.codec.small_parts import HOP, LARGEST_LOG, WINDOW, Columns, OverlapAdd, quantised
from engine.training.codec import sound_losses
from engine.training.codec.speech import SLOT, CorpusUtterance, draw_windows, read_speech
from engine.training.corpus.speakers import People, flat
from engine.training.loop import Learner, Losses
from engine.training.run import Run

CODING = ("encoder", "encoder_transformer", "downsample", "quantizer")
PHONES_WEIGHT = 0.3  # of the phones read from the first codebook, and of those from all codebooks
COMMITMENT_WEIGHT = 0.25


class SpectralDecoder(Columns):
    """The decoder that the codes are learnt with: latents [B, D, T] at 25 Hz to [B, 1, 960 T]."""

    def __init__(self, width: int, blocks: int) -> None:
        super().__init__(width, blocks)
        self.leave = nn.Linear(width, WINDOW + 2)
        window = torch.hann_window(WINDOW)
        # Hann windows a quarter apart add up to a constant when squared.
        power = window.square().view(-1, HOP).sum(0).repeat(WINDOW // HOP)
        self.overlap = OverlapAdd(window / power)

    def forward(self, latents: Tensor) -> Tensor:
        out = self.leave(self.columns(latents)).float()  # [B, T, WINDOW + 2] at 100 Hz
        logs, phases = out.chunk(2, dim=-1)
        magnitudes = logs.clamp(max=LARGEST_LOG).exp()
        spectra = torch.polar(magnitudes, phases)
        return cast(Tensor, self.overlap(torch.fft.irfft(spectra, WINDOW)))


class CodecLearner(Learner):
    """Train the codec, with two phone readers: of the first codebook, and of all together."""

    averaged = "codec"
    # The decoder learns on codes of the current weights, so these must not lag behind.
    exact = tuple(f"{name}." for name in CODING)

    def __init__(self, run: Run) -> None:
        self._recipe = run.recipe.codec
        self._speech = read_speech(run, self._recipe.hours)
        self.shape = self._recipe.shape
        self._model = build(self.shape)
        self._model.decoder = SpectralDecoder(self.shape.width, self.shape.blocks)
        readers = nn.ModuleList(sound_losses.fresh_reader(self.shape.width) for _ in range(2))
        super().__init__(run, self._recipe.schedule, codec=self._model, readers=readers)
        self._of_first, self._of_all = readers

    def select(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        return with_matching(build(self.shape).state_dict(), weights)

    def learn(self, share: float, draw: random.Random) -> Losses:
        return self._optimise(self._losses(*self._batch(self._speech.training, draw)))

    def validated(self, draw: random.Random) -> Losses:
        return self._losses(*self._batch(self._speech.validation, draw))

    def _batch(self, people: People[CorpusUtterance], draw: random.Random) -> tuple[Tensor, Tensor]:
        """Draw windows; return samples [B, S] and the sound in each 20 ms slot [B, S / SLOT]."""
        length = self._recipe.window_frames * FRAME_SAMPLES
        windows = draw_windows(flat(people), draw, self._batch_size, length, SLOT)
        pcm = torch.stack([each.samples(start, length) for each, start in windows])
        slots = torch.stack([each.slots(start, length) for each, start in windows])
        return pcm.to(self._device), slots.to(self._device)

    def _losses(self, pcm: Tensor, slots: Tensor) -> Losses:
        """Return the losses of samples [B, S], given the sounds in their slots [B, S / SLOT]."""
        model = self._model
        with self._autocast():
            latents = encoded(model, pcm[:, None])
        first, rest = quantised(model, latents.float())
        with self._autocast():
            output = model.decoder(decoder_input(model, first.x + rest.x))[:, 0].float()
        return {
            "mel": sound_losses.mel_distance(output, pcm),
            "waves": sound_losses.waves_distance(output, pcm),
            "phones": PHONES_WEIGHT * sound_losses.reader_loss(self._of_first, first.x, slots),
            # Distances of spectra hardly notice consonants.
            "all phones": PHONES_WEIGHT
            * sound_losses.reader_loss(self._of_all, first.x + rest.x, slots),
            "commitment": COMMITMENT_WEIGHT * (first.penalty + rest.penalty),
        }


def with_matching(own: dict[str, Tensor], others: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return a network's weights, replaced by another network's where key and shape are equal."""
    same = {key for key in own if key in others and others[key].shape == own[key].shape}
    return own | {key: others[key].to(own[key].dtype) for key in same}


def encoded(model: Any, pcm: Tensor) -> Tensor:
    """Encode samples [B, 1, S] into latents [B, D, T] at the frame rate, before quantisation."""
    return cast(Tensor, model._encode_to_unquantized_latent(pcm))


def decoder_input(model: Any, latents: Tensor) -> Tensor:
    """Convert quantised latents [B, D, T] to the decoder's input [B, D, 2 T]."""
    return cast(Tensor, model.decoder_transformer(model._to_encoder_framerate(latents))[0])
