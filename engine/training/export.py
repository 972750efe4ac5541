"""The stage `export`: the trained parts as one voice pack with named voices; of
VoXtream a table without rates, and voices whose prompts have their text.

Invariant: what is written is read back before the stage is done; a prompt of VoXtream is whole
utterances of one speaker with the phones and times they were made of.
"""

from collections.abc import Sequence
from dataclasses import fields, replace
from itertools import chain
from pathlib import Path
from typing import Final

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor

from engine.audio.clips.clip import Clip
from engine.codec.products import ENCODING
from engine.codec.small import FRAME_RATE
from engine.errors import UnreadableClip
from engine.nn import stored_weights
from engine.nn.packed.quantise import Precision
from engine.nn.transformer import Transformer
from engine.nn.weights_file import shape_metadata
from engine.training.codec.speech import Spoken, read_speech
from engine.training.codec.stage import shipped_config
from engine.training.corpus.utterance import SAMPLE_RATE
from engine.training.encoded import read_sides
from engine.training.evaluation.performance import OWN_RATE
from engine.training.packing import (
    finish,
    fresh_folder,
    save_weights,
    speakers,
    write_networks,
    write_tables,
)
from engine.training.recipe import Export, Recipe
from engine.training.run import Run
from engine.training.stages import VOXTREAM
from engine.training.voice import fine_tuning, rate_table
from engine.training.voice.model import fresh_model, model_config
from engine.training.voice.utterances import Encoded
from engine.tts import voices as voice_files
from engine.tts.base import Voice
from engine.tts.packs import VOICES_FOLDER
from engine.tts.voxtream import synthesiser
from engine.tts.voxtream.config import Generation
from engine.tts.voxtream.files import pack
from engine.tts.voxtream.files.checkpoint import PREFIXES, Target
from engine.tts.voxtream.network.model import VoxtreamModel
from engine.tts.voxtream.voxtream1 import config as original
from engine.tts.voxtream.voxtream1.synthesiser import frozen_hash
from engine.tts.voxtream.voxtream1.synthesiser import load_pack as load_original

PROMPT_SECONDS: Final = 8.0
PROMPT_FRAMES: Final = 100  # 8 s; the paper takes 10 s at most


def export_pack(run: Run) -> None:
    """Write the pack. ModelError when it is too large to ship."""
    inputs = run.require("corpus", "codec", "decoder", "speaker", "encode", "voice")
    folder = fresh_folder(run)
    _write_networks(run, folder)
    if run.recipe.system == VOXTREAM:
        write_tables(run, _original_config(run.recipe))
        names = _name_original_voices(run, folder)
    else:
        names = _write_voxtream2(run, folder)
    finish(run, inputs, names)


def _write_voxtream2(run: Run, folder: Path) -> list[str]:
    """Write what comes after the networks; then the pack speaks, and gets the rate table with which
    it keeps to the requested rates. The names of the voices.
    """
    recipe, people = run.recipe, read_sides(run, "encode", Encoded).training
    counts = rate_table.measured_counts(chain.from_iterable(people.values()))
    config = pack.PackConfig(
        recipe.export.name,
        model_config(recipe.voice, recipe.codec, recipe.speaker),
        generation(recipe.export),
        rate_table.measured_rates(counts, recipe.export),
    )
    write_tables(run, config)
    if fine_tuning.is_taken(recipe, "codec") and not recipe.export.speakers:
        names = fine_tuning.named_voices(run, folder)
    else:
        names = _name_voices(run, folder, people)
    rates = rate_table.tuned(run, folder, counts, config.rates)
    write_tables(run, replace(config, rates=rates))
    return names


def generation(export: Export) -> Generation:
    """The constants of generation that go with the weights."""
    names = [each.name for each in fields(Generation) if hasattr(export, each.name)]
    return replace(
        Generation(**{name: getattr(export, name) for name in names}),
        semantic_guidance=export.guidance,
        passage_frames=round(export.passage_seconds * FRAME_RATE),
    )


def published_tensors(model: VoxtreamModel) -> dict[str, Tensor]:
    """A model's weights under the keys and in the shapes of the published file."""
    heads = [model.get_parameter(f"acoustic_heads.{n}.weight") for n in range(model.codebooks - 1)]
    tensors = {
        "phone_embeddings.weight": model.phone_embeddings.weight,
        "audio_embeddings.weight": model.audio_embeddings.weight,
        "spk_emb_proj.weight": model.speaker_projection.weight,
        "sem_head.weight": model.semantic_head.weight,
        "audio_head": torch.stack([head.t() for head in heads]),
    }
    for name in ("phone", "temporal", "depth"):
        stack = getattr(model, name)
        assert isinstance(stack, Transformer)
        tensors |= _stack_tensors(stack, PREFIXES[name])
    return {key: value.detach().contiguous() for key, value in tensors.items()}


def _stack_tensors(stack: Transformer, prefix: str) -> dict[str, Tensor]:
    config = stack.config
    kv = config.kv_heads * config.head_width
    weights: dict[str, Tensor] = dict(stack.named_parameters())
    tensors: dict[str, Tensor] = {f"{prefix}.norm.scale": weights["norm.scale"]}
    for layer in range(config.layers):
        start, old = f"{prefix}.layers.{layer}.", f"layers.{layer}."
        qkv = torch.split(weights[old + "attention.qkv.weight"], [config.width, kv, kv])
        queries, keys, values = qkv
        gate, up = weights[old + "mlp.gate_up.weight"].chunk(2)
        tensors |= {
            start + "attn.q_proj.weight": queries,
            start + "attn.k_proj.weight": keys,
            start + "attn.v_proj.weight": values,
            start + "attn.output_proj.weight": weights[old + "attention.output.weight"],
            start + "mlp.w1.weight": gate,
            start + "mlp.w3.weight": up,
            start + "mlp.w2.weight": weights[old + "mlp.down.weight"],
            start + "sa_norm.scale": weights[old + "attention_norm.scale"],
            start + "mlp_norm.scale": weights[old + "mlp_norm.scale"],
        }
    return tensors


def _write_networks(run: Run, folder: Path) -> None:
    recipe = run.recipe
    model = fresh_model(
        model_config(recipe.voice, recipe.codec, recipe.speaker, recipe.system),
        generation(recipe.export),
    )
    model.load_state_dict(load_file(run.stage("voice") / "voice.safetensors"))
    without = original.FROZEN if recipe.voice.frozen_depth else ()
    tensors = {k: v for k, v in published_tensors(model).items() if not k.startswith(without)}
    save_weights(tensors, folder / pack.VOICE_FILE, recipe.export.weights)
    if recipe.system == VOXTREAM:
        # It makes no voice from a recording, and so encodes nothing.
        whole = stored_weights.load(run.stage("decoder") / pack.CODEC_FILE)
        kept = {key: value for key, value in whole.items() if not key.startswith(ENCODING)}
        about = shape_metadata(replace(shipped_config(recipe), encodes=False))
        save_weights(kept, folder / pack.CODEC_FILE, recipe.export.weights, about)
    else:
        write_networks(run, {"decoder": pack.CODEC_FILE, "speaker": pack.SPEAKER_FILE})


def _name_voices(run: Run, folder: Path, encoded: dict[int, tuple[Encoded, ...]]) -> list[str]:
    """Encode the recipe's named voices, from the speakers it names or from very different ones."""
    from engine.codec.small import load_small
    from engine.tts.speaker.small import load_small_speaker

    codec = load_small(folder / pack.CODEC_FILE, torch.device("cpu"))
    encoder = load_small_speaker(folder / pack.SPEAKER_FILE)
    name = run.recipe.export.name
    chosen_voices: list[Voice] = []
    for number, clip in _candidates(run, encoded):
        if len(chosen_voices) == len(run.recipe.export.voices):
            break
        try:
            voice = synthesiser.encode(clip.pcm, clip.sample_rate, codec, encoder, name)
        except UnreadableClip:
            continue
        voice_name = run.recipe.export.voices[len(chosen_voices)]
        about = {**voice.metadata, "speaker": str(number)}
        chosen_voices.append(replace(voice, name=voice_name, metadata=about))
        voice_files.save(chosen_voices[-1], folder / pack.VOICES_FOLDER)
    pack.load_pack(folder, Precision.FLOAT, Target(torch.device("cpu"), torch.float32, threads=1))
    return [voice.name for voice in chosen_voices]


def _candidates(run: Run, encoded: dict[int, tuple[Encoded, ...]]) -> list[tuple[int, Clip]]:
    """Speakers and a clip of each: those the recipe names, or all by how different they are."""
    people: dict[int, list[Spoken]] = {}
    for utterance in read_speech(run, run.recipe.codec.hours).training:
        people.setdefault(utterance.entry.speaker, []).append(utterance)
    return [
        (number, _clip(people[number])) for number in speakers(run, encoded) if number in people
    ]


def _clip(utterances: list[Spoken]) -> Clip:
    """About PROMPT_SECONDS of a speaker: whole utterances, those closest to an ordinary rate."""
    parts, length = [], 0
    for utterance in sorted(utterances, key=lambda utterance: abs(utterance.entry.rate - OWN_RATE)):
        if length > PROMPT_SECONDS * SAMPLE_RATE:
            break
        parts.append(utterance.pcm)
        length += len(utterance.pcm)
    pcm = np.concatenate(parts).astype(np.float32) / np.float32(32768)
    return Clip(pcm, SAMPLE_RATE)


def _original_config(recipe: Recipe) -> original.PackConfig:
    """What VoXtream's pack says of itself."""
    shape = model_config(recipe.voice, recipe.codec, recipe.speaker, recipe.system)
    passage_frames = round(recipe.export.passage_seconds * FRAME_RATE)
    generation = original.Generation(recipe.export.temperature, passage_frames=passage_frames)
    config = original.PackConfig(recipe.export.name, shape, generation)
    if not recipe.voice.frozen_depth:
        return config
    return replace(config, frozen=frozen_hash(Path(recipe.begin_with) / pack.VOICE_FILE))


def _name_original_voices(run: Run, folder: Path) -> list[str]:
    """Write the recipe's named voices, of the speakers it names or the first there are; then read
    the pack back.
    """
    people = read_sides(run, "encode", Encoded).training
    named = []
    for called, number in zip(
        run.recipe.export.voices, run.recipe.export.speakers or sorted(people), strict=False
    ):
        voice = prompt_voice(people[number], called, run.recipe.export.name)
        voice_files.save(voice, folder / VOICES_FOLDER)
        named.append(called)
    load_original(folder, Precision.FLOAT, Target(torch.device("cpu"), torch.float32, threads=1))
    return named


def prompt_voice(person: Sequence[Encoded], name: str, model: str) -> Voice:
    """A voice from about PROMPT_FRAMES of a speaker: whole utterances, nearest to a usual rate."""
    parts: list[Encoded] = []
    for utterance in sorted(person, key=lambda each: abs(_rate(each) - OWN_RATE)):
        if sum(part.frames for part in parts) >= PROMPT_FRAMES:
            break
        parts.append(utterance)
    spans, phones = [], 0
    for part in parts:
        speech = part.spans() + phones
        phones += len(part.phones)
        pause = np.full((part.frames - len(speech), 2), phones - 1)
        spans += [speech, pause]
    vector = np.mean([part.vector for part in parts], axis=0)
    tensors = {
        "codes": np.concatenate([part.codes for part in parts], axis=1).astype(np.int16),
        "phones": np.concatenate([part.phones for part in parts]).astype(np.int16),
        "spans": np.concatenate(spans).astype(np.int16),
        "speaker": (vector / np.linalg.norm(vector)).astype(np.float32),
    }
    return Voice(name, model, tensors, {"speaker": str(parts[0].speaker)})


def _rate(utterance: Encoded) -> float:
    """Syllables a second of its speech."""
    return float(utterance.nuclei.sum()) * FRAME_RATE / max(1, len(utterance.tokens))
