"""The stage `codec`: the small codec learns to say again what it heard, through few codes.

First encoder, codes and decoder together, with the phone read off the first codebook; then, on
frozen codes, the decoder alone; a critic of spectra joins when there is something to criticise.
Invariant: once the codes are frozen no weight before them changes, so encoded speech stays valid.
"""

import random
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn import functional

from engine.codec.mimi import FRAME_SAMPLES
from engine.codec.small import Decoder, SmallCodecConfig, build, metadata
from engine.codec.small_parts import quantised
from engine.training import recipe as recipes
from engine.training.loop import Moment, descend, optimiser, train
from engine.training.ranks import Ranks, is_first
from engine.training.run import Run
from engine.training.sound_losses import (
    Critic,
    SpectralDistance,
    critic_loss,
    feature_loss,
    fooling_loss,
)
from engine.training.speech import SLOT, SOUND_NUMBERS, Speech, Spoken, read_speech

SLOTS = FRAME_SAMPLES // SLOT  # phones read off one frame's first code
VALIDATION_BATCHES = 4
CODING = ("encoder", "encoder_transformer", "downsample", "quantizer")


def config_of(recipe: recipes.Codec) -> SmallCodecConfig:
    """The shape a recipe asks for."""
    return SmallCodecConfig(
        Decoder(recipe.decoder),
        recipe.codebooks,
        recipe.codes,
        recipe.width,
        recipe.blocks,
        recipe.layers,
    )


def train_codec(run: Run) -> None:
    """Train and write codec.safetensors."""
    inputs = run.require("corpus")
    speech = read_speech(run, run.recipe.codec.hours)
    schedule = run.recipe.codec.schedule
    mean = train(
        run, "codec", schedule, lambda ranks: CodecLearner(run.recipe.codec, speech, ranks)
    )
    if is_first():
        file = run.stage("codec") / "codec.safetensors"
        save_file(mean, file, metadata(config_of(run.recipe.codec)))
        run.finish("codec", inputs)


class CodecLearner:
    """The codec, its phone reader and its critic."""

    averaged = "codec"
    # The decoder learns on codes of the weights as they are, so these must not lag behind.
    exact = tuple(f"{name}." for name in CODING)

    def __init__(self, recipe: recipes.Codec, speech: Speech, ranks: Ranks) -> None:
        self._recipe = recipe
        self._speech = speech
        self._device = ranks.device
        self._batch_size = ranks.part(recipe.schedule.batch)
        model = build(config_of(recipe)).to(ranks.device)
        reader = nn.Linear(recipe.width, SLOTS * len(SOUND_NUMBERS)).to(ranks.device)
        critic = Critic().to(ranks.device)
        self.parts: dict[str, nn.Module] = {"codec": model, "reader": reader, "critic": critic}
        making = nn.ModuleList((model, reader))
        self.optimisers = {
            "making": optimiser(making, recipe.schedule),
            "critic": optimiser(critic, recipe.schedule),
        }
        self._distance = SpectralDistance().to(ranks.device)

    def learn(self, moment: Moment) -> dict[str, float]:
        recipe, model = self._recipe, self.parts["codec"]
        frozen = moment.step >= recipe.freeze_codes_from
        set_coding_trained(model, trained=not frozen)
        pcm, slots = self._batch(self._speech.training, moment.draw)
        made, losses = self._losses(pcm, slots, frozen=frozen)
        total = sum(losses.values(), start=pcm.new_zeros(()))
        report = {name: float(loss.detach()) for name, loss in losses.items()}
        if moment.step >= recipe.adversary_from:
            heard = slice(recipe.critic_windows)
            report["critic"] = self._teach_critic(pcm[heard], made[heard], moment.ranks)
            total = total + self._criticised(pcm[heard], made[heard])
        descend(total, self.optimisers["making"], recipe.schedule.clip, moment.ranks)
        return report

    @torch.no_grad()
    def validate(self) -> dict[str, float]:
        model = self.parts["codec"].eval()
        draw = random.Random(0)
        sums: dict[str, float] = {}
        for _ in range(VALIDATION_BATCHES):
            pcm, slots = self._batch(self._speech.validation, draw)
            _, losses = self._losses(pcm, slots, frozen=True)
            for name, loss in losses.items():
                sums[name] = sums.get(name, 0.0) + float(loss) / VALIDATION_BATCHES
        forget_codebooks(model)
        model.train()
        return sums

    def _batch(self, side: tuple[Spoken, ...], draw: random.Random) -> tuple[Tensor, Tensor]:
        """Samples [B, S] and the sounds of their slots [B, S / SLOT]."""
        length = self._recipe.window_frames * FRAME_SAMPLES
        windows = [self._speech.window(side, draw, length) for _ in range(self._batch_size)]
        pcm = torch.stack([spoken.samples(start, length) for spoken, start in windows])
        slots = torch.stack([spoken.slots(start, length) for spoken, start in windows])
        return pcm.to(self._device), slots.to(self._device)

    def _losses(
        self, pcm: Tensor, slots: Tensor, *, frozen: bool
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """What the codec made of the samples, and the losses by name."""
        recipe, model = self._recipe, self.parts["codec"]
        with torch.autocast(pcm.device.type, torch.bfloat16, enabled=recipe.schedule.bf16):
            latents = encoded(model, pcm[:, None])
        first, rest = quantised(model, latents.float())
        with torch.autocast(pcm.device.type, torch.bfloat16, enabled=recipe.schedule.bf16):
            made = decoded(model, first.x + rest.x)[:, 0].float()
        losses = {
            "mel": recipe.mel * self._distance.mel(made, pcm),
            "waves": recipe.waves * self._distance.waves(made, pcm),
        }
        if not frozen:
            read = self.parts["reader"](first.x.transpose(1, 2))  # [B, T, SLOTS * sounds]
            logits = read.reshape(-1, len(SOUND_NUMBERS))
            losses["phones"] = recipe.phones * functional.cross_entropy(logits, slots.flatten())
            losses["commitment"] = recipe.commitment * (first.penalty + rest.penalty)
        return made, losses

    def _teach_critic(self, pcm: Tensor, made: Tensor, ranks: Ranks) -> float:
        critic = self.parts["critic"]
        with torch.autocast(pcm.device.type, torch.bfloat16, enabled=self._recipe.schedule.bf16):
            loss = critic_loss(critic(pcm), critic(made.detach()))
        descend(loss, self.optimisers["critic"], self._recipe.schedule.clip, ranks)
        return float(loss.detach())

    def _criticised(self, pcm: Tensor, made: Tensor) -> Tensor:
        critic = self.parts["critic"].requires_grad_(requires_grad=False)
        with torch.autocast(pcm.device.type, torch.bfloat16, enabled=self._recipe.schedule.bf16):
            of_made = critic(made)
            with torch.no_grad():
                of_real = critic(pcm)
            loss = self._recipe.adversary * fooling_loss(of_made)
            loss = loss + self._recipe.features * feature_loss(of_real, of_made)
        critic.requires_grad_(requires_grad=True)
        return loss


def set_coding_trained(model: Any, *, trained: bool) -> None:
    """Let everything before the codes learn, or hold it still (its codebooks too)."""
    for name in CODING:
        part = getattr(model, name)
        part.requires_grad_(trained)
        part.train(trained)


def forget_codebooks(model: nn.Module) -> None:
    """Drop the codebooks that moshi keeps computed after use in eval mode: it would broadcast them
    too, which only the process that validated could answer, and would go on with stale ones.
    """
    for module in model.modules():
        if "_embedding" in module._buffers:
            module._buffers["_embedding"] = None


def encoded(model: Any, pcm: Tensor) -> Tensor:
    """Samples [B, 1, S] -> latents [B, D, T] at the frame rate, before the codes."""
    latents: Tensor = model._encode_to_unquantized_latent(pcm)
    return latents


def decoded(model: Any, latents: Tensor) -> Tensor:
    """Quantised latents [B, D, T] -> samples [B, 1, S]."""
    (wide,) = model.decoder_transformer(model._to_encoder_framerate(latents))
    pcm: Tensor = model.decoder(wide)
    return pcm
