"""The stage `draw`: every utterance gets a second set of codes, which the voice draws given the
true past.

In use the decoder only gets codes that the voice drew, and those of the later codebooks are mostly
guesses. A decoder that learnt on true codes trusts them too much (which is why Tacotron 2's vocoder
learns on predictions given the true past: Shen et al. 2018, 3.1). Invariant: prompt, text and
duration tokens are the true ones; only codes are drawn.
"""

import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from engine.nn import stored_weights
from engine.training import recipe as recipes
from engine.training.codec.speech import first_shards
from engine.training.corpus.shards import Entry, Shard
from engine.training.encoded import by_speaker, encode_shards, read, shard_file
from engine.training.loop import in_bf16, on_device
from engine.training.run import Run
from engine.training.stages import VOXTREAM
from engine.training.voice.model import (
    Batch,
    depth_logits,
    fresh_model,
    model_config,
    phone_rows,
    temporal_hidden,
)
from engine.training.voice.stage import collated
from engine.training.voice.utterances import Encoded, behind_another, one_utterance
from engine.tts.voxtream.config import Generation, ModelConfig
from engine.tts.voxtream.network.model import VoxtreamModel

BATCH = 12  # utterances at once
PROMPT_FRAMES = 50  # 4 s
LARGEST = 1 << 15  # frames of a batch, padding included


@dataclass(frozen=True)
class Drawn:
    """Codes [K, T] of the utterance with this number in its shard."""

    place: int
    codes: npt.NDArray[np.int16]


@dataclass(frozen=True)
class Drawing:
    """How a voice draws codes."""

    system: str
    config: ModelConfig
    voice: recipes.Voice
    generation: Generation
    seed: int
    device: str


def draw_corpus(run: Run) -> None:
    """Draw the codes of all shards that the decoder learns from and that have none yet."""
    recipe = run.recipe
    if not recipe.decoder.drawn:
        sys.stderr.write("draw is not asked for: decoder.drawn is 0\n")
        return
    inputs, encoded = run.require("encode", "voice"), run.stage("encode")
    files = (run.stage("voice") / "voice.safetensors", encoded / "manifest.json")
    how = Drawing(
        recipe.system,
        model_config(recipe.voice, recipe.codec, recipe.speaker, recipe.system),
        recipe.voice,
        Generation(temperature=recipe.export.temperature),
        recipe.seed,
        run.device,
    )
    shards = first_shards(run, recipe.decoder.hours)
    encode_shards(run, "draw", _Work, files, how, shards=shards)
    run.finish("draw", inputs)


def read_draws(run: Run) -> dict[Entry, Tensor]:
    """Drawn codes [K, T] by utterance."""
    return {
        shard.entries[drawn.place]: torch.from_numpy(drawn.codes.astype(np.int64))
        for shard in first_shards(run, run.recipe.decoder.hours)
        for drawn in read(shard_file(run.stage("draw"), shard), Drawn)
    }


class _Work:
    """A voice that draws the codes of shards, in the order of their encoded utterances."""

    def __init__(self, voice: str, encoded: str, how: Drawing) -> None:
        """`encoded` is the manifest of what the voice learnt from."""
        self._model = fresh_model(how.config, how.generation)
        self._model.load_state_dict(stored_weights.load(Path(voice)))
        self._model.to(how.device).eval().requires_grad_(requires_grad=False)
        self._folder, self._how = Path(encoded).parent, how
        self._people = by_speaker(self._folder, Encoded)

    def encoded(self, shard: Shard) -> list[Drawn]:
        draw = random.Random(f"{self._how.seed} draw {shard.index.stem}")
        torch.manual_seed(draw.getrandbits(31))
        utterances = read(shard_file(self._folder, shard), Encoded)
        drawn: dict[int, npt.NDArray[np.int16]] = {}
        for batch in _batches(utterances):
            codes = self._drawn([utterances[place] for place in batch], draw)
            drawn |= zip(batch, codes, strict=True)
        return [Drawn(each.place, drawn[n]) for n, each in enumerate(utterances)]

    def _drawn(
        self, utterances: Sequence[Encoded], draw: random.Random
    ) -> list[npt.NDArray[np.int16]]:
        """Codes [K, T] of each utterance."""
        how, model = self._how, self._model
        lesson_of = behind_another if how.system == VOXTREAM else one_utterance
        lessons = [
            lesson_of(utterance, self._people[utterance.speaker], draw, PROMPT_FRAMES)
            for utterance in utterances
        ]
        batch = on_device(collated(lessons, how.config), torch.device(how.device))
        with in_bf16(how.device, asked=how.voice.schedule.bf16):
            codes = drawn_codes(
                model,
                batch,
                how.voice.look_ahead,
                how.generation,
                greedily=how.system != VOXTREAM,
            )
        found = codes.cpu().numpy().astype(np.int16)
        return [
            found[number, :, lesson.prompt_frames :][:, : utterance.frames]
            for number, (lesson, utterance) in enumerate(zip(lessons, utterances, strict=True))
        ]


def _batches(utterances: Sequence[Encoded]) -> Iterator[list[int]]:
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
