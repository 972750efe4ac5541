"""The stage `codec` of LLMVoX: speech as 50 tokens a second from one codebook.

The encoder is the small codec's before it halves its rate; every token must tell the sound of its
20 ms. The decoder that the codes are learnt with is dropped afterwards: the stage `decoder` trains
the one that ships, on the tokens' vectors.
"""

import random
from pathlib import Path
from typing import Any

import torch
from moshi.quantization.vq import ResidualVectorQuantizer
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

from engine.codec.small_parts import SpectralColumns, SpectralDecoder
from engine.codec.vocoder import FACTOR, VocoderConfig
from engine.training import recipe as recipes
from engine.training.codec.sound_losses import SpectralDistance
from engine.training.codec.speech import SLOT, SOUND_NUMBERS, Speech, Spoken, read_speech
from engine.training.codec.stage import forget_codebooks
from engine.training.codec.vocoder import LEAD, train_vocoder
from engine.training.loop import Learner, Losses, Moment, in_bf16, mean_losses, train_and_save
from engine.training.ranks import Ranks
from engine.training.run import Run
from engine.tts.llmvox.config import ENTRY, TOKEN_SAMPLES

FILE = "tokens.safetensors"


class Tokeniser(nn.Module):
    """Samples [B, S] -> tokens [B, S / TOKEN_SAMPLES] and their vectors."""

    def __init__(self, recipe: recipes.Codec) -> None:
        super().__init__()
        self.encoder = SpectralColumns(recipe.width, recipe.blocks)
        self.enter = nn.Conv1d(recipe.width, ENTRY, 1)
        self.quantiser: Any = ResidualVectorQuantizer(ENTRY, n_q=1, bins=recipe.codes)

    def latents(self, pcm: Tensor) -> Tensor:
        """[B, ENTRY, T], before they become tokens."""
        x: Tensor = self.enter(self.encoder.columns(pcm[:, None]))
        return x

    @torch.no_grad()
    def encode(self, pcm: Tensor) -> Tensor:
        """[B, T]"""
        codes: Tensor = self.quantiser.encode(self.latents(pcm).float())
        return codes[:, 0]

    def vectors(self) -> Tensor:
        """Of all tokens [codes, ENTRY]."""
        book: Tensor = self.quantiser.vq.layers[0]._codebook.embedding.detach()
        return book


def train_tokens(run: Run) -> None:
    """Train and write tokens.safetensors."""
    inputs = run.require("corpus")
    recipe = run.recipe.codec
    speech = read_speech(run, recipe.hours)
    train_and_save(
        run,
        run.stage("codec") / FILE,
        lambda ranks: TokenLearner(recipe, speech, ranks),
        recipe.schedule,
        inputs,
    )


def read_tokeniser(run: Run) -> Tokeniser:
    """The trained one."""
    return load_tokeniser(run.stage("codec") / FILE, run.recipe.codec)


def load_tokeniser(file: Path, recipe: recipes.Codec) -> Tokeniser:
    """One that was trained as the recipe says."""
    tokeniser = Tokeniser(recipe)
    tokeniser.load_state_dict(load_file(file))
    return tokeniser.eval().requires_grad_(requires_grad=False)


def train_token_vocoder(run: Run) -> None:
    """Train and write vocoder.safetensors, which takes the vectors of tokens."""
    inputs = run.require("corpus", "codec")
    codec, tokeniser = run.recipe.codec, read_tokeniser(run)

    def columns(pcm: Tensor, draw: random.Random) -> Tensor:
        """The vectors of the true tokens."""
        tokens = tokeniser.to(pcm.device).encode(pcm)[:, LEAD // TOKEN_SAMPLES :]
        return functional.embedding(tokens, tokeniser.vectors())

    train_vocoder(run, VocoderConfig(ENTRY, codec.width, codec.blocks), columns, inputs)


class TokenLearner(Learner):
    """The tokeniser, a decoder, and a reader of the sound of every token."""

    averaged = "tokens"
    # What is encoded later must be what was learnt.
    exact = ("encoder.", "enter.", "quantiser.")

    def __init__(self, recipe: recipes.Codec, speech: Speech, ranks: Ranks) -> None:
        self._recipe, self._speech = recipe, speech
        self._tokens = Tokeniser(recipe)
        self._decoder = SpectralDecoder(recipe.width, recipe.blocks, ENTRY, FACTOR)
        self._reader = nn.Linear(ENTRY, len(SOUND_NUMBERS))
        parts = {"tokens": self._tokens, "decoder": self._decoder, "reader": self._reader}
        super().__init__(recipe.schedule, ranks, **parts)
        self._distance = SpectralDistance().to(ranks.device)

    def learn(self, moment: Moment) -> Losses:
        return self._descend(self._losses(self._speech.training, moment.draw), moment)

    @torch.no_grad()
    def validate(self) -> dict[str, float]:
        sums = mean_losses(lambda draw: self._losses(self._speech.validation, draw), self._tokens)
        forget_codebooks(self._tokens)
        return sums

    def _losses(self, side: tuple[Spoken, ...], draw: random.Random) -> dict[str, Tensor]:
        recipe = self._recipe
        length = recipe.window_frames * 4 * SLOT
        windows = [self._speech.window(side, draw, length) for _ in range(self._batch_size)]
        pcm = torch.stack([each.samples(start, length) for each, start in windows])
        slots = torch.stack([each.slots(start, length) for each, start in windows])
        pcm, slots = pcm.to(self._device), slots.to(self._device)
        with in_bf16(pcm.device, asked=recipe.schedule.bf16):
            latents = self._tokens.latents(pcm)
        quantised = self._tokens.quantiser(latents.float(), 50)
        with in_bf16(pcm.device, asked=recipe.schedule.bf16):
            output = self._decoder(quantised.x)[:, 0].float()
            sounds = self._reader(quantised.x.transpose(1, 2)).float()  # [B, T, sounds]
        return {
            "mel": recipe.mel * self._distance.mel(output, pcm),
            "waves": recipe.waves * self._distance.waves(output, pcm),
            "phones": recipe.phones
            * functional.cross_entropy(sounds.flatten(0, 1), slots.flatten()),
            "commitment": recipe.commitment * quantised.penalty,
        }
