"""The configuration in a folder of published weights: shape, ids, phones, language, settings.

    config.json   phoneme_to_token.json   model.safetensors   always
    generator.json   speaking_rate.json                       optional

Invariant: a value in a file overrides ours; an unusable value is an error that names it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from engine.codec.mimi import FRAME_MS
from engine.errors import ModelError
from engine.nn.weights_file import check_number, check_numbers
from engine.settings.rules import Range
from engine.text.phonemes import Espeak
from engine.tts.pack_files import read_object
from engine.tts.phones import PhoneTable, read_published_table
from engine.tts.voxtream.config import (
    DURATION_TOKENS,
    REFETCH,
    ModelConfig,
    read_config,
)
from engine.tts.voxtream.edition import Edition
from engine.tts.voxtream.rate import RATE, RateTarget
from engine.typed_values import WrongValue, build

CONFIG, PHONES, WEIGHTS = "config.json", "phoneme_to_token.json", "model.safetensors"
GENERATOR, RATES = "generator.json", "speaking_rate.json"
ENGLISH: Final = "en-us"
LOUDNESS: Final = Range(-70, 0)  # LUFS
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
class _Settings:
    """Known keys of a config.json or generator.json; None = missing."""

    temperature: float | None = None
    top_p: float | None = None
    topk: int | None = None
    cfg_gamma: float | None = None
    cfg_ac_gamma: float | None = None
    spk_proj_weight: float | None = None
    min_look_ahead_phones: int | None = None
    frame_repeat_counter: int | None = None
    audio_delay_frames: int | None = None
    spk_rate_window_sec: float | None = None
    normalize_prompt_loudness: bool | None = None
    prompt_loudness_lufs: float | None = None
    sil_token: int | None = None
    unk_token: int | None = None
    bos_token: int | None = None
    eos_token: int | None = None
    eop_token: int | None = None
    language: str | None = None

    def ids(self) -> Mapping[str, int]:
        """Return special phone ids by their names in a table of phones."""
        named = {name: getattr(self, f"{name}_token") for name in ("sil", "unk", "bos", "eos")}
        named["eop"] = self.eop_token
        return {name: number for name, number in named.items() if number is not None}


@dataclass(frozen=True)
class _Rate:
    """A row of a speaking_rate.json."""

    duration_state: tuple[int, ...]
    weight: float
    cfg_gamma: float


def read_published(folder: Path, edition: Edition) -> PublishedConfig:
    """Read the folder. ModelError names a file that is missing, damaged or unusable."""
    shape = read_config(folder / CONFIG)
    settings = _settings(folder)
    vocabulary = shape.phone_vocabulary
    return PublishedConfig(
        shape,
        _edition(folder, edition, settings, shape),
        read_published_table(folder / PHONES, vocabulary, settings.ids()),
        settings.language or ENGLISH,
    )


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


def _settings(folder: Path) -> _Settings:
    """Read the settings in both files; generator.json takes precedence."""
    found = _Settings()
    for file in (folder / CONFIG, folder / GENERATOR):
        table = _optional(file)
        _check_tokens(file, table)
        try:
            own = build(_Settings, _without_nothing(table), ignore_unknown=True)
        except WrongValue as error:
            raise _unusable(file, error) from error
        found = replace(found, **_without_nothing(vars(own)))
    return found


def _without_nothing(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if value is not None}


def _optional(file: Path) -> dict[str, Any]:
    return read_object(file) if file.is_file() else {}


def _check_tokens(file: Path, table: Mapping[str, Any]) -> None:
    """Raise ModelError if the file's duration tokens differ from ours."""
    named = table.get("phoneme_index_map")
    if not isinstance(named, dict) or not all(isinstance(row, list) for row in named.values()):
        return  # for training: phones by name
    ours = {str(n): [token.shift, token.phones] for n, token in enumerate(DURATION_TOKENS)}
    if named != ours:
        raise _unusable(file, f"'phoneme_index_map' is {named}, expected {ours}")


def _edition(folder: Path, edition: Edition, settings: _Settings, shape: ModelConfig) -> Edition:
    changes = _without_nothing({ours: getattr(settings, key) for key, ours in _CONSTANTS.items()})
    if settings.spk_rate_window_sec is not None:
        changes["rate_window_frames"] = round(settings.spk_rate_window_sec * 1000 / FRAME_MS)
    generation = replace(edition.generation, look_ahead=shape.look_ahead, **changes)
    try:
        check_numbers(generation)
        loudness = _loudness(settings, edition)
    except (ValueError, OverflowError) as error:
        raise _unusable(folder / GENERATOR, error) from error
    rates = _rates(folder / RATES) or edition.rates
    return replace(edition, rates=rates, loudness=loudness).tempered(generation)


def _loudness(settings: _Settings, edition: Edition) -> float | None:
    if settings.normalize_prompt_loudness is False:
        return None
    loudness = settings.prompt_loudness_lufs
    if loudness is None:
        return edition.loudness
    check_number("prompt_loudness_lufs", loudness, LOUDNESS)
    return loudness


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
