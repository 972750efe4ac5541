"""The stage `draw`: every utterance gets a second set of codes, which the voice draws given the
true past.

In use the decoder only gets codes that the voice drew, and those of the later codebooks are mostly
guesses. A decoder that learnt on true codes trusts them too much (which is why Tacotron 2's vocoder
learns on predictions given the true past: Shen et al. 2018, 3.1). Invariant: prompt, text and
duration tokens are the true ones; only codes are drawn.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from engine.nn import stored_weights
from engine.training.codec.speech import first_shards
from engine.training.corpus.shards import Entry, Shard
from engine.training.loop import in_bf16, on_device
from engine.training.run import Run
from engine.training.utterances import by_speaker, encode_shards, read, shard_file
from engine.training.voxtream import VOXTREAM
from engine.training.voxtream.data import VoxtreamUtterance, behind_another, one_utterance
from engine.training.voxtream.losses import (
    Batch,
    collated,
    depth_logits,
    fresh_model,
    model_config,
    phone_rows,
    temporal_hidden,
)
from engine.tts.voxtream.config import Generation
from engine.tts.voxtream.network.model import VoxtreamModel

BATCH = 12  # utterances at once
PROMPT_FRAMES = 50  # 4 s
LARGEST = 1 << 15  # frames of a batch, padding included


@dataclass(frozen=True)
class Drawn:
    """Codes [K, T] of the utterance with this number in its shard."""

    place: int
    codes: npt.NDArray[np.int16]


def draw_corpus(run: Run) -> None:
    """Draw the codes of all shards that the decoder learns from and that have none yet."""
    recipe, inputs = run.recipe, run.require("encode", "voice")
    files = (run.weights("voice"), run.stage("encode") / "manifest.json")
    shards = first_shards(run, recipe.decoder.hours)
    encode_shards(run, _Drawing, files, recipe, run.device, stage="draw", shards=shards)
    run.finish("draw", inputs)


def read_draws(run: Run) -> dict[Entry, Tensor]:
    """Drawn codes [K, T] by utterance."""
    return {
        shard.entries[drawn.place]: torch.from_numpy(drawn.codes.astype(np.int64))
        for shard in first_shards(run, run.recipe.decoder.hours)
        for drawn in read(shard_file(run.stage("draw"), shard), Drawn)
    }


class _Drawing:
    """A voice that draws the codes of shards, in the order of their encoded utterances."""

    def __init__(self, voice: str, encoded: str, recipe: Any, device: str) -> None:
        """`encoded` is the manifest of the corpus that the voice learnt from."""
        self._generation = Generation(temperature=recipe.export.temperature)
        self._model = fresh_model(model_config(recipe), self._generation)
        self._model.load_state_dict(stored_weights.load(Path(voice)))
        self._model.to(device).eval().requires_grad_(requires_grad=False)
        self._folder, self._recipe, self._device = Path(encoded).parent, recipe, device
        self._people = by_speaker(self._folder, VoxtreamUtterance)

    def encode(self, shard: Shard) -> list[Drawn]:
        draw = random.Random(f"{self._recipe.seed} draw {shard.index.stem}")
        torch.manual_seed(draw.getrandbits(31))
        utterances = read(shard_file(self._folder, shard), VoxtreamUtterance)
        drawn: dict[int, npt.NDArray[np.int16]] = {}
        for batch in _batches(utterances):
            codes = self._drawn([utterances[place] for place in batch], draw)
            drawn |= zip(batch, codes, strict=True)
        return [Drawn(each.place, drawn[n]) for n, each in enumerate(utterances)]

    def _drawn(
        self, utterances: Sequence[VoxtreamUtterance], draw: random.Random
    ) -> list[npt.NDArray[np.int16]]:
        """Codes [K, T] of each utterance."""
        recipe, model = self._recipe, self._model
        derived = recipe.system == VOXTREAM
        lesson_of = behind_another if derived else one_utterance
        lessons = [
            lesson_of(utterance, self._people[utterance.speaker], draw, PROMPT_FRAMES)
            for utterance in utterances
        ]
        batch = on_device(collated(lessons, model.config), torch.device(self._device))
        with in_bf16(self._device, asked=recipe.voice.schedule.bf16):
            ahead = recipe.voice.look_ahead
            codes = drawn_codes(model, batch, ahead, self._generation, greedily=not derived)
        found = codes.cpu().numpy().astype(np.int16)
        return [
            found[number, :, lesson.prompt_frames :][:, : utterance.frames]
            for number, (lesson, utterance) in enumerate(zip(lessons, utterances, strict=True))
        ]


def _batches(utterances: Sequence[VoxtreamUtterance]) -> Iterator[list[int]]:
    """Batches of the indices of utterances that are about equally long."""
    batch: list[int] = []
    for place in sorted(range(len(utterances)), key=lambda place: utterances[place].frames):
        longest = PROMPT_FRAMES + utterances[place].frames
        if batch and (len(batch) == BATCH or (len(batch) + 1) * longest > LARGEST):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


@torch.inference_mode()
def drawn_codes(
    model: VoxtreamModel,
    batch: Batch,
    look_ahead: int,
    generation: Generation,
    *,
    greedily: bool = True,
) -> Tensor:
    """Codes [B, K, T]: the batch's own outside of the lesson, drawn ones within it.

    Semantic codes are drawn given the true token, without guidance, acoustic ones greedily
    (VoXtream2, 3.5) or drawn as well (VoXtream, released). No column produces the acoustic codes of
    a lesson's last frame, so these stay true.
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
    """One of the best `top` of each row [N, V]; [N]."""
    best = (logits / temperature).softmax(-1).topk(top)
    return best.indices.gather(1, torch.multinomial(best.values, 1))[:, 0]
