"""The stage `decoder`: train the decoder that ships, which turns codes into sound. The codes stay
fixed.

A decoder with a pitch source also learns the pitch. A critic (a GAN discriminator of spectra) joins
later in the schedule. The decoder's input also contains the phones of each frame
(engine/codec/small.py), but only those that a session knows: none for a prompt; in a pause the
last phone, or silence at the end of a text.

In use, the decoder gets only codes that the voice drew, and those of the later codebooks are mostly
guesses. A decoder trained on true codes trusts them too much. So a share of the codes are drawn by
the trained voice, each given the true codes before it. (For the same reason Tacotron 2's vocoder
learns on predictions made from the true past: Shen et al. 2018, 3.1.) Invariants: no weight before
the codes changes, so encoded speech stays valid; an utterance is drawn once, with its own seed.
"""

import random
from dataclasses import replace
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from engine.codec.mimi import FRAME_SAMPLES, NOTHING, PHONE_ROWS
from engine.codec.small import SmallCodecConfig, build, read_config
from engine.nn import weights_file
from engine.nn.weights_file import SHAPE_KEY
from engine.training.codec.codec import CODING, decoder_input, encoded, with_matching
from engine.training.codec.sound_losses import FLOOR, Made, SoundLearner, fresh_reader, reader_loss
from engine.training.codec.speech import CorpusUtterance, Utterances, draw_windows, first_shards
from engine.training.corpus.speakers import split
from engine.training.corpus.utterance import Entry
from engine.training.loop import Losses, in_bf16, on_device, optimiser, optimiser_step
from engine.training.run import Run, metadata
from engine.training.utterances import read, shard_file
from engine.training.voxtream import VOXTREAM
from engine.training.voxtream import losses as voice
from engine.training.voxtream.data import Person, VoxtreamUtterance, one_utterance, token_spans
from engine.training.voxtream.losses import VoxtreamBatch
from engine.tts.phones import SILENCE, VOCABULARY
from engine.tts.voxtream.config import VoxtreamGeneration
from engine.tts.voxtream.network.model import VoxtreamModel

UNKNOWN_SHARE: Final = 0.2  # share of windows without phones, and of those without them at first
PAUSED: Final = 0.5  # share of utterances that end in a pause, not with the text
READER_RATE: Final = 3.0  # of the phone reader, a factor on the schedule's learning rate
LATENTS_WEIGHT: Final = 0.1  # of the distance between output and original in the codec's encoder
PROMPT_FRAMES: Final = 50  # 4 s


def shipped_config(run: Run) -> SmallCodecConfig:
    """Return the configuration of the codec with the decoder that ships."""
    own, file = run.recipe.decoder, run.weights("codec")
    base = read_config(metadata(file).get(SHAPE_KEY, ""), file)
    return replace(base, decoder_blocks=own.blocks, decoder_layers=own.layers, phones=VOCABULARY)


def build_codec(config: SmallCodecConfig, trained: dict[str, Tensor]) -> Any:  # Any: MimiModel
    """Build a codec. Trained weights are used where name and shape match; all others are random."""
    model = build(config)
    model.load_state_dict(with_matching(model.state_dict(), trained))
    return model


class DecoderLearner(SoundLearner):
    """Train the codec's decoder. A linear classifier of the codec's latents reads its phones."""

    averaged = "codec"
    exact = tuple(f"{name}." for name in CODING)

    def __init__(self, run: Run) -> None:
        self._recipe, self.shape = run.recipe.decoder, shipped_config(run)
        self._encoded, spoken = dict[Entry, VoxtreamUtterance](), list[CorpusUtterance]()
        for shard in first_shards(run, self._recipe.hours):
            found = read(shard_file(run.stage("encode"), shard), VoxtreamUtterance)
            encoded = {shard.entries[utterance.place]: utterance for utterance in found}
            spoken += [CorpusUtterance(*each) for each in shard.spoken() if each[0] in encoded]
            self._encoded |= encoded
        self._drawn = self._draw_codes(run) if self._recipe.drawn_codes else {}
        model = build_codec(self.shape, weights_file.load(run.weights("codec")))
        for name in CODING:
            getattr(model, name).requires_grad_(False).eval()
        self._model, self._reader = model, fresh_reader(model.dimension)
        speech = split(run.recipe, spoken)
        super().__init__(run, self._recipe, speech, codec=model, reader=self._reader)
        self.optimisers["reader"] = optimiser(self._reader, self.schedule, scale=READER_RATE)

    def _draw_codes(self, run: Run) -> dict[Entry, Tensor]:
        """Draw the codes [K, T] of the training speakers' utterances with the trained voice."""
        model = voice.fresh_model(voice.model_config(run.recipe), VoxtreamGeneration())
        model.load_state_dict(weights_file.load(run.weights("voice")))
        model = model.to(run.device).eval().requires_grad_(requires_grad=False)
        people = split(run.recipe, self._encoded.values()).training
        return {
            entry: drawn_utterance(run.recipe, model, utterance, people[utterance.speaker])
            for entry, utterance in self._encoded.items()
            if utterance.speaker in people
        }

    def _losses(self, side: Utterances, draw: random.Random) -> Made:
        model = self._model
        pcm, latents, pitch, slots = self._batch(side, draw)
        with self._autocast():
            columns = decoder_input(model, latents)
        _, output, losses = self._decoded(model.decoder, columns, pitch, pcm)
        return pcm, output, losses | self._phone_losses(output, pcm, slots)

    def _phone_losses(self, output: Tensor, pcm: Tensor, slots: Tensor) -> Losses:
        """Compare generated samples [B, S] with the real ones in the codec's encoder, which has
        learnt to distinguish phones: by the distance of the latents, relative to the size of the
        real ones, and by the phone reader's cross-entropy on the generated latents.
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
        weight = self._recipe.phone_reader_weight
        return {"latents": LATENTS_WEIGHT * apart, "phones": weight * wrong}

    def _batch(self, side: Utterances, draw: random.Random) -> tuple[Tensor, ...]:
        """Draw windows of complete frames. Return their samples [B, S], quantised latents [B, D,
        T], pitch [B, 2, columns], and the sound in each 20 ms slot [B, S / SLOT].
        """
        # Utterances are shorter than a window only where all are.
        shortest = min(self._encoded[each.entry].frames for each in side)
        frames = min(self._recipe.window_frames, shortest)
        length, codes = frames * FRAME_SAMPLES, []
        windows = draw_windows(side, draw, self._batch_size, length, FRAME_SAMPLES)
        for utterance, start in windows:
            said, first = self._encoded[utterance.entry], start // FRAME_SAMPLES
            own_codes = torch.from_numpy(said.codes.astype(np.int64)).to(self._device)
            if draw.random() < self._recipe.drawn_codes:
                drawn = self._drawn[utterance.entry]
                own_codes = torch.cat((drawn, own_codes[:, drawn.shape[1] :]), dim=1)
            phones = known_phones(frame_phones(said), draw).to(self._device)
            codes.append(torch.cat((own_codes, phones))[:, first : first + frames])
        pcm = torch.stack([each.samples(start, length) for each, start in windows])
        pitch = [each.pitch_of(start // FRAME_SAMPLES, frames) for each, start in windows]
        slots = torch.stack([each.slots(start, length) for each, start in windows])
        latents = self._model.decode_latent(torch.stack(codes))
        device = self._device
        return pcm.to(device), latents, torch.stack(pitch).to(device), slots.to(device)


def frame_phones(utterance: VoxtreamUtterance) -> Tensor:
    """Return the first and the last phone in each frame [2, T]; SILENCE after the speech."""
    spoken = utterance.phones[token_spans(utterance.tokens)].T
    phones = np.full((PHONE_ROWS, utterance.frames), SILENCE, np.int64)
    phones[:, : spoken.shape[1]] = spoken
    return torch.from_numpy(phones)


def known_phones(phones: Tensor, draw: random.Random) -> Tensor:
    """Hide phones [2, T] that a session might not know, at random: all of them or those of a prompt
    (NOTHING), or the silence after speech (the last phone continues).
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


def drawn_utterance(
    recipe: Any, model: VoxtreamModel, utterance: VoxtreamUtterance, person: Person
) -> Tensor:
    """Draw the codes [K, T] of an utterance. `person`: the utterances of its speaker."""
    draw = random.Random(f"{recipe.seed} draw {utterance.speaker} {utterance.place}")
    seed, derived = draw.getrandbits(31), recipe.system == VOXTREAM
    lesson = one_utterance(utterance, person, draw, 0 if derived else PROMPT_FRAMES)
    batch = on_device(voice.collated([lesson], model.config), model.device)
    generation = VoxtreamGeneration(temperature=recipe.generation.temperature)
    ahead, asked = recipe.voice.look_ahead, recipe.voice.schedule.bf16
    with torch.random.fork_rng(), in_bf16(model.device, asked=asked):
        torch.manual_seed(seed)
        found = draw_codes(model, batch, ahead, generation, greedily=not derived)
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
    phones = voice.phone_rows(model, batch, look_ahead)
    hidden = voice.temporal_hidden(model, batch, phones, dropout=0.0)
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
        logits = voice.depth_logits(model, hidden[lesson, column] + speaker, frames)
        row = logits[:, codebook - 1, : config.codes].float()
        frames[:, codebook] = _drawn(row, generation.temperature, 1 if greedily else top)
    codes[lesson, 1:, column - 1] = frames[:, 1:]
    return codes


def _drawn(logits: Tensor, temperature: float, top: int) -> Tensor:
    """Draw one of the best `top` values of each row [N, V]; return [N]."""
    best = (logits / temperature).softmax(-1).topk(top)
    return best.indices.gather(1, torch.multinomial(best.values, 1))[:, 0]
