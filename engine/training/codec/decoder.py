"""The stage `decoder`: train the decoder that ships, which turns codes into sound. The codes stay
fixed.

A decoder with a pitch source also learns the pitch. A critic (a GAN discriminator of spectra) joins
later in the schedule. The decoder's input also contains the phones of each frame
(engine/codec/text_aware.py), but only those that a session knows: none for a prompt; in a pause the
last phone, or silence at the end of a text. Invariant: no weight before the codes changes, so
encoded speech stays valid.
"""

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from engine.codec.mimi import FRAME_SAMPLES, NOTHING, PHONE_ROWS
from engine.codec.small import SmallCodecConfig, build
from engine.nn import stored_weights
from engine.training.codec.draw import CodeSampler, load_sampler
from engine.training.codec.sound_losses import FLOOR, SLOTS, PhoneReader, SoundLearner
from engine.training.codec.speech import (
    CorpusUtterance,
    PitchTrack,
    Speech,
    first_shards,
    read_speech,
    stack_tracks,
)
from engine.training.codec.stage import CODING, config_of, decoder_input, encoded, with_matching
from engine.training.corpus.speakers import group_by_speaker
from engine.training.corpus.utterance import Entry
from engine.training.loop import Losses, Maker, StepContext
from engine.training.run import Run
from engine.training.utterances import read, shard_file
from engine.training.voxtream import VOXTREAM, Decoder
from engine.training.voxtream.base import built_in_codec
from engine.training.voxtream.data import VoxtreamUtterance
from engine.tts.phones import SILENCE, VOCABULARY

UNKNOWN_SHARE: Final = 0.2  # share of windows without phones, and of those without them at first
PAUSED: Final = 0.5  # share of utterances that end in a pause, not with the text


def shipped_config(recipe: Any) -> SmallCodecConfig:
    """Return the configuration of the codec with the decoder that ships."""
    own = recipe.decoder
    base = built_in_codec() if recipe.system == VOXTREAM else config_of(recipe.codec)
    return replace(base, decoder_blocks=own.blocks, decoder_layers=own.layers, phones=VOCABULARY)


def decoder(run: Run) -> Maker:
    """Return a function that makes the learner of the decoder that ships."""
    recipe, shape = run.recipe.decoder, shipped_config(run.recipe)
    coded = stored_weights.load(run.weights("codec"))
    speech, utterances = read_speech(run, recipe.hours), read_encoded(run)
    draws = load_sampler(run, group_by_speaker(utterances.values()))

    def make(device: torch.device) -> DecoderLearner:
        model = build_codec(shape, coded)
        learner = DecoderLearner(recipe, model, speech, utterances, draws, device)
        learner.shape = shape
        return learner

    return make


def read_encoded(run: Run) -> dict[Entry, VoxtreamUtterance]:
    """Read the encoded utterances (codes and phones) of the decoder's speech, by corpus entry."""
    return {
        shard.entries[utterance.place]: utterance
        for shard in first_shards(run, run.recipe.decoder.hours)
        for utterance in read(shard_file(run.stage("encode"), shard), VoxtreamUtterance)
    }


def build_codec(config: SmallCodecConfig, trained: dict[str, Tensor]) -> Any:  # Any: MimiModel
    """Build a codec. Trained weights are used where name and shape match; all others are random."""
    model = build(config)
    model.load_state_dict(with_matching(model.state_dict(), trained))
    return model


class DecoderLearner(SoundLearner):
    """Train the codec's decoder, with a critic and a phone reader that judge its output."""

    averaged = "codec"
    exact = tuple(f"{name}." for name in CODING)

    def __init__(
        self,
        recipe: Decoder,
        model: Any,
        speech: Speech,
        utterances: Mapping[Entry, VoxtreamUtterance],
        draws: CodeSampler,
        device: torch.device,
    ) -> None:
        self._recipe, self._model = recipe, model
        self._encoded, self._draws = utterances, draws
        for name in CODING:
            getattr(model, name).requires_grad_(False).eval()
        super().__init__(recipe, speech, device, codec=model)
        self._phone_reader = PhoneReader(recipe.schedule, model.dimension, device)
        self.parts["reader"] = self._phone_reader.reader
        self.optimisers["reader"] = self._phone_reader.optimiser
        self._codes: dict[int, Tensor] = {}  # by the utterance's id()

    def learn(self, context: StepContext) -> Losses:
        report = super().learn(context)
        self._phone_reader.learn()
        return report

    def _losses(
        self, side: tuple[CorpusUtterance, ...], draw: random.Random
    ) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        model = self._model
        pcm, latents, track, slots = self._batch(side, draw)
        with self._autocast():
            columns = decoder_input(model, latents)
        output, losses = self._decoded(model.decoder, columns, track, pcm)
        return pcm, output, losses | self._phone_losses(output, pcm, slots)

    def _phone_losses(self, output: Tensor, pcm: Tensor, slots: Tensor) -> dict[str, Tensor]:
        """Compare generated samples [B, S] with the real ones `pcm` in the codec's encoder, which
        has learnt to distinguish phones. Return two losses: the distance of the latents, relative
        to the size of the real ones, and the phone reader's cross-entropy on the generated latents.
        """
        with self._autocast():
            made = encoded(self._model, output[:, None]).float()
            with torch.no_grad():
                real = encoded(self._model, pcm[:, None]).float()
        apart = functional.l1_loss(made, real) / (real.abs().mean() + FLOOR)
        wrong = self._phone_reader.judge(real, made, slots)
        return {
            "latents": self._recipe.latents * apart,
            "phones": self._recipe.phone_reader_weight * wrong,
        }

    def _batch(
        self, side: tuple[CorpusUtterance, ...], draw: random.Random
    ) -> tuple[Tensor, Tensor, PitchTrack, Tensor]:
        """Draw windows of complete frames. Return their samples [B, S], quantised latents [B, D,
        T], pitch, and the sound in each 20 ms slot [B, S / SLOT].
        """
        recipe = self._recipe
        frames = recipe.window_frames
        samples, codes, tracks, slots = [], [], [], []
        for _ in range(self._batch_size):
            utterance = draw.choice(side)
            own_codes, track = self._own_codes(utterance), self._track(utterance)
            said = self._encoded.get(utterance.entry)
            phones = torch.full((PHONE_ROWS, own_codes.shape[1]), NOTHING)
            if said is not None:
                phones = known_phones(frame_phones(said), draw)
                if draw.random() < recipe.drawn_codes:
                    drawn = self._draws.codes(said)
                    own_codes = torch.cat((drawn, own_codes[:, drawn.shape[1] :]), dim=1)
            own_codes = torch.cat((own_codes, phones.to(self._device)))
            start = draw.randrange(max(1, own_codes.shape[-1] - frames + 1))
            samples.append(utterance.samples(start * FRAME_SAMPLES, frames * FRAME_SAMPLES))
            codes.append(own_codes[:, start : start + frames])
            tracks.append(track.window(start, frames))
            slots.append(utterance.slots(start * FRAME_SAMPLES, frames * FRAME_SAMPLES))
        short = min(part.shape[-1] for part in codes)  # utterances shorter than a window
        latents = self._model.decode_latent(torch.stack([part[:, :short] for part in codes]))
        pcm = torch.stack(samples)[:, : short * FRAME_SAMPLES].to(self._device)
        sounds = torch.stack(slots)[:, : short * SLOTS].to(self._device)
        return pcm, latents, stack_tracks(tracks, short).to(self._device), sounds

    @torch.no_grad()
    def _own_codes(self, utterance: CorpusUtterance) -> Tensor:
        """Return the true codes [K, T] of an utterance; they are computed once."""
        if id(utterance) not in self._codes:
            pcm = utterance.samples(0, len(utterance.pcm)).to(self._device)
            self._codes[id(utterance)] = self._model.encode(pcm[None, None])[0]
        return self._codes[id(utterance)]


def frame_phones(utterance: VoxtreamUtterance) -> Tensor:
    """Return the ids of the first and the last phone in each frame [2, T]; SILENCE after the
    speech.
    """
    spoken = utterance.phones[utterance.spans()].T
    phones = np.full((2, utterance.frames), SILENCE, np.int64)
    phones[:, : spoken.shape[1]] = spoken
    return torch.from_numpy(phones)


def known_phones(phones: Tensor, draw: random.Random) -> Tensor:
    """Hide phones [2, T] that a session might not know, at random: all of them, those of a prompt
    (the result contains NOTHING there), or the silence after speech (the last phone continues
    there).
    """
    if draw.random() < UNKNOWN_SHARE:
        return torch.full_like(phones, NOTHING)
    known = phones.clone()
    if draw.random() < PAUSED:
        speech = int((phones[0] != SILENCE).sum())
        known[:, speech:] = phones[1, speech - 1]
    if draw.random() < UNKNOWN_SHARE:
        known[:, : draw.randrange(phones.shape[1])] = NOTHING
    return known
