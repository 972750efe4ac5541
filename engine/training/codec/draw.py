"""The stage `draw`: every utterance gets a second set of codes, which the voice draws given the
true past.

In use the decoder only gets codes that the voice drew, and those of the later codebooks are mostly
guesses. A decoder that learnt on true codes trusts them too much (which is why Tacotron 2's vocoder
learns on predictions given the true past: Shen et al. 2018, 3.1). Invariant: prompt, text and
duration tokens are the true ones; only codes are drawn.
"""

import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from safetensors.numpy import load_file as load_arrays
from safetensors.numpy import save_file
from torch import Tensor

from engine.nn import stored_weights
from engine.training.codec.speech import first_shards
from engine.training.corpus.shards import Entry
from engine.training.encoded import by_speaker, do_shards, read, shard_file
from engine.training.loop import in_bf16, on_device
from engine.training.run import Run, file_hash
from engine.training.tasks import Place, Result
from engine.training.voice.model import (
    Batch,
    depth_logits,
    fresh_model,
    model_config,
    phone_rows,
    temporal_hidden,
)
from engine.training.voice.stage import collated
from engine.training.voice.utterances import Encoded, one_utterance
from engine.tts.voxtream.config import Generation, ModelConfig
from engine.tts.voxtream.network.model import VoxtreamModel

BATCH = 12  # utterances at once
PROMPT_FRAMES = 50  # 4 s
LARGEST = 1 << 15  # frames of a batch, padding included


@dataclass(frozen=True)
class Drawing:
    """The files of voice and codes, and how codes are drawn."""

    voice: Place
    codes: Place  # folder of the stage `encode`
    config: ModelConfig
    look_ahead: int
    generation: Generation
    seed: int
    bf16: bool
    device: str


def draw_corpus(run: Run) -> None:
    """Draw the codes of all shards that the decoder learns from and that have none yet."""
    recipe = run.recipe
    if not recipe.decoder.drawn:
        sys.stderr.write("draw is not asked for: decoder.drawn is 0\n")
        return
    inputs = run.require("encode", "voice")
    voice = run.stage("voice") / "voice.safetensors"
    how = Drawing(
        Place(voice),
        Place(run.stage("encode")),
        model_config(recipe.voice, recipe.codec, recipe.speaker),
        recipe.voice.look_ahead,
        Generation(temperature=recipe.export.temperature),
        recipe.seed,
        recipe.voice.schedule.bf16,
        run.device,
    )
    shards = tuple(first_shards(run, recipe.decoder.hours))
    do_shards(run, "draw", shards, draw_shard, (how,), (file_hash(voice), inputs["encode"]))
    run.finish("draw", inputs)


def draw_shard(index: str, output: str, how: Drawing) -> Result:
    """Draw the codes of a shard into the file `output`, in the order of its encoded utterances."""
    stem = Path(index).stem
    draw = random.Random(f"{how.seed} draw {stem}")
    torch.manual_seed(draw.getrandbits(31))
    utterances = read(Path(how.codes) / f"{stem}.safetensors", Encoded)
    draws: dict[int, npt.NDArray[np.int16]] = {}
    for batch in _batches(utterances):
        draws |= zip(
            batch, _draw_batch([utterances[place] for place in batch], draw, how), strict=True
        )
    empty = np.zeros((how.config.codebooks, 0), np.int16)
    codes = np.concatenate([empty, *(draws[place] for place in range(len(utterances)))], axis=1)
    partial = Path(output).with_suffix(".partial")
    save_file({"codes": np.ascontiguousarray(codes)}, partial)
    partial.replace(output)
    return {"utterances": len(utterances)}


def read_draws(run: Run) -> dict[Entry, Tensor]:
    """Drawn codes [K, T] by utterance."""
    draws: dict[Entry, Tensor] = {}
    for shard in first_shards(run, run.recipe.decoder.hours):
        codes = load_arrays(shard_file(run.stage("draw"), shard))["codes"].astype(np.int64)
        frame = 0
        for utterance in read(shard_file(run.stage("encode"), shard), Encoded):
            part = codes[:, frame : frame + utterance.frames]
            draws[shard.entries[utterance.place]] = torch.from_numpy(part)
            frame += utterance.frames
    return draws


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


def _draw_batch(
    utterances: Sequence[Encoded], draw: random.Random, how: Drawing
) -> list[npt.NDArray[np.int16]]:
    """Codes [K, T] of each utterance."""
    people, model = _people(how.codes), _model(how.voice, how.config, how.device)
    lessons = [
        one_utterance(utterance, people[utterance.speaker], draw, PROMPT_FRAMES)
        for utterance in utterances
    ]
    batch = on_device(collated(lessons, how.config), torch.device(how.device))
    with in_bf16(how.device, asked=how.bf16):
        codes = drawn_codes(model, batch, how.look_ahead, how.generation).cpu().numpy()
    return [
        codes[number, :, lesson.prompt_frames :][:, : utterance.frames].astype(np.int16)
        for number, (lesson, utterance) in enumerate(zip(lessons, utterances, strict=True))
    ]


@torch.inference_mode()
def drawn_codes(
    model: VoxtreamModel, batch: Batch, look_ahead: int, generation: Generation
) -> Tensor:
    """Codes [B, K, T]: the batch's own outside of the lesson, drawn ones within it.

    Semantic codes are drawn given the true token, without guidance, acoustic ones greedily
    (VoXtream2, 3.5). No column produces the acoustic codes of a lesson's last frame, so these stay
    true.
    """
    config = model.config
    hidden = temporal_hidden(model, batch, phone_rows(model, batch, look_ahead), dropout=0.0)
    real = batch.tokens >= 0  # [B, T]
    logits = model.semantic_head(hidden[real]).float()
    joint = logits.view(len(logits), config.duration_tokens, -1)[..., : config.codes]
    row = joint[torch.arange(len(joint), device=joint.device), batch.tokens[real]]
    best = (row / generation.temperature).softmax(-1).topk(min(generation.top_codes, config.codes))
    codes = batch.codes.clone()
    codes[:, 0][real] = best.indices.gather(1, torch.multinomial(best.values, 1))[:, 0]
    # Column t produces the semantic code of frame t and the acoustic ones of frame t - 1.
    lesson, column = (real & real.roll(1, dims=1)).nonzero().unbind(1)
    speaker = model.speaker_projection(batch.speakers)[lesson]
    frames = codes[lesson, :, column]  # [N, K]
    for codebook in range(1, config.codebooks):
        logits = depth_logits(model, hidden[lesson, column] + speaker, frames)[:, codebook - 1]
        frames[:, codebook] = logits[:, : config.codes].argmax(-1)
    codes[lesson, 1:, column - 1] = frames[:, 1:]
    return codes


@lru_cache(maxsize=1)
def _people(folder: str) -> Mapping[int, Sequence[Encoded]]:
    return by_speaker(Path(folder), Encoded)


@lru_cache(maxsize=1)
def _model(file: str, config: ModelConfig, device: str) -> VoxtreamModel:
    with torch.random.fork_rng(devices=()):  # or its random weights move the draws of the shard
        model = fresh_model(config, Generation())
    model.load_state_dict(stored_weights.load(Path(file)))
    return model.to(device).eval().requires_grad_(requires_grad=False)
