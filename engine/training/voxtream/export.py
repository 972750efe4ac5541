"""The stage `export` of VoXtream2 and VoXtream: write the trained parts and named voices as one
pack. VoXtream's pack has no rate table, and the prompts of its voices include their text.

Invariant: a pack is read back before the stage is done. A prompt of VoXtream consists of complete
utterances of one speaker, with their phones and times.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor

from engine.codec.products import ENCODING
from engine.codec.small import FRAME_RATE, load_small
from engine.nn import stored_weights
from engine.nn.packed.quantise import Precision
from engine.nn.transformer import Transformer
from engine.nn.weights_file import shape_metadata
from engine.training import packing
from engine.training.codec.decoder import shipped_config
from engine.training.codec.speech import read_speech
from engine.training.corpus.shards import floats
from engine.training.corpus.speakers import flat
from engine.training.corpus.utterance import SAMPLE_RATE
from engine.training.run import Run
from engine.training.utterances import mean_vector, read_sides
from engine.training.voxtream import VOXTREAM, rate_table
from engine.training.voxtream.base import built_in_file
from engine.training.voxtream.data import VoxtreamUtterance
from engine.training.voxtream.losses import fresh_model, model_config
from engine.tts.delays import OWN_RATE
from engine.tts.packs import system_of
from engine.tts.speaker.small import load_small_speaker
from engine.tts.voxtream import synthesiser
from engine.tts.voxtream.config import VoxtreamGeneration
from engine.tts.voxtream.files import pack
from engine.tts.voxtream.files.checkpoint import PREFIXES, Target
from engine.tts.voxtream.network.model import VoxtreamModel
from engine.tts.voxtream.voxtream1 import config as original
from engine.tts.voxtream.voxtream1.synthesiser import frozen_hash
from engine.tts.voxtream.voxtream1.synthesiser import load_pack as load_original

PROMPT_SECONDS: Final = 8.0  # at least; the paper takes 10 s at most
_Any = TypeVar("_Any", bound=Any)
_TARGET: Final = Target(torch.device("cpu"), torch.float32, threads=1)


def export_pack(run: Run) -> packing.Facts:
    """Write the pack. ModelError when it is too large to ship."""
    return (_voxtream if run.recipe.system == VOXTREAM else _voxtream2)(run)


def _voxtream2(run: Run) -> packing.Facts:
    """Write VoXtream2's pack. Then let it speak to tune its rate table, so that it keeps to the
    requested rates. UnreadableClip if a named speaker has too little speech.
    """
    export, folder = run.recipe.export, packing.pack_folder(run)
    speech = read_speech(run, run.recipe.codec.hours).training

    def voice_of(person: Sequence[VoxtreamUtterance]) -> packing.Network:
        """Encode a prompt as that of a person's recording is encoded."""
        codec = load_small(folder / pack.CODEC_FILE, _TARGET.device)
        encoder = load_small_speaker(folder / pack.SPEAKER_FILE)
        parts = _near_own_rate(speech[person[0].speaker])
        pcm = np.concatenate([floats(each.pcm) for each in parts])
        voice = synthesiser.encode(pcm, SAMPLE_RATE, codec, encoder, export.name)
        return voice.tensors, dict(voice.metadata)

    counts = rate_table.measured_counts(flat(read_sides(run, VoxtreamUtterance).training))
    rates = rate_table.measured_rates(counts, export)
    constants = replace(export.generation, temperature=export.temperature)
    config = pack.VoxtreamPackConfig(export.name, model_config(run.recipe), constants, rates)
    networks = {
        pack.VOICE_FILE: (_voice_tensors(run), {}),
        pack.CODEC_FILE: packing.network(run.weights("decoder")),
        pack.SPEAKER_FILE: packing.network(run.weights("speaker")),
    }
    facts = packing.export_pack(run, networks, config, _load, VoxtreamUtterance, voice_of)
    if export.tuning_seconds:
        model = pack.load_pack(folder, Precision.INT8, _TARGET)  # as the program loads it
        rates = rate_table.tune(model, counts, rates, export.tuning_seconds)
        packing.write_tables(run, replace(config, rates=rates))
    return facts


def _voxtream(run: Run) -> packing.Facts:
    """Write VoXtream's pack: without the frozen weights, which are the built-in voice's, and
    without an encoder, because no voice is made from a recording.
    """
    export = run.recipe.export
    codec = stored_weights.load(run.weights("decoder"))
    networks = {
        pack.VOICE_FILE: (_without(_voice_tensors(run), original.FROZEN), {}),
        pack.CODEC_FILE: (
            _without(codec, ENCODING),
            shape_metadata(replace(shipped_config(run.recipe), encodes=False)),
        ),
    }
    passage_frames = round(export.passage_seconds * FRAME_RATE)
    constants = original.Voxtream1Generation(export.temperature, passage_frames=passage_frames)
    frozen, shape = frozen_hash(built_in_file(pack.VOICE_FILE)), model_config(run.recipe)
    config = original.Voxtream1PackConfig(export.name, shape, constants, frozen=frozen)
    return packing.export_pack(run, networks, config, _load, VoxtreamUtterance, prompt_of)


def _load(folder: Path) -> object:
    """Read a pack back."""
    load = load_original if system_of(folder) == VOXTREAM else pack.load_pack
    return load(folder, Precision.FLOAT, _TARGET)


def _without(tensors: Mapping[str, Tensor], start: tuple[str, ...]) -> dict[str, Tensor]:
    return {key: value for key, value in tensors.items() if not key.startswith(start)}


def _voice_tensors(run: Run) -> dict[str, Tensor]:
    model = fresh_model(model_config(run.recipe), VoxtreamGeneration())
    model.load_state_dict(load_file(run.weights("voice")))
    return published_tensors(model)


def published_tensors(model: VoxtreamModel) -> dict[str, Tensor]:
    """Return a model's weights with the keys and shapes of the published file."""
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


def prompt_of(person: Sequence[VoxtreamUtterance]) -> packing.Network:
    """Return a voice with a prompt with its text: complete utterances of a speaker."""
    parts = _near_own_rate(person)
    spans, phones = [], 0
    for part in parts:
        speech = part.spans() + phones
        phones += len(part.phones)
        spans += [speech, np.full((part.frames - len(speech), 2), phones - 1)]  # and its pause
    arrays = {
        "codes": np.concatenate([part.codes for part in parts], axis=1).astype(np.int16),
        "phones": np.concatenate([part.phones for part in parts]).astype(np.int16),
        "spans": np.concatenate(spans).astype(np.int16),
        "speaker": mean_vector(parts),
    }
    return arrays, {}


def _near_own_rate(person: Sequence[_Any]) -> list[_Any]:
    """Return about PROMPT_SECONDS of a speaker: the utterances nearest to an ordinary rate."""
    parts: list[_Any] = []
    for utterance in sorted(person, key=lambda each: abs(each.rate - OWN_RATE)):
        if sum(each.seconds for each in parts) >= PROMPT_SECONDS:
            break
        parts.append(utterance)
    return parts
