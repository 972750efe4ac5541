"""The stage `decoder`: the codes stay fixed, and the decoder that is shipped learns to turn them
into sound.

A decoder with a source learns the pitch as well; a critic of spectra joins later, once there is
something to criticise. It may be told what the frames say (engine/codec/text_aware.py): as much as
a session tells it, which knows nothing of the frames of a prompt, and which says the last phone in
a pause, or silence at the end of a text. Invariant: no weight before the codes
changes, so encoded speech stays valid, and this stage may run in parallel with `voice`, unless it
learns on codes that the voice draws, and with `encode`, unless it is told the phones.
"""

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from engine.codec.mimi import FRAME_SAMPLES, NOTHING, PHONE_ROWS
from engine.codec.small import SmallCodecConfig, build
from engine.nn import stored_weights
from engine.nn.weights_file import shape_metadata
from engine.training import recipe as recipes
from engine.training.codec.draw import read_draws
from engine.training.codec.sound_losses import FLOOR, SLOTS, Reading, SoundLearner
from engine.training.codec.speech import (
    PitchTrack,
    Speech,
    Spoken,
    first_shards,
    pitch_track,
    read_speech,
    stacked,
)
from engine.training.codec.stage import CODING, alike, decoder_input, encoded, shipped_config
from engine.training.corpus.shards import Entry
from engine.training.encoded import read, shard_file
from engine.training.loop import Losses, StepContext, in_bf16, train_and_save
from engine.training.run import Run
from engine.training.voice import fine_tuning
from engine.training.voice.utterances import Encoded
from engine.tts.packs import CODEC_FILE
from engine.tts.phones import SILENCE

UNTOLD: Final = 0.2  # share of windows that say nothing, and of those that do so at first
PAUSED: Final = 0.5  # share of utterances that end in a pause, not with the text


def train_decoder(run: Run) -> None:
    """Train and write codec.safetensors, the codec that is shipped."""
    recipe = run.recipe.decoder
    encoded_too = ("encode",) if recipe.drawn or recipe.phones else ()
    inputs = run.require("codec", *encoded_too, *(("draw",) if recipe.drawn else ()))
    speech = read_speech(run, recipe.hours)
    draws = read_draws(run) if recipe.drawn else {}
    said = read_said(run) if recipe.phones else {}
    begin_with = run.recipe.begin_with
    files = [Path(begin_with) / CODEC_FILE] if begin_with else []
    trained = [
        stored_weights.load(file) for file in (*files, run.stage("codec") / "codec.safetensors")
    ]
    config = shipped_config(run.recipe)

    def kept(mean: dict[str, Tensor]) -> dict[str, Tensor]:
        own = {k: v for k, v in trained[0].items() if not k.startswith(DecoderLearner.exact)}
        return fine_tuning.joined(mean, own, recipe.kept) if recipe.kept else mean

    train_and_save(
        run,
        run.stage("decoder") / "codec.safetensors",
        lambda to: DecoderLearner(recipe, started(config, *trained), speech, draws, said, to),
        inputs,
        shape=shape_metadata(config),
        kept=kept,
    )


def started(config: SmallCodecConfig, *trained: dict[str, Tensor]) -> Any:  # Any: MimiModel
    """A codec that begins with trained weights where they fit, of several with the last: what none
    of them has is random."""
    model = build(config)
    weights = model.state_dict()
    for each in trained:
        weights = alike(weights, each)
    model.load_state_dict(weights)
    return model


class DecoderLearner(SoundLearner):
    """The part of the codec after its codes, and a critic."""

    averaged = "codec"
    exact = tuple(f"{name}." for name in CODING)

    def __init__(
        self,
        recipe: recipes.Decoder,
        model: Any,
        speech: Speech,
        draws: Mapping[Entry, Tensor],  # codes [K, T]
        said: Mapping[Entry, Tensor],  # ids of phones [2, T]
        device: torch.device,
    ) -> None:
        self._recipe = recipe
        self._draws, self._said = draws, said
        frames = recipe.window_frames
        self._training = long_enough(speech.training, frames)
        self._validation = long_enough(speech.validation, frames)
        self._model = model
        for name in CODING:
            getattr(model, name).requires_grad_(False).eval()
        super().__init__(recipe, model, device, codec=model)
        self._reading: Reading | None = None
        if recipe.heard:
            self._reading = Reading(recipe.schedule, model.dimension, device)
            self.parts["reader"] = self._reading.reader
            self.optimisers["reader"] = self._reading.optimiser
        self._codes: dict[int, tuple[Tensor, PitchTrack]] = {}  # by the utterance's id()

    def learn(self, context: StepContext) -> Losses:
        pcm, output, losses = self._losses(self._training, context.draw)
        report = self._learn_from(losses, pcm, output, context)
        if self._reading is not None:
            self._reading.learn()
        return report

    def validated(self, draw: random.Random) -> dict[str, Tensor]:
        return self._losses(self._validation, draw)[2]

    def _losses(
        self, side: tuple[Spoken, ...], draw: random.Random
    ) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        """Samples [B, S], the decoder's output for their codes, and the losses by name."""
        recipe, model = self._recipe, self._model
        pcm, latents, track, slots = self._batch(side, draw)
        with in_bf16(pcm.device, asked=recipe.schedule.bf16):
            columns = decoder_input(model, latents)
        output, losses = self._sounded(model.decoder, columns, track, pcm, recipe)
        losses |= self._misheard(output, pcm, slots)
        return pcm, output, losses

    def _misheard(self, output: Tensor, pcm: Tensor, slots: Tensor) -> dict[str, Tensor]:
        """Distance of samples [B, S] from the real ones as the encoder, which learnt to recognise
        phones, sees them, relative to the size of the real latents; and what a reader misreads.
        """
        with in_bf16(pcm.device, asked=self._recipe.schedule.bf16):
            made = encoded(self._model, output[:, None]).float()
            with torch.no_grad():
                real = encoded(self._model, pcm[:, None]).float()
        apart = functional.l1_loss(made, real) / (real.abs().mean() + FLOOR)
        losses = {"latents": self._recipe.latents * apart}
        if self._reading is not None:
            losses["heard"] = self._recipe.heard * self._reading.misread(real, made, slots)
        return losses

    def _batch(
        self, side: tuple[Spoken, ...], draw: random.Random
    ) -> tuple[Tensor, Tensor, PitchTrack, Tensor]:
        """Samples [B, S], quantised latents [B, D, T], the pitch, and the sounds [B, S / SLOT], of
        windows of whole frames.
        """
        recipe = self._recipe
        frames = recipe.window_frames
        samples, codes, tracks, slots = [], [], [], []
        for _ in range(self._batch_size):
            utterance = draw.choice(side)
            own_codes, track = self._about(utterance)
            own_codes = self._perhaps_drawn(utterance, own_codes, draw)
            start = draw.randrange(max(1, own_codes.shape[-1] - frames + 1))
            samples.append(utterance.samples(start * FRAME_SAMPLES, frames * FRAME_SAMPLES))
            if recipe.phones:
                nothing = torch.full((PHONE_ROWS, own_codes.shape[1]), NOTHING)
                phones = told(self._said.get(utterance.entry, nothing), draw)
                own_codes = torch.cat((own_codes, phones.to(self._device)))
            codes.append(own_codes[:, start : start + frames])
            tracks.append(track.window(start, frames))
            slots.append(utterance.slots(start * FRAME_SAMPLES, frames * FRAME_SAMPLES))
        short = min(part.shape[-1] for part in codes)  # utterances shorter than a window
        latents = self._model.decode_latent(torch.stack([part[:, :short] for part in codes]))
        pcm = torch.stack(samples)[:, : short * FRAME_SAMPLES].to(self._device)
        sounds = torch.stack(slots)[:, : short * SLOTS].to(self._device)
        return pcm, latents, stacked(tracks, short).to(self._device), sounds

    def _perhaps_drawn(self, utterance: Spoken, own_codes: Tensor, draw: random.Random) -> Tensor:
        """Codes [K, T] of an utterance: the true ones or, in a share of the windows, those the
        voice drew."""
        codes = self._draws.get(utterance.entry)
        if codes is None or draw.random() >= self._recipe.drawn:
            return own_codes
        return torch.cat((codes.to(own_codes.device), own_codes[:, codes.shape[1] :]), dim=1)

    @torch.no_grad()
    def _about(self, utterance: Spoken) -> tuple[Tensor, PitchTrack]:
        """The codes [K, T] of an utterance and its pitch, computed once."""
        if id(utterance) not in self._codes:
            pcm = utterance.samples(0, len(utterance.pcm)).to(self._device)
            codes = self._model.encode(pcm[None, None])[0]
            self._codes[id(utterance)] = (codes, pitch_track(utterance))
        return self._codes[id(utterance)]


def long_enough(side: tuple[Spoken, ...], frames: int) -> tuple[Spoken, ...]:
    """Utterances that fill a whole window, because a shorter one would shorten its whole batch; all
    of them when none is that long.
    """
    return tuple(each for each in side if len(each.pcm) >= frames * FRAME_SAMPLES) or side


def read_said(run: Run) -> dict[Entry, Tensor]:
    """The phones of the frames [2, T], by utterance."""
    return {
        shard.entries[utterance.place]: said(utterance)
        for shard in first_shards(run, run.recipe.decoder.hours)
        for utterance in read(shard_file(run.stage("encode"), shard), Encoded)
    }


def said(utterance: Encoded) -> Tensor:
    """The ids of each frame's first and last phone [2, T]; behind the last it is silent."""
    spoken = utterance.phones[utterance.spans()].T
    phones = np.full((2, utterance.frames), SILENCE, np.int64)
    phones[:, : spoken.shape[1]] = spoken
    return torch.from_numpy(phones)


def told(phones: Tensor, draw: random.Random) -> Tensor:
    """What a decoder is told of frames that say `phones` [2, T]."""
    if draw.random() < UNTOLD:
        return torch.full_like(phones, NOTHING)
    known = phones.clone()
    if draw.random() < PAUSED:
        speech = int((phones[0] != SILENCE).sum())
        known[:, speech:] = phones[1, speech - 1]
    if draw.random() < UNTOLD:
        known[:, : draw.randrange(phones.shape[1])] = NOTHING
    return known
