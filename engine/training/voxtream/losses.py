"""The network of VoXtream2 and VoXtream in training, and the stage `voice`.

As in VoXtream2, 3.2 to 3.4: prompts of 3 to 10 s without text, conditions dropped for guidance, one
look-ahead for each step, a depth loss on some of the frames. Input codes are corrupted, because in
use they are the model's own. VoXtream starts from the built-in voice, with a frozen depth
transformer. Invariants: with the same weights, a lesson's logits are those that a session computes
step by step; only the model's inputs are corrupted, never its targets.
"""

import random
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.codec.small import FRAME_RATE
from engine.nn.packed.product_graph import Precision
from engine.resources import resource
from engine.training.corpus.speakers import People
from engine.training.loop import Learner, Losses, on_device
from engine.training.networks import initialise, padded, run_stack, scale_residuals
from engine.training.run import Run
from engine.training.utterances import read_sides
from engine.training.voxtream import VOXTREAM, Voice, data
from engine.training.voxtream.data import VoxtreamLesson, VoxtreamUtterance
from engine.tts.pack_files import VOICE_FILE, read_config
from engine.tts.packs import CONFIG_FILE
from engine.tts.phones import BOS, UNKNOWN
from engine.tts.voxtream.config import SPECIAL_CODES, ModelConfig, VoxtreamGeneration
from engine.tts.voxtream.files.checkpoint import PublishedFile, Target, load_weights
from engine.tts.voxtream.files.pack import VoxtreamPackConfig
from engine.tts.voxtream.network.model import VoxtreamModel

NO_TOKEN = -1  # where nothing is to be learnt
FROZEN = ("depth", "acoustic_heads", "audio_embeddings")
FEWEST_DEPTH_FRAMES = 8  # of a batch
WRONG_SHARE = 0.8  # of the codebooks of a frame inputs wrong
Speech = People[VoxtreamUtterance]


@dataclass(frozen=True)
class VoxtreamBatch:
    """A batch of B lessons: P phones, T columns, K codebooks, padded at the end."""

    text: Tensor  # [B, P]
    text_lengths: Tensor  # [B]
    rows: Tensor  # [B, T, 2]
    inputs: Tensor  # [B, K, T] codes as fed, with the acoustic delay
    codes: Tensor  # [B, K, T] codes of the frames
    tokens: Tensor  # [B, T], -1 where nothing is to be learnt
    speakers: Tensor  # [B, width of speaker vectors]


def model_config(recipe: Any) -> ModelConfig:
    """Return the network's configuration from a recipe; VoXtream's is the built-in voice's."""
    if recipe.system == VOXTREAM:
        tokens = len(data.tokens_of(VOXTREAM))
        return replace(built_in_config().shape, duration_tokens=tokens)
    shape, codec = cast(ModelConfig, recipe.shape), recipe.codec.shape
    vocabulary = codec.codes + SPECIAL_CODES
    return replace(shape, audio_vocabulary=vocabulary, codebooks=codec.codebooks)


def built_in_config() -> VoxtreamPackConfig:
    """Return the configuration of the built-in voice."""
    return read_config(resource("starter", CONFIG_FILE), VoxtreamPackConfig)


def built_in_model() -> VoxtreamModel:
    """Return the built-in voice's model, in fp32 on the CPU."""
    config, target = built_in_config(), Target(torch.device("cpu"), torch.float32, threads=1)
    with PublishedFile(resource("starter", VOICE_FILE), config.shape) as file:
        return load_weights(file, config.shape, config.generation, Precision.FLOAT, target)


def fresh_model(config: ModelConfig, generation: VoxtreamGeneration) -> VoxtreamModel:
    """Build the model with initial weights from torch's generator."""
    model = VoxtreamModel(config, generation)
    initialise(model)
    for stack in (model.phone, model.temporal, model.depth):
        scale_residuals(stack)
    model.semantic_head.weight.data *= 0.3  # start near a uniform distribution
    return model


def phone_rows(model: VoxtreamModel, batch: VoxtreamBatch, look_ahead: int) -> Tensor:
    """Return the phone transformer's output [B, P, D]; each phone sees `look_ahead` more."""
    length, window = batch.text.shape[1], model.config.phone_window
    places = torch.arange(length, device=batch.text.device)
    ahead = places[None] - places[:, None]  # [P, P]
    visible = (ahead <= look_ahead) & (ahead > -window)
    real = places[None] < batch.text_lengths[:, None]  # [B, P]
    mask = (visible[None] & real[:, None]) | torch.eye(length, dtype=torch.bool, device=real.device)
    return run_stack(model.phone, model.phone_embeddings(batch.text), mask)


def temporal_hidden(
    model: VoxtreamModel, batch: VoxtreamBatch, phones: Tensor, dropout: float
) -> Tensor:
    """Return the temporal transformer's output [B, T, D] from phone rows [B, P, D]."""
    pairs = batch.rows.flatten(1)[..., None].expand(-1, -1, phones.shape[-1])
    vectors = phones.gather(1, pairs).view(*batch.rows.shape, -1).sum(dim=2)  # [B, T, D]
    columns = model.columns(vectors, batch.inputs)
    columns = nn.functional.dropout(columns, dropout, training=model.training)
    return run_stack(model.temporal, columns)


def depth_logits(model: VoxtreamModel, hidden: Tensor, codes: Tensor) -> Tensor:
    """Return the logits [N, K - 1, V] of acoustic codes, from rows [N, D] and codes [N, K]."""
    shifts = torch.arange(codes.shape[1] - 1, device=codes.device) * model.config.audio_vocabulary
    embedded = model.audio_embeddings(codes[:, :-1] + shifts).to(hidden.dtype)  # [N, K - 1, D]
    inputs = torch.cat((hidden[:, None], embedded), dim=1)
    out = run_stack(model.depth, inputs)
    logits = [head(out[:, place + 1]) for place, head in enumerate(model.acoustic_heads)]
    return torch.stack(logits, dim=1).float()


class VoxtreamLearner(Learner):
    """Train the model of VoXtream2 or VoXtream."""

    averaged = "voice"

    def __init__(self, run: Run) -> None:
        self._recipe: Voice = run.recipe.voice
        self._sides = read_sides(run, VoxtreamUtterance)
        self._derived = run.recipe.system == VOXTREAM
        self._config = model_config(run.recipe)
        self._model = fresh_model(self._config, VoxtreamGeneration())
        if self._derived:
            weights, own = built_in_model().state_dict(), self._model.state_dict()
            # VoXtream has fewer duration tokens, namely the first ones, so their rows are too.
            self._model.load_state_dict({key: weights[key][: len(own[key])] for key in own})
            for name in FROZEN:
                getattr(self._model, name).requires_grad_(requires_grad=False)
        super().__init__(run, self._recipe.schedule, voice=self._model)

    def learn(self, share: float, draw: random.Random) -> Losses:
        recipe, look_ahead = self._recipe, self._recipe.look_ahead
        batch = self._batch(self._sides.training, draw, long=share >= recipe.long_from)
        if not self._derived:
            batch = dropped(batch, self._config, recipe)
            look_ahead = draw.randint(1, look_ahead)
        losses = self._losses(corrupted(batch, self._config, recipe), look_ahead)
        return self._optimise(losses, acoustic=recipe.depth_weight)

    def validated(self, draw: random.Random) -> Losses:
        batch = self._batch(self._sides.validation, draw, long=False)
        return self._losses(batch, self._recipe.look_ahead)

    def _batch(self, people: Speech, draw: random.Random, *, long: bool) -> VoxtreamBatch:
        recipe = self._recipe
        seconds = recipe.window_seconds if long else recipe.short_seconds
        window = round(seconds * FRAME_RATE)
        # As many frames a step, whatever the window.
        count = max(1, round(self._batch_size * recipe.short_seconds / seconds))
        lessons = [self._lesson(people, draw, window) for _ in range(count)]
        return on_device(collated(lessons, self._config), self._device)

    def _lesson(self, people: Speech, draw: random.Random, window: int) -> VoxtreamLesson:
        """Draw a lesson: speech after a prompt without text, or VoXtream's, all with its text."""
        person = data.draw_person(people, draw)
        if self._derived:
            return data.draw_stretch(person, draw, window)
        shortest, longest = (round(s * FRAME_RATE) for s in self._recipe.prompt_seconds)
        prompt = draw.randint(shortest, min(longest, window // 2))
        return data.draw_sequence(person, draw, window, prompt)

    def _losses(self, batch: VoxtreamBatch, look_ahead: int) -> dict[str, Tensor]:
        """Return the losses of duration token and first code together, and of acoustic codes."""
        model, recipe = self._model, self._recipe
        with self._autocast():
            phones = phone_rows(model, batch, look_ahead)
            hidden = temporal_hidden(model, batch, phones, recipe.dropout)
            logits = model.semantic_head(hidden).float().flatten(0, 1)  # [B T, N V]
            joint = batch.tokens * self._config.audio_vocabulary + batch.codes[:, 0]
            # Indices of the real frames would make the processor wait for the device.
            joint = torch.where(batch.tokens >= 0, joint, NO_TOKEN).flatten()
            semantic = functional.cross_entropy(logits, joint, ignore_index=NO_TOKEN)
            acoustic = self._acoustic(batch, hidden)
        return {"semantic": semantic, "acoustic": acoustic}

    def _acoustic(self, batch: VoxtreamBatch, hidden: Tensor) -> Tensor:
        """Acoustic loss on a share of the frames (VoXtream, 2: amortised)."""
        # Column t produces the semantic code of frame t and the acoustic ones of frame t - 1.
        real = batch.tokens >= 0
        real = real & real.roll(1, dims=1)
        real[:, 0] = False  # no frame comes before the first
        count = max(FEWEST_DEPTH_FRAMES, int(self._recipe.depth_share * real.numel()))
        places = torch.multinomial(real.float().flatten(), count, replacement=True)
        lesson, column = places // real.shape[1], places % real.shape[1]
        speaker = self._model.speaker_projection(batch.speakers)[lesson]
        semantic = batch.codes[lesson, 0, column]
        codes = torch.cat((semantic[:, None], batch.codes[lesson, 1:, column - 1]), dim=1)  # [N, K]
        logits = depth_logits(self._model, hidden[lesson, column] + speaker, codes)
        return functional.cross_entropy(logits.flatten(0, 1), codes[:, 1:].flatten())


def collated(lessons: list[VoxtreamLesson], config: ModelConfig) -> VoxtreamBatch:
    """Collate lessons into a padded batch. Nothing is dropped or corrupted yet."""
    codes = padded(lesson.codes for lesson in lessons)
    inputs = torch.full_like(codes, config.pad)
    inputs[:, 0, 1:] = codes[:, 0, :-1]
    inputs[:, 1:, 2:] = codes[:, 1:, :-2]
    return VoxtreamBatch(
        padded((lesson.text for lesson in lessons), UNKNOWN),
        torch.tensor([len(lesson.text) for lesson in lessons]),
        padded(lesson.rows.T for lesson in lessons).transpose(1, 2),
        inputs,
        codes,
        padded((lesson.tokens for lesson in lessons), NO_TOKEN),
        padded(lesson.speaker for lesson in lessons),
    )


def dropped(batch: VoxtreamBatch, config: ModelConfig, recipe: Voice) -> VoxtreamBatch:
    """Drop text, prompt codes or speaker from some lessons, each of them alone or all three, so
    that the model learns the unconditional predictions that guidance needs.
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


def corrupted(batch: VoxtreamBatch, config: ModelConfig, recipe: Voice) -> VoxtreamBatch:
    """Replace some input codes by random ones or none: a model's own are sometimes wrong."""
    shape, device = batch.inputs.shape, batch.inputs.device
    real = batch.inputs < config.codes
    columns = (shape[0], 1, shape[2])
    wrong = torch.rand(columns, device=device) < recipe.random_codes
    wrong = wrong & (torch.rand(shape, device=device) < WRONG_SHARE)
    random_codes = torch.randint(0, config.codes, shape, device=device)
    codes = torch.where(wrong & real, random_codes, batch.inputs)
    is_lost = torch.rand(columns, device=device) < recipe.lost_frames
    codes = torch.where(is_lost & real, torch.full_like(codes, config.codes), codes)
    return replace(batch, inputs=codes)
