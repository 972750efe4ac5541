"""The stage `voice`: a small VoXtream2 learns to speak the encoded corpus.

As in VoXtream2, 3.2 to 3.4: prompts of 3 to 10 s without text, conditions dropped for guidance, one
look-ahead for each step, a depth loss on some of the frames. Input codes are corrupted, because in
use they are the model's own. Invariant: only the model's inputs are corrupted, never its targets.
"""

import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from engine.training import recipe as recipes
from engine.training.encoded import People, Sides, read_sides
from engine.training.loop import Learner, Losses, StepContext, in_bf16, on_device, train_and_save
from engine.training.recipe import Recipe
from engine.training.run import Run
from engine.training.stages import VOXTREAM, VOXTREAM2
from engine.training.voice import fine_tuning
from engine.training.voice.model import (
    Batch,
    depth_logits,
    fresh_model,
    model_config,
    phone_rows,
    temporal_hidden,
)
from engine.training.voice.utterances import Encoded, Lesson, person_of, sequence, stretch
from engine.tts.phones import BOS, UNKNOWN
from engine.tts.voxtream.config import Generation, ModelConfig

FRAMES_PER_SECOND = 12.5
NO_TOKEN = -1  # where nothing is to be learnt
FROZEN = ("depth", "acoustic_heads", "audio_embeddings")
WRONG_SHARE = 0.8  # of the codebooks of a frame inputs wrong


def train_voice(run: Run) -> None:
    """Train and write voice.safetensors (the averaged weights, by the model's own keys)."""
    inputs = run.require("encode")
    if run.recipe.begin_with:
        inputs |= fine_tuning.inputs(run.recipe)
    sides = read_sides(run, "encode", Encoded)
    frames = sum(utterance.frames for utterance in sides.utterances)

    train_and_save(
        run,
        run.stage("voice") / "voice.safetensors",
        lambda device: VoiceLearner(run.recipe, sides, device),
        inputs,
        hours=round(frames / FRAMES_PER_SECOND / 3600, 3),
    )


class VoiceLearner(Learner):
    """The model and its losses."""

    averaged = "voice"

    def __init__(self, recipe: Recipe, sides: Sides[Encoded], device: torch.device) -> None:
        self._recipe = recipe.voice
        self._sides = sides
        self._system = recipe.system
        self._config = model_config(recipe.voice, recipe.codec, recipe.speaker, recipe.system)
        self._model = fresh_model(self._config, Generation())
        if recipe.begin_with:
            self._model.load_state_dict(fine_tuning.weights(recipe, self._model.state_dict()))
        for name in FROZEN if self._recipe.frozen_depth else ():
            getattr(self._model, name).requires_grad_(requires_grad=False)
        super().__init__(self._recipe.schedule, device, voice=self._model)

    def learn(self, context: StepContext) -> Losses:
        recipe, draw = self._recipe, context.draw
        batch = self._batch(self._sides.training, draw, long=context.share >= recipe.long_from)
        look_ahead = recipe.look_ahead
        if self._system == VOXTREAM2:
            batch = dropped(batch, self._config, recipe)
            look_ahead = draw.randint(1, recipe.look_ahead)
        losses = self._losses(corrupted(batch, self._config, recipe), look_ahead)
        total = losses["semantic"] + recipe.depth_weight * losses["acoustic"]
        return self._optimise(losses, total)

    def validated(self, draw: random.Random) -> dict[str, Tensor]:
        batch = self._batch(self._sides.validation, draw, long=False)
        return self._losses(batch, self._recipe.look_ahead)

    def _batch(self, people: People[Encoded], draw: random.Random, *, long: bool) -> Batch:
        recipe = self._recipe
        seconds = recipe.window_seconds if long else recipe.short_seconds
        window = round(seconds * FRAMES_PER_SECOND)
        # As many frames a step, whatever the window.
        count = max(1, round(self._batch_size * recipe.short_seconds / seconds))
        lessons = [self._lesson(person_of(people, draw), draw, window) for _ in range(count)]
        return on_device(collated(lessons, self._config), self._device)

    def _lesson(self, person: Sequence[Encoded], draw: random.Random, window: int) -> Lesson:
        """VoXtream2 learns behind a prompt without text, VoXtream learns all of a stretch."""
        if self._system == VOXTREAM:
            return stretch(person, draw, window)
        shortest, longest = (round(s * FRAMES_PER_SECOND) for s in self._recipe.prompt_seconds)
        return sequence(person, draw, window, draw.randint(shortest, min(longest, window // 2)))

    def _losses(self, batch: Batch, look_ahead: int) -> dict[str, Tensor]:
        """Semantic loss over (token, code) jointly, the part of it due to the tokens, and acoustic
        loss on some frames.
        """
        model, recipe = self._model, self._recipe
        bf16 = recipe.schedule.bf16
        with in_bf16(self._device, asked=bf16):
            phones = phone_rows(model, batch, look_ahead)
            hidden = temporal_hidden(model, batch, phones, recipe.dropout)
            logits = model.semantic_head(hidden).float().flatten(0, 1)  # [B T, N V]
            joint = batch.tokens * self._config.audio_vocabulary + batch.codes[:, 0]
            # Indices of what is real would make the processor wait for the device.
            joint = torch.where(batch.tokens >= 0, joint, NO_TOKEN).flatten()
            semantic = functional.cross_entropy(logits, joint, ignore_index=NO_TOKEN)
            acoustic = self._acoustic(batch, hidden)
        by_token = logits.detach().view(len(logits), self._config.duration_tokens, -1).logsumexp(-1)
        tokens = batch.tokens.flatten()
        duration = functional.cross_entropy(by_token, tokens, ignore_index=NO_TOKEN)
        return {"semantic": semantic, "acoustic": acoustic, "duration": duration}

    def _acoustic(self, batch: Batch, hidden: Tensor) -> Tensor:
        """Acoustic loss on a share of the frames (VoXtream, 2: amortised)."""
        # Column t produces the semantic code of frame t and the acoustic ones of frame t - 1.
        real = batch.tokens >= 0
        real = real & real.roll(1, dims=1)
        real[:, 0] = False  # no frame comes before the first
        count = max(self._recipe.min_depth_frames, int(self._recipe.depth_share * real.numel()))
        places = torch.multinomial(real.float().flatten(), count, replacement=True)
        lesson, column = places // real.shape[1], places % real.shape[1]
        speaker = self._model.speaker_projection(batch.speakers)[lesson]
        semantic = batch.codes[lesson, 0, column]
        codes = torch.cat((semantic[:, None], batch.codes[lesson, 1:, column - 1]), dim=1)  # [N, K]
        logits = depth_logits(self._model, hidden[lesson, column] + speaker, codes)
        return functional.cross_entropy(logits.flatten(0, 1), codes[:, 1:].flatten())


def collated(lessons: list[Lesson], config: ModelConfig) -> Batch:
    """Lessons side by side, padded; nothing dropped or corrupted yet."""
    columns = max(len(lesson.rows) for lesson in lessons)
    phones = max(len(lesson.text) for lesson in lessons)
    count, codebooks = len(lessons), config.codebooks
    text = np.full((count, phones), UNKNOWN, np.int64)
    rows = np.zeros((count, columns, 2), np.int64)
    inputs = np.full((count, codebooks, columns), config.pad, np.int64)
    codes = np.zeros((count, codebooks, columns), np.int64)
    tokens = np.full((count, columns), -1, np.int64)
    for number, lesson in enumerate(lessons):
        length = len(lesson.rows)
        text[number, : len(lesson.text)] = lesson.text
        rows[number, :length] = lesson.rows
        codes[number, :, :length] = lesson.codes
        inputs[number, 0, 1:length] = lesson.codes[0, :-1]
        inputs[number, 1:, 2:length] = lesson.codes[1:, :-2]
        tokens[number, :length] = lesson.tokens
    return Batch(
        torch.from_numpy(text),
        torch.tensor([len(lesson.text) for lesson in lessons]),
        torch.from_numpy(rows),
        torch.from_numpy(inputs),
        torch.from_numpy(codes),
        torch.from_numpy(tokens),
        torch.from_numpy(np.stack([lesson.speaker for lesson in lessons])),
    )


def dropped(batch: Batch, config: ModelConfig, recipe: recipes.Voice) -> Batch:
    """Drop text, prompt codes or speaker from some lessons: each of them alone, or all three, like
    the unconditional row of guidance.
    """
    count, device = len(batch.text), batch.text.device
    every = torch.rand(count, device=device) < recipe.drop_all
    without_text, without_prompt, without_speaker = (
        every | (torch.rand(count, device=device) < recipe.drop) for _ in range(3)
    )
    text = batch.text.masked_fill((batch.text != BOS) & without_text[:, None], UNKNOWN)
    columns = torch.arange(batch.inputs.shape[-1], device=device)
    first = (batch.tokens >= 0).int().argmax(dim=1)  # the prompt's last column
    in_prompt = columns[None] <= first[:, None]  # [B, T]
    hidden = (in_prompt & without_prompt[:, None])[:, None] & (batch.inputs <= config.codes)
    codes = batch.inputs.masked_fill(hidden, config.codes)
    speakers = batch.speakers * (~without_speaker)[:, None]
    return replace(batch, text=text, inputs=codes, speakers=speakers)


def corrupted(batch: Batch, config: ModelConfig, recipe: recipes.Voice) -> Batch:
    """Replace the input codes of some frames by random ones and remove those of others, because a
    model's own codes are sometimes wrong."""
    shape, device = batch.inputs.shape, batch.inputs.device
    real = batch.inputs < config.codes
    columns = (shape[0], 1, shape[2])
    wrong = (torch.rand(columns, device=device) < recipe.random_codes) & (
        torch.rand(shape, device=device) < WRONG_SHARE
    )
    random_codes = torch.randint(0, config.codes, shape, device=device)
    codes = torch.where(wrong & real, random_codes, batch.inputs)
    is_lost = torch.rand(columns, device=device) < recipe.lost_frames
    codes = torch.where(is_lost & real, torch.full_like(codes, config.codes), codes)
    return replace(batch, inputs=codes)
