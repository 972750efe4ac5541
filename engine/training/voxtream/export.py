"""The stage `export` of VoXtream2 and VoXtream: write the trained parts and named voices as one
pack. VoXtream's pack has no rate table, and the prompts of its voices include their text.

The rate table of VoXtream2 has for each rate a histogram of duration tokens, towards which the
voice's choices are pulled. The histograms are first measured in the corpus. A small voice that is
pulled towards the histogram of a rate speaks at another rate. So the table is tuned: the voice
speaks with each histogram, and each rate gets the one with which the voice spoke at that rate. All
rows have the same strength of the pull: with a strength for each, every move of the slider crossed
a jump.

Invariant: a pack is read back before the stage is done. A prompt of VoXtream consists of complete
utterances of one speaker, with their phones and times. Rates are those of the speech itself,
counted in the same windows that a session looks back on; a higher rate never gets the histogram of
a slower one.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import load_file
from torch import Tensor

from engine.codec.mimi import ENCODING
from engine.codec.small import FRAME_RATE, load_small
from engine.nn import weights_file
from engine.nn.packed.product_graph import Precision
from engine.nn.transformer import Transformer
from engine.nn.weights_file import shape_metadata
from engine.resources import resource
from engine.training import packing
from engine.training.codec.decoder import shipped_config
from engine.training.codec.speech import read_speech
from engine.training.corpus import grammar
from engine.training.corpus.shards import floats
from engine.training.corpus.speakers import flat
from engine.training.corpus.utterance import SAMPLE_RATE
from engine.training.evaluation.parts import spread
from engine.training.evaluation.voices import spoken_rate, syllables_of
from engine.training.run import Run
from engine.training.utterances import mean_vector, read_sides
from engine.training.voxtream import VOXTREAM, Voxtream2Recipe
from engine.training.voxtream.data import VoxtreamUtterance, token_spans
from engine.training.voxtream.losses import fresh_model, model_config
from engine.tts.delays import OWN_RATE
from engine.tts.pack_files import VOICE_FILE
from engine.tts.packs import CODEC_FILE, SPEAKER_FILE, system_of
from engine.tts.speaker.small import load_small_speaker
from engine.tts.voxtream import synthesiser
from engine.tts.voxtream.config import DURATION_TOKENS, GENERATION, VoxtreamGeneration
from engine.tts.voxtream.files import pack
from engine.tts.voxtream.files.checkpoint import PREFIXES, Target, block_keys
from engine.tts.voxtream.network.model import VoxtreamModel
from engine.tts.voxtream.rate import RateTarget, rate_target
from engine.tts.voxtream.voxtream1 import session as original
from engine.tts.voxtream.voxtream1 import synthesiser as synthesiser1

PROMPT_SECONDS: Final = 8.0  # at least; the paper takes 10 s at most
RATES: Final = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0)  # SPS
SLOWER, FASTER = 0.5, 8.0  # SPS beyond the table, for voices that must be asked for more
COUNTS: Final = 200  # a row's sum: fine enough that rounding does not matter
HALF_WIDTH: Final = 0.5  # SPS by which a window's rate may differ from a row's
FEWEST_WINDOWS: Final = 20  # a row with fewer borrows from its neighbours
MANY: Final = 200  # sentences to pick from
WORDS = (2, 12)  # of a sentence to tune with; long ones alone are spoken slower
Histograms = Mapping[float, tuple[int, ...]]  # of duration tokens, by rate
Rates = Mapping[float, RateTarget]
Floats = npt.NDArray[np.float64]
_Any = TypeVar("_Any", bound=Any)
_TARGET: Final = Target(torch.device("cpu"), torch.float32, threads=1)


def export_pack(run: Run) -> None:
    """Write the pack. ModelError when it is too large to ship."""
    model = fresh_model(model_config(run.recipe), VoxtreamGeneration())
    model.load_state_dict(load_file(run.weights("voice")))
    write = _write_voxtream if run.recipe.system == VOXTREAM else _write_voxtream2
    write(run, published_tensors(model))


def _write_voxtream2(run: Run, tensors: dict[str, Tensor]) -> None:
    """Write VoXtream2's pack. Then let it speak to tune its rate table, so that it keeps to the
    requested rates. UnreadableClip if a named speaker has too little speech.
    """
    export, folder = run.recipe.export, packing.pack_folder(run)
    speech = read_speech(run, run.recipe.codec.hours).training

    def voice_of(person: Sequence[VoxtreamUtterance]) -> packing.Network:
        """Encode a prompt as that of a person's recording is encoded."""
        codec = load_small(folder / CODEC_FILE, _TARGET.device)
        encoder = load_small_speaker(folder / SPEAKER_FILE)
        parts = _near_own_rate(speech[person[0].speaker])
        pcm = np.concatenate([floats(each.pcm) for each in parts])
        voice = synthesiser.encode(pcm, SAMPLE_RATE, codec, encoder, export.name)
        return voice.tensors, dict(voice.metadata)

    counts = measured_counts(flat(read_sides(run, VoxtreamUtterance).training))
    rates, shape = measured_rates(counts, run.recipe), model_config(run.recipe)
    config = pack.VoxtreamPackConfig(export.name, shape, run.recipe.generation, rates)
    networks: dict[str, str | packing.Network] = {
        VOICE_FILE: (tensors, {}),
        CODEC_FILE: "decoder",
        SPEAKER_FILE: "speaker",
    }
    packing.export_pack(run, networks, config, _load, VoxtreamUtterance, voice_of)
    if export.tuning_seconds:
        model = pack.load_pack(folder, Precision.INT8, _TARGET)  # as the program loads it
        rates = tune(model, counts, rates, export.tuning_seconds)
        packing.write_tables(run, replace(config, rates=rates))


def _write_voxtream(run: Run, tensors: dict[str, Tensor]) -> None:
    """Write VoXtream's pack: without the frozen weights, which are the built-in voice's, and
    without an encoder, because no voice is made from a recording.
    """
    export, codec = run.recipe.export, weights_file.load(run.weights("decoder"))
    about = shape_metadata(replace(shipped_config(run), encodes=False))
    networks = {
        VOICE_FILE: (_without(tensors, original.FROZEN), {}),
        CODEC_FILE: (_without(codec, ENCODING), about),
    }
    frozen = synthesiser1.frozen_hash(resource("starter", VOICE_FILE))
    shape = model_config(run.recipe)
    config = original.Voxtream1PackConfig(export.name, shape, run.recipe.generation, frozen=frozen)
    packing.export_pack(run, networks, config, _load, VoxtreamUtterance, prompt_of)


def _load(folder: Path) -> object:
    load = synthesiser1.load_pack if system_of(folder) == VOXTREAM else pack.load_pack
    return load(folder, Precision.FLOAT, _TARGET)


def _without(tensors: Mapping[str, Tensor], start: tuple[str, ...]) -> dict[str, Tensor]:
    return {key: value for key, value in tensors.items() if not key.startswith(start)}


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
    for name, prefix in PREFIXES.items():
        stack = getattr(model, name)
        assert isinstance(stack, Transformer)
        tensors[f"{prefix}.norm.scale"] = stack.norm.scale
        for layer, block in enumerate(stack.layers):
            # Of each weight, the rows behind its last part.
            left: dict[str, Tensor] = dict(block.named_parameters())
            for key, (ours, shape) in block_keys(stack.config).items():
                part, left[ours] = left[ours][: shape[0]], left[ours][shape[0] :]
                tensors[f"{prefix}.layers.{layer}.{key}"] = part
    return {key: value.detach().contiguous() for key, value in tensors.items()}


def prompt_of(person: Sequence[VoxtreamUtterance]) -> packing.Network:
    """Return a voice with a prompt with its text: complete utterances of a speaker."""
    parts, spans, phones = _near_own_rate(person), [], 0
    for part in parts:
        speech = token_spans(part.tokens) + phones
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


def measured_rates(counts: Histograms, recipe: Voxtream2Recipe) -> Rates:
    """Return the untuned table: RATES, with the recipe's strength and guidance."""
    weight, guidance = recipe.export.weight, recipe.generation.semantic_guidance
    return {rate: RateTarget(counts[rate], weight, guidance) for rate in RATES}


def measured_counts(corpus: Iterable[VoxtreamUtterance]) -> Histograms:
    """Return the corpus's histogram, of counts above 0, at each rate and beyond both ends."""
    rates, histograms = _windows(corpus)
    counts = {}
    for rate in (SLOWER, *RATES, FASTER):
        distance = np.abs(rates - rate)
        # The range widens until there are enough windows.
        fewest = float(np.sort(distance)[min(FEWEST_WINDOWS, len(distance)) - 1])
        mean = histograms[distance <= max(HALF_WIDTH, fewest)].mean(axis=0)
        counts[rate] = tuple(max(1, round(COUNTS * float(part))) for part in mean)
    return counts


def _windows(corpus: Iterable[VoxtreamUtterance]) -> tuple[Floats, Floats]:
    """Return the rates of windows of three seconds (or of shorter utterances), and the histograms
    of their duration tokens.
    """
    rates, histograms = [], []
    for utterance in corpus:
        last = token_spans(utterance.tokens)[:, 1]
        syllables = np.insert(np.cumsum(utterance.nuclei, dtype=np.int64)[last], 0, 0)
        length = min(GENERATION.rate_window_frames, len(last))
        for start in range(0, len(last) - length + 1, max(1, length // 2)):
            end = start + length
            rates.append((syllables[end] - syllables[start]) * FRAME_RATE / length)
            tokens = utterance.tokens[start:end]
            histograms.append(np.bincount(tokens, minlength=len(DURATION_TOKENS)) / length)
    return np.asarray(rates), np.asarray(histograms)


def tune(
    model: synthesiser.VoxtreamSynthesiser, counts: Histograms, table: Rates, seconds: float
) -> Rates:
    """Let a model speak for `seconds` with each histogram, by rate, and return the tuned table."""
    row, spoken = next(iter(table.values())), dict[float, float]()
    for rate, histogram in counts.items():
        texts = tuning_texts(rate, seconds)
        alone = model.with_rates({1.0: replace(row, counts=histogram)})
        spoken[rate] = spoken_rate(alone, texts, 1.0)
    return invert(table, counts, spoken)


def invert(table: Rates, counts: Histograms, spoken: Mapping[float, float]) -> Rates:
    """Return the table with, at each rate, the histogram that was spoken at that rate. `spoken` has
    the measured SPS of each histogram in `counts`. A rate that none reached gets the nearest one.
    """
    asked = sorted(counts)
    heard = np.maximum.accumulate([spoken[rate] for rate in asked])  # chance may turn two around
    rows = {rate: RateTarget(counts[rate], 0.0, 0.0) for rate in asked}
    return {
        rate: replace(row, counts=rate_target(float(np.interp(rate, heard, asked)), rows).counts)
        for rate, row in table.items()
    }


def tuning_texts(rate: float, seconds: float) -> tuple[str, ...]:
    """Return sentences to measure a rate with, which the comparison does not use: enough to last
    `seconds` at that rate, at least one.
    """
    draw = random.Random("own rate")
    texts = sorted({grammar.sentence("train", draw) for _ in range(MANY)})
    fitting = tuple(text for text in texts if WORDS[0] <= text.count(" ") + 1 <= WORDS[1])
    syllables = float(np.mean([syllables_of(text) for text in fitting]))
    return spread(fitting, max(1, round(rate * seconds / syllables)))
