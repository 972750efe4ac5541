"""The configuration in a folder of published weights: shape, ids, phones, language, settings.

    config.json   phoneme_to_token.json   model.safetensors   always
    generator.json   speaking_rate.json                       optional

Invariant: a value in a file overrides ours; an unusable value is an error that names it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, get_type_hints

from engine.codec.mimi import FRAME_MS
from engine.errors import ModelError
from engine.nn.weights_file import REFETCH, check_number, check_numbers
from engine.settings.rules import Range
from engine.text.phonemes import Espeak
from engine.tts.pack_files import read_object
from engine.tts.phones import PhoneTable, read_published_table
from engine.tts.voxtream.config import (
    DURATION_TOKENS,
    STACKS,
    VOXTREAM2_SHAPE,
    Edition,
    ModelConfig,
    VoxtreamGeneration,
)
from engine.tts.voxtream.rate import RATE, RateTarget
from engine.typed_values import WrongValue, build, typed

CONFIG, PHONES, WEIGHTS = "config.json", "phoneme_to_token.json", "model.safetensors"
GENERATOR, RATES = "generator.json", "speaking_rate.json"
ENGLISH: Final = "en-us"
LOUDNESS: Final = Range(-70, 0)  # LUFS
# Names in a config.json, and ours.
_STACKS: Final = {"phone_former": "phone", "temp_former": "temporal", "dep_former": "depth"}
_SIZES: Final = {
    "phone_vocab_size": "phone_vocabulary",
    "audio_vocab_size": "audio_vocabulary",
    "num_codebooks": "codebooks",
    "spk_embedding_dim": "speaker_width",
    "num_phone_states": "duration_tokens",
    "max_look_ahead": "max_look_ahead",
    "audio_window_size": "audio_window",
    "phone_window_size": "phone_window",
}
# Names in a generator.json, and ours.
_CONSTANTS: Final = {
    "temperature": "temperature",
    "top_p": "nucleus",
    "topk": "top_codes",
    "cfg_gamma": "semantic_guidance",
    "cfg_ac_gamma": "acoustic_guidance",
    "spk_proj_weight": "speaker_weight",
    "min_look_ahead_phones": "min_look_ahead",
    "frame_repeat_counter": "repeats_before_push",
    "audio_delay_frames": "acoustic_delay",
}
_SPECIAL_IDS: Final = ("sil", "unk", "bos", "eos", "eop")
# Names in either, and the types of their values.
_KINDS: Final = {
    **{theirs: get_type_hints(VoxtreamGeneration)[ours] for theirs, ours in _CONSTANTS.items()},
    **{f"{name}_token": int for name in _SPECIAL_IDS},
    "spk_rate_window_sec": float,
    "normalize_prompt_loudness": bool,
    "prompt_loudness_lufs": float,
    "language": str,
}


@dataclass(frozen=True)
class PublishedConfig:
    """The configuration of published weights. `edition`: with the changes in the folder's files.
    `language`: as espeak names it.
    """

    shape: ModelConfig
    edition: Edition
    table: PhoneTable
    language: str


@dataclass(frozen=True)
class _Rate:
    """A row of a speaking_rate.json."""

    duration_state: tuple[int, ...]
    weight: float
    cfg_gamma: float


def read_published(folder: Path, edition: Edition) -> PublishedConfig:
    """Read the folder. ModelError names a file that is missing, damaged or unusable."""
    shape = read_published_shape(folder / CONFIG)
    settings = _settings(folder)
    named = {
        name: settings[f"{name}_token"] for name in _SPECIAL_IDS if f"{name}_token" in settings
    }
    return PublishedConfig(
        shape,
        _edition(folder, edition, settings, shape),
        read_published_table(folder / PHONES, shape.phone_vocabulary, named),
        settings.get("language", ENGLISH),
    )


def read_published_shape(file: Path) -> ModelConfig:
    """Return the shapes in a released config.json. Keys that do not shape the weights (training's)
    are ignored, as by the published loader. ModelError names the file and the key of a value that
    is missing, of the wrong kind or out of range.
    """
    entries = read_object(file)
    try:
        for key in (*_STACKS, *_SIZES, "embedding_dim", "audio_pad_size"):
            if key not in entries:
                raise WrongValue(f"it lacks the key '{key}'")
        names = {key: typed(str, entries[key], key) for key in _STACKS}
        for key, name in names.items():
            if name not in STACKS:
                raise _other(file, key, name, ", ".join(STACKS))
        parts: dict[str, Any] = {_STACKS[key]: STACKS[name] for key, name in names.items()}
        parts |= {ours: typed(int, entries[key], key) for key, ours in _SIZES.items()}
        shape = ModelConfig(**parts)
        check_numbers(shape)
    except ValueError as error:
        raise _unusable(file, error) from error
    # Values that the code, the codec and the speaker encoder require.
    for key, expected in (
        ("embedding_dim", shape.width),
        ("audio_pad_size", 0),
        ("num_phone_states", len(DURATION_TOKENS)),
        ("audio_vocab_size", VOXTREAM2_SHAPE.audio_vocabulary),
        ("spk_embedding_dim", VOXTREAM2_SHAPE.speaker_width),
    ):
        if entries[key] != expected:
            raise _other(file, key, entries[key], expected)
    return shape


def espeak_of(folder: Path, language: str) -> Espeak:
    """Return espeak for a language. ModelError names the folder when espeak lacks the language."""
    try:
        return Espeak(language)
    except ModelError as error:
        if language == ENGLISH:
            raise
        raise ModelError(
            "{folder} is of the language '{name}', which eSpeak NG does not have.",
            hint="Name it in {file} as eSpeak NG does.",
            folder=folder,
            name=language[:80],
            file=CONFIG,
        ) from error


def _settings(folder: Path) -> dict[str, Any]:
    """Return the known settings in both files; generator.json takes precedence."""
    found: dict[str, Any] = {}
    for file in (folder / CONFIG, folder / GENERATOR):
        table = _optional(file)
        try:
            for key, kind in _KINDS.items():
                if table.get(key) is not None:
                    found[key] = typed(kind, table[key], key)
        except WrongValue as error:
            raise _unusable(file, error) from error
    return found


def _optional(file: Path) -> dict[str, Any]:
    return read_object(file) if file.is_file() else {}


def _edition(
    folder: Path, edition: Edition, settings: Mapping[str, Any], shape: ModelConfig
) -> Edition:
    changes = {ours: settings[key] for key, ours in _CONSTANTS.items() if key in settings}
    try:
        if "spk_rate_window_sec" in settings:
            changes["rate_window_frames"] = round(settings["spk_rate_window_sec"] * 1000 / FRAME_MS)
        generation = replace(edition.generation, look_ahead=shape.look_ahead, **changes)
        check_numbers(generation)
        loudness = settings.get("prompt_loudness_lufs", edition.loudness)
        if loudness is not None:
            check_number("prompt_loudness_lufs", loudness, LOUDNESS)
    except (ValueError, OverflowError) as error:
        raise _unusable(folder / GENERATOR, error) from error
    if not settings.get("normalize_prompt_loudness", True):
        loudness = None
    rates = _rates(folder / RATES) or edition.rates
    return replace(edition, rates=rates, loudness=loudness).tempered(generation)


def _rates(file: Path) -> Mapping[float, RateTarget]:
    """Return the table of rates in a file; empty when the file is missing."""
    rates = {}
    try:
        for name, row in _optional(file).items():
            rate = build(_Rate, row, name)
            target = RateTarget(rate.duration_state, rate.weight, rate.cfg_gamma)
            check_number("rate", float(name), RATE)
            check_numbers(target)
            if len(target.counts) != len(DURATION_TOKENS):
                raise WrongValue(f"'{name}' has {len(target.counts)} counts")
            rates[float(name)] = target
    except ValueError as error:
        raise _unusable(file, error) from error
    return dict(sorted(rates.items()))


def _unusable(file: Path, error: object) -> ModelError:
    return ModelError("{file}: {error}.", hint=REFETCH, file=file, error=error)


def _other(file: Path, key: str, value: object, expected: object) -> ModelError:
    return ModelError(
        "{file}: '{key}' is {value}, expected {expected}.",
        hint="This checkpoint needs a newer version of the program.",
        file=file,
        key=key,
        value=value,
        expected=expected,
    )
