"""The stage `export`: the trained parts as one voice pack, half precision, with named voices.

Invariant: what is written is read back through `engine.tts.voxtream.files.pack` before the stage is
done.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from engine.audio.clips.clip import Clip
from engine.codec.small import FRAME_RATE
from engine.errors import ModelError, UnreadableClip
from engine.nn.transformer import Transformer
from engine.training import checkpoints
from engine.training.card import write_card
from engine.training.codec.speech import Spoken, read_speech
from engine.training.corpus.speakers import cast
from engine.training.corpus.utterance import SAMPLE_RATE
from engine.training.judge.performance import OWN_RATE
from engine.training.recipe import Export, Recipe
from engine.training.run import Run, read_json
from engine.training.stages import VOXTREAM
from engine.training.voice import fine_tuning, original, rate_table, tuning
from engine.training.voice.model import fresh_model, model_config
from engine.training.voice.utterances import read_encoded
from engine.tts import voices as voice_files
from engine.tts.base import Voice
from engine.tts.phones import MARKS
from engine.tts.voxtream import voice as voices
from engine.tts.voxtream.config import FULL, Generation
from engine.tts.voxtream.files import pack
from engine.tts.voxtream.files.checkpoint import PREFIXES, Target
from engine.tts.voxtream.network.model import VoxtreamModel

PROMPT_SECONDS: Final = 8.0
LARGEST_BYTES: Final = 40_000_000  # of a pack; the repository takes no more


class Heard(Protocol):
    """An utterance of which who speaks is known."""

    @property
    def vector(self) -> npt.NDArray[np.float32]: ...


def pack_folder(run: Run) -> Path:
    """Where the pack of a run is written."""
    return run.stage("export") / "pack"


def export_pack(run: Run) -> None:
    """Write the pack. ModelError when it is too large to ship."""
    inputs = run.require("corpus", "codec", "decoder", "speaker", "encode", "voice")
    folder = pack_folder(run)
    shutil.rmtree(folder, ignore_errors=True)
    (folder / pack.VOICES_FOLDER).mkdir(parents=True)
    _write_networks(run, folder)
    if run.recipe.system == VOXTREAM:
        original.write_tables(run, folder)
        names = original.name_voices(run, folder)
    else:
        names = _write_voxtream2(run, folder)
    finish(run, inputs, names)


def finish(run: Run, inputs: dict[str, str], names: Sequence[str]) -> None:
    """Write the card of a complete pack. ModelError when it is too large to ship."""
    folder = pack_folder(run)
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    if size > LARGEST_BYTES:
        raise ModelError(
            f"The pack has {size / 1e6:.1f} MB, more than {LARGEST_BYTES / 1e6:.0f}.",
            hint="Make the recipe's networks smaller, or set export.half.",
        )
    write_card(run, folder, {})
    run.finish("export", inputs, megabytes=round(size / 1e6, 2), voices=list(names))


def _write_voxtream2(run: Run, folder: Path) -> list[str]:
    """Write what comes after the networks; the names of the voices."""
    _write_tables(run, folder)
    if run.recipe.begin_with and not run.recipe.export.speakers:
        names = fine_tuning.named_voices(run, folder)
    else:
        names = _name_voices(run, folder)
    _tune(run, folder)
    return names


def install(run: Run, place: Path) -> None:
    """Copy the finished pack to where the program ships it."""
    run.require("export")
    fresh = place.with_name(place.name + ".partial")
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.copytree(pack_folder(run), fresh)
    shutil.rmtree(place, ignore_errors=True)
    fresh.rename(place)


def generation(export: Export) -> Generation:
    """The constants of generation that go with the weights."""
    return replace(
        Generation(),
        temperature=export.temperature,
        semantic_guidance=export.guidance,
        acoustic_guidance=export.acoustic_guidance,
        speaker_weight=export.speaker_weight,
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
    save_weights(published_tensors(model), folder / pack.VOICE_FILE, {}, half=recipe.export.half)
    for file, name in (
        (run.stage("decoder") / "codec.safetensors", pack.CODEC_FILE),
        (run.stage("speaker") / "speaker.safetensors", pack.SPEAKER_FILE),
    ):
        about = checkpoints.metadata(file)
        if name == pack.SPEAKER_FILE and recipe.system == VOXTREAM:
            continue  # it makes no voice from a recording
        # The speaker encoder is small and sensitive: its batch norms stay in full precision.
        half = recipe.export.half and name == pack.CODEC_FILE
        save_weights(load_file(file), folder / name, about, half=half)


def save_weights(
    tensors: Mapping[str, Tensor], file: Path, about: dict[str, str], *, half: bool
) -> None:
    """Write tensors, in half precision where that is asked for."""
    weights = {
        key: value.half().contiguous() if half and value.is_floating_point() else value.clone()
        for key, value in tensors.items()
    }
    save_file(weights, file, about)


def _write_tables(run: Run, folder: Path) -> None:
    recipe = run.recipe
    ids = read_json(run.stage("encode") / "phones.json")
    content = json.dumps({**ids, **MARKS}, ensure_ascii=False, indent=0)
    (folder / pack.PHONES_FILE).write_text(content, encoding="utf-8")
    people = read_encoded(run).training.people.values()
    config = pack.PackConfig(
        recipe.export.name,
        model_config(recipe.voice, recipe.codec, recipe.speaker),
        generation(recipe.export),
        rate_table.measured_rates(chain.from_iterable(people), recipe.export),
    )
    (folder / pack.CONFIG_FILE).write_text(pack.pack_json(config), encoding="utf-8")


def _tune(run: Run, folder: Path) -> None:
    """Let the pack speak, and write the rate table with which it keeps to the requested rates."""
    file = folder / pack.CONFIG_FILE
    config = pack.read_pack_config(file)
    people = read_encoded(run).training.people.values()
    counts = rate_table.measured_counts(chain.from_iterable(people))
    rates = tuning.tuned(run, folder, counts, config.rates)
    file.write_text(pack.pack_json(replace(config, rates=rates)), encoding="utf-8")


def _name_voices(run: Run, folder: Path) -> list[str]:
    """Encode the recipe's named voices, from the speakers it names or from very different ones."""
    from engine.codec.small import load_small
    from engine.tts.speaker.small import load_small_speaker

    codec = load_small(folder / pack.CODEC_FILE, torch.device("cpu"))
    encoder = load_small_speaker(folder / pack.SPEAKER_FILE)
    name = run.recipe.export.name
    chosen_voices: list[Voice] = []
    for number, clip in _candidates(run):
        if len(chosen_voices) == len(run.recipe.export.voices):
            break
        try:
            voice = voices.encode(clip.pcm, clip.sample_rate, codec, encoder, name)
        except UnreadableClip:
            continue
        voice_name = run.recipe.export.voices[len(chosen_voices)]
        about = {**voice.metadata, "speaker": str(number)}
        chosen_voices.append(replace(voice, name=voice_name, metadata=about))
        voice_files.save(chosen_voices[-1], folder / pack.VOICES_FOLDER)
    pack.load_pack(folder, FULL, Target(torch.device("cpu"), torch.float32, threads=1))
    return [voice.name for voice in chosen_voices]


def _candidates(run: Run) -> list[tuple[int, Clip]]:
    """Speakers and a clip of each: those the recipe names, or all by how different they are."""
    order: Sequence[int] = run.recipe.export.speakers
    if not order:
        order = by_difference(run.recipe, mean_vectors(read_encoded(run).training.people))
    people: dict[int, list[Spoken]] = {}
    for utterance in read_speech(run, run.recipe.codec.hours).training:
        people.setdefault(utterance.entry.speaker, []).append(utterance)
    return [(number, _clip(people[number])) for number in order if number in people]


def save_vector_voices(run: Run, people: Mapping[int, Sequence[Heard]], folder: Path) -> list[str]:
    """Named voices that are a speaker's vector and no more: of the speakers the recipe names or
    very different ones, the mean of all that each has said. Their names.
    """
    vectors = mean_vectors(people)
    order = run.recipe.export.speakers or by_difference(run.recipe, vectors)
    called = run.recipe.export.voices
    for name, number in zip(called, order, strict=False):
        vector = vectors[number] / np.linalg.norm(vectors[number])
        tensors = {"speaker": vector.astype(np.float32)}
        about = {"speaker": str(number)}
        voice_files.save(Voice(name, run.recipe.export.name, tensors, about), folder)
    return list(called[: len(order)])


def mean_vectors(people: Mapping[int, Sequence[Heard]]) -> dict[int, npt.NDArray[np.float32]]:
    """Of each speaker."""
    return {
        number: np.mean([each.vector for each in person], axis=0)
        for number, person in people.items()
    }


def by_difference(recipe: Recipe, vectors: Mapping[int, npt.NDArray[np.float32]]) -> list[int]:
    """Speakers: a synthesiser's own voice first, then each time the one whose vector is farthest
    from those before; own voices come a little sooner.
    """
    own = {person.number for person in cast(recipe) if person.warp == 1.0}
    order = sorted(own & set(vectors))[:1] or [min(vectors)]
    left = set(vectors) - set(order)
    while left:
        far = min(
            left,
            key=lambda n: max(float(vectors[n] @ vectors[o]) for o in order) - 0.1 * (n in own),
        )
        order.append(far)
        left.remove(far)
    return order


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
