"""Codes for the decoder to learn from, drawn by the trained voice, each given the true codes before
it.

In use, the decoder gets only codes that the voice drew, and those of the later codebooks are mostly
guesses. A decoder trained on true codes trusts them too much. (For the same reason Tacotron 2's
vocoder learns on predictions made from the true past: Shen et al. 2018, 3.1.) Invariants: prompt,
text and duration tokens are the true ones; an utterance is drawn once, with its own seed.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from engine.nn import stored_weights
from engine.training.run import Run
from engine.training.steps import in_bf16, on_device
from engine.training.voxtream import VOXTREAM
from engine.training.voxtream.data import VoxtreamUtterance, after_another, one_utterance
from engine.training.voxtream.losses import (
    VoxtreamBatch,
    collated,
    depth_logits,
    fresh_model,
    model_config,
    phone_rows,
    temporal_hidden,
)
from engine.tts.voxtream.config import VoxtreamGeneration
from engine.tts.voxtream.network.model import VoxtreamModel

PROMPT_FRAMES = 50  # 4 s


class CodeSampler:
    """Draws codes of utterances with a trained voice, and caches them."""

    def __init__(
        self, recipe: Any, model: VoxtreamModel, people: Mapping[int, Sequence[VoxtreamUtterance]]
    ) -> None:
        """`recipe`: of VoXtream2 or VoXtream; `people`: all utterances by speaker."""
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
        person = self._people[utterance.speaker]
        lesson = (after_another if derived else one_utterance)(
            utterance, person, draw, PROMPT_FRAMES
        )
        batch = on_device(collated([lesson], model.config), model.device)
        with in_bf16(model.device, asked=recipe.voice.schedule.bf16):
            ahead = recipe.voice.look_ahead
            found = draw_codes(model, batch, ahead, self._generation, greedily=not derived)
        return found[0, :, lesson.prompt_frames :][:, : utterance.frames].clone()


def load_sampler(run: Run, people: Mapping[int, Sequence[VoxtreamUtterance]]) -> CodeSampler:
    """Return a sampler of codes with the voice that a run has trained."""
    model = fresh_model(model_config(run.recipe), VoxtreamGeneration())
    model.load_state_dict(stored_weights.load(run.weights("voice")))
    return CodeSampler(run.recipe, model.to(run.device), people)


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
