"""The stage `decoder`: train the decoder that ships, which turns codes into sound. The codes stay
fixed.

A decoder with a pitch source also learns the pitch. A critic (a GAN discriminator of spectra) joins
later in the schedule. The decoder's input also contains the phones of each frame
(engine/codec/text_aware.py), but only those that a session knows: none for a prompt; in a pause the
last phone, or silence at the end of a text.

In use, the decoder gets only codes that the voice drew, and those of the later codebooks are mostly
guesses. A decoder trained on true codes trusts them too much. So a share of the codes are drawn by
the trained voice, each given the true codes before it. (For the same reason Tacotron 2's vocoder
learns on predictions made from the true past: Shen et al. 2018, 3.1.) Invariants: no weight before
the codes changes, so encoded speech stays valid; an utterance is drawn once, with its own seed.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from engine.codec.mimi import FRAME_SAMPLES, NOTHING, PHONE_ROWS
from engine.codec.small import SmallCodecConfig, build
from engine.nn import stored_weights
from engine.training.codec.codec import CODING, config_of, decoder_input, encoded, with_matching
from engine.training.codec.sound_losses import FLOOR, SoundLearner, fresh_reader, reader_loss
from engine.training.codec.speech import CorpusUtterance, first_shards
from engine.training.corpus.speakers import Sides, split
from engine.training.corpus.utterance import Entry
from engine.training.loop import in_bf16, on_device, optimiser, optimiser_step
from engine.training.run import Run
from engine.training.utterances import read, shard_file
from engine.training.voxtream import VOXTREAM, Decoder
from engine.training.voxtream.base import built_in_codec
from engine.training.voxtream.data import VoxtreamUtterance, one_utterance
from engine.training.voxtream.losses import (
    VoxtreamBatch,
    collated,
    depth_logits,
    fresh_model,
    model_config,
    phone_rows,
    temporal_hidden,
)
from engine.tts.phones import SILENCE, VOCABULARY
from engine.tts.voxtream.config import VoxtreamGeneration
from engine.tts.voxtream.network.model import VoxtreamModel

UNKNOWN_SHARE: Final = 0.2  # share of windows without phones, and of those without them at first
PAUSED: Final = 0.5  # share of utterances that end in a pause, not with the text
READER_RATE: Final = 3.0  # of the phone reader, a factor on the schedule's learning rate
LATENTS_WEIGHT: Final = 0.1  # of the distance between output and original in the codec's encoder
PROMPT_FRAMES: Final = 50  # 4 s


def shipped_config(recipe: Any) -> SmallCodecConfig:
    """Return the configuration of the codec with the decoder that ships."""
    own = recipe.decoder
    base = built_in_codec() if recipe.system == VOXTREAM else config_of(recipe.codec)
    return replace(base, decoder_blocks=own.blocks, decoder_layers=own.layers, phones=VOCABULARY)


def decoder(run: Run) -> "DecoderLearner":
    """Return the learner of the decoder that ships."""
    recipe, shape = run.recipe, shipped_config(run.recipe)
    speech, utterances = read_encoded(run)
    voice = fresh_model(model_config(recipe), VoxtreamGeneration())
    voice.load_state_dict(stored_weights.load(run.weights("voice")))
    people = split(recipe, utterances.values()).training
    draws = CodeSampler(recipe, voice.to(run.device), people)
    model = build_codec(shape, stored_weights.load(run.weights("codec")))
    learner = DecoderLearner(recipe.decoder, model, speech, utterances, draws, run.device)
    learner.shape = shape
    return learner


def read_encoded(run: Run) -> tuple[Sides[CorpusUtterance], dict[Entry, VoxtreamUtterance]]:
    """Read the decoder's speech, and the codes and phones of its utterances by corpus entry."""
    encoded, spoken = dict[Entry, VoxtreamUtterance](), list[CorpusUtterance]()
    for shard in first_shards(run, run.recipe.decoder.hours):
        found = read(shard_file(run.stage("encode"), shard), VoxtreamUtterance)
        encoded |= {shard.entries[utterance.place]: utterance for utterance in found}
        spoken += [CorpusUtterance(*each) for each in shard.spoken() if each[0] in encoded]
    return split(run.recipe, spoken), encoded


def build_codec(config: SmallCodecConfig, trained: dict[str, Tensor]) -> Any:  # Any: MimiModel
    """Build a codec. Trained weights are used where name and shape match; all others are random."""
    model = build(config)
    model.load_state_dict(with_matching(model.state_dict(), trained))
    return model


class DecoderLearner(SoundLearner):
    """Train the codec's decoder, with a critic and a phone reader that judge its output. The reader
    is a linear classifier of the codec's latents, and learns from those of real speech.
    """

    averaged = "codec"
    exact = tuple(f"{name}." for name in CODING)

    def __init__(
        self,
        recipe: Decoder,
        model: Any,
        speech: Sides[CorpusUtterance],
        utterances: Mapping[Entry, VoxtreamUtterance],
        draws: "CodeSampler",
        device: str,
    ) -> None:
        self._recipe, self._model = recipe, model
        self._encoded, self._draws = utterances, draws
        self._reader = fresh_reader(model.dimension)
        for name in CODING:
            getattr(model, name).requires_grad_(False).eval()
        super().__init__(recipe, speech, device, codec=model, reader=self._reader)
        self.optimisers["reader"] = optimiser(self._reader, recipe.schedule, scale=READER_RATE)

    def _losses(
        self, side: tuple[CorpusUtterance, ...], draw: random.Random
    ) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        model = self._model
        pcm, latents, pitch, slots = self._batch(side, draw)
        with self._autocast():
            columns = decoder_input(model, latents)
        output, losses = self._decoded(model.decoder, columns, pitch, pcm)
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
        if torch.is_grad_enabled():  # not in a validation
            own = reader_loss(self._reader, real, slots)
            optimiser_step(own, self.optimisers["reader"], self.schedule.clip)
        apart = functional.l1_loss(made, real) / (real.abs().mean() + FLOOR)
        wrong = reader_loss(self._reader, made, slots)
        return {
            "latents": LATENTS_WEIGHT * apart,
            "phones": self._recipe.phone_reader_weight * wrong,
        }

    def _batch(
        self, side: tuple[CorpusUtterance, ...], draw: random.Random
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Draw windows of complete frames. Return their samples [B, S], quantised latents [B, D,
        T], pitch [B, 2, columns], and the sound in each 20 ms slot [B, S / SLOT].
        """
        chosen = draw.choices(side, k=self._batch_size)
        utterances = [self._encoded[each.entry] for each in chosen]
        # Utterances are shorter than a window only where all are.
        frames = min(self._recipe.window_frames, *(each.frames for each in utterances))
        samples, codes, pitch, slots = [], [], [], []
        for utterance, said in zip(chosen, utterances, strict=True):
            own_codes = torch.from_numpy(said.codes.astype(np.int64)).to(self._device)
            if draw.random() < self._recipe.drawn_codes:
                drawn = self._draws.codes(said)
                own_codes = torch.cat((drawn, own_codes[:, drawn.shape[1] :]), dim=1)
            phones = known_phones(frame_phones(said), draw).to(self._device)
            start = utterance.draw_start(draw, frames * FRAME_SAMPLES, FRAME_SAMPLES)
            first = start // FRAME_SAMPLES
            samples.append(utterance.samples(start, frames * FRAME_SAMPLES))
            codes.append(torch.cat((own_codes, phones))[:, first : first + frames])
            pitch.append(utterance.pitch_of(first, frames))
            slots.append(utterance.slots(start, frames * FRAME_SAMPLES))
        latents = self._model.decode_latent(torch.stack(codes))
        pcm, track, sounds = (
            torch.stack(each).to(self._device) for each in (samples, pitch, slots)
        )
        return pcm, latents, track, sounds


def frame_phones(utterance: VoxtreamUtterance) -> Tensor:
    """Return the first and the last phone in each frame [2, T]; SILENCE after the speech."""
    spoken = utterance.phones[utterance.spans()].T
    phones = np.full((PHONE_ROWS, utterance.frames), SILENCE, np.int64)
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


# ------------------------------------------------------------------------ draws


class CodeSampler:
    """Draws codes of utterances with a trained voice, and caches them."""

    def __init__(
        self, recipe: Any, model: VoxtreamModel, people: Mapping[int, Sequence[VoxtreamUtterance]]
    ) -> None:
        """`recipe`: of VoXtream2 or VoXtream; `people`: utterances by speaker."""
        self._recipe, self._people = recipe, people
        self._generation = VoxtreamGeneration(temperature=recipe.export.temperature)
        self._model = model.eval().requires_grad_(requires_grad=False)
        self._drawn: dict[int, Tensor] = {}  # by the utterance's id()

    def codes(self, utterance: VoxtreamUtterance) -> Tensor:
        """The drawn codes [K, T] of an utterance."""
        if id(utterance) not in self._drawn:
            with torch.random.fork_rng():
                self._drawn[id(utterance)] = self._draw(utterance)
        return self._drawn[id(utterance)]

    def _draw(self, utterance: VoxtreamUtterance) -> Tensor:
        recipe, model = self._recipe, self._model
        draw = random.Random(f"{recipe.seed} draw {utterance.speaker} {utterance.place}")
        torch.manual_seed(draw.getrandbits(31))
        derived = recipe.system == VOXTREAM
        person, prompt = self._people[utterance.speaker], 0 if derived else PROMPT_FRAMES
        lesson = one_utterance(utterance, person, draw, prompt)
        batch = on_device(collated([lesson], model.config), model.device)
        with in_bf16(model.device, asked=recipe.voice.schedule.bf16):
            ahead = recipe.voice.look_ahead
            found = draw_codes(model, batch, ahead, self._generation, greedily=not derived)
        return found[0, :, lesson.prompt_frames :][:, : utterance.frames].clone()


@torch.inference_mode()
def draw_codes(
    model: VoxtreamModel,
    batch: VoxtreamBatch,
    look_ahead: int,
    generation: VoxtreamGeneration,
    *,
    greedily: bool = True,
) -> Tensor:
    """Return codes [B, K, T]: drawn ones for the lesson's frames, the batch's own ones elsewhere
    (in the prompt and in the padding).

    Semantic codes (first codebook) are drawn given the true duration token, without guidance.
    Acoustic codes (the others) are the most likely ones with `greedily`, otherwise drawn too.
    """
    config = model.config
    hidden = temporal_hidden(model, batch, phone_rows(model, batch, look_ahead), dropout=0.0)
    real = batch.tokens >= 0  # [B, T]
    logits = model.semantic_head(hidden[real]).float()
    joint = logits.view(len(logits), config.duration_tokens, -1)[..., : config.codes]
    row = joint[torch.arange(len(joint), device=joint.device), batch.tokens[real]]
    top = min(generation.top_codes, config.codes)
    codes = batch.codes.clone()
    codes[:, 0][real] = _drawn(row, generation.temperature, top)
    # Column t produces the semantic code of frame t and the acoustic ones of frame t - 1.
    behind = real & real.roll(1, dims=1)
    behind[:, 0] = False  # no frame comes before the first
    lesson, column = behind.nonzero().unbind(1)
    speaker = model.speaker_projection(batch.speakers)[lesson]
    frames = codes[lesson, :, column]  # [N, K]
    for codebook in range(1, config.codebooks):
        logits = depth_logits(model, hidden[lesson, column] + speaker, frames)[:, codebook - 1]
        row = logits[:, : config.codes].float()
        frames[:, codebook] = _drawn(row, generation.temperature, 1 if greedily else top)
    codes[lesson, 1:, column - 1] = frames[:, 1:]
    return codes


def _drawn(logits: Tensor, temperature: float, top: int) -> Tensor:
    """Draw one of the best `top` values of each row [N, V]; return [N]."""
    best = (logits / temperature).softmax(-1).topk(top)
    return best.indices.gather(1, torch.multinomial(best.values, 1))[:, 0]
