"""Shapes of the weights and constants of generation, with their sources.

"VoXtream2, 3.5" is a section of the VoXtream2 paper; "released" is the value in the published
generation settings, where the paper does not state one.
Invariant: a checkpoint's config.json decides every tensor's shape; nothing here can contradict it.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from engine.errors import ModelError
from engine.nn.transformer import TransformerConfig
from engine.nn.weights_file import check_number, check_numbers
from engine.settings.rules import Range
from engine.translatable import Translatable
from engine.tts.pack_files import read_object
from engine.tts.phones import VOCABULARY
from engine.tts.voxtream.rate import PER_DECADE
from engine.typed_values import WrongValue, build

# The released config.json names its stacks; these are the shapes behind the names.
STACKS = {
    "phone_former": TransformerConfig(layers=6, width=1024, heads=8, kv_heads=2, hidden=4096),
    "temp_former": TransformerConfig(layers=12, width=1024, heads=16, kv_heads=4, hidden=4096),
    "dep_former_csm": TransformerConfig(layers=4, width=1024, heads=8, kv_heads=2, hidden=8192),
}

ROWS = 2  # of a batch: conditional and unconditional
# Least frames of a window behind a prompt, 10 s: more than a voice may stay on the prompt's last
# phone (see repeats_before_push), so that every passage speaks.
LEAST_ROOM: Final = 125
SPECIAL_CODES = 2  # behind the real ones: prompt codes dropped (unconditional row), and padding


@dataclass(frozen=True)
class DurationToken:
    """A duration token: how many phones to advance, and how many phones the frame covers
    (VoXtream2, 3.1).
    """

    shift: int
    phones: int


@dataclass(frozen=True)
class ModelConfig:
    """Shapes of one checkpoint. Those of the published model are well inside the ranges.
    Vocabularies include the special ids.
    """

    phone: TransformerConfig
    temporal: TransformerConfig
    depth: TransformerConfig
    phone_vocabulary: Annotated[int, Range(10, 65_536)] = 125
    audio_vocabulary: Annotated[int, Range(3, 65_536)] = 2050
    codebooks: Annotated[int, Range(2, 32)] = 16
    speaker_width: Annotated[int, Range(1, 4096)] = 192
    duration_tokens: Annotated[int, Range(1, 64)] = 6
    # phones per layer; six layers see 30 phones ahead
    max_look_ahead: Annotated[int, Range(1, 25)] = 5
    # columns that the temporal transformer sees, 50 s; a prompt has at most 251
    audio_window: Annotated[int, Range(256, 10_000)] = 625
    phone_window: Annotated[int, Range(256, 10_000)] = 625

    @property
    def width(self) -> int:
        return self.temporal.width

    @property
    def look_ahead(self) -> int:
        """The number of phones ahead that a row can see through all layers."""
        return self.phone.layers * self.max_look_ahead

    @property
    def longest_prompt(self) -> int:
        """The number of frames of the longest prompt that leaves room for a passage. It has one
        more column.
        """
        return self.audio_window - 1 - LEAST_ROOM

    @property
    def codes(self) -> int:
        """The number of real codes of one codebook. Used as a code, this number stands for a
        dropped prompt code in the unconditional row.
        """
        return self.audio_vocabulary - SPECIAL_CODES

    @property
    def pad(self) -> int:
        """The code in place of a codebook's codes before its first one."""
        return self.audio_vocabulary - 1


VOXTREAM2_SHAPE = ModelConfig(
    phone=STACKS["phone_former"],
    temporal=STACKS["temp_former"],
    depth=STACKS["dep_former_csm"],
)


REFETCH: Final = Translatable("Fetch the model again.")
NEVER: Final = 999_999  # frames, 22 hours
UNBOUNDED: Final = 100.0  # SPS, faster than any speech


@dataclass(frozen=True)
class VoxtreamGeneration:
    """Constants of generation; the defaults are those of the published weights."""

    temperature: Annotated[float, Range(0.01, 100)] = 0.9  # released
    nucleus: Annotated[float, Range(0.01, 1)] = 0.9  # duration token, VoXtream2, 3.5
    top_codes: Annotated[int, Range(1, 65_536)] = 5  # semantic code, VoXtream2, 3.5
    # VoXtream2, 3.3; the rate table overrides it
    semantic_guidance: Annotated[float, Range(0, 100)] = 1.5
    acoustic_guidance: Annotated[float, Range(0, 100)] = 3.0  # VoXtream2, 3.3
    # VoXtream2, 3.3: speaker conditioning raised by 50 %
    speaker_weight: Annotated[float, Range(0, 100)] = 1.5
    min_look_ahead: Annotated[int, Range(1, 100)] = 3  # phones, VoXtream2, 3.1
    # Phones: while fewer are ahead, words are read as they come. 0 = a word is read only when fewer
    # than min_look_ahead are ahead, so that samples do not depend on when it came.
    look_ahead: Annotated[int, Range(0, 1600)] = 0
    # k of the rate's bias, see DurationState.rate_bias
    pull_scale: Annotated[float, Range(0.01, 100)] = PER_DECADE
    # 3 s, VoXtream2, 3.5; the reference rounds 37.5 up
    rate_window_frames: Annotated[int, Range(1, 10_000)] = 38
    # released: most visits of a state before a push; a phone has two states
    repeats_before_push: Annotated[int, Range(1, LEAST_ROOM // 2 - 2)] = 25
    # released: the same for the last two phones
    repeats_at_end: Annotated[int, Range(1, 10_000)] = 3
    acoustic_delay: Annotated[int, Range(1, 1)] = 1  # frame; released
    # a passage this long ends with its sentence
    passage_frames: Annotated[int, Range(1, 999_999)] = NEVER
    # Ours, for a small voice; without effect on the published weights.
    # SPS when no rate is set; 0 = the network's own
    own_rate: Annotated[float, Range(0, 100)] = 0.0
    # limits of the rate that the network speaks, in SPS; other speech is stretched (stretch.py)
    lowest_rate: Annotated[float, Range(0, 100)] = 0.0
    highest_rate: Annotated[float, Range(0.1, 100)] = UNBOUNDED
    # last frames of the prompt that the codec decodes before the first frame
    frames_heard: Annotated[int, Range(0, 250)] = 0
    # most frames of a sound inside a word
    frames_in_word: Annotated[int, Range(1, 999_999)] = NEVER

    @property
    def stretches(self) -> bool:
        """True if speech is stretched to a rate that the network does not speak."""
        return self.lowest_rate > 0 or self.highest_rate < UNBOUNDED


# One or two phones a frame; advance by none, one or two (VoXtream2, 3.1).
DURATION_TOKENS: Final = tuple(
    DurationToken(shift, phones) for shift in (0, 1, 2) for phones in (1, 2)
)
GENERATION: Final = VoxtreamGeneration()


def check_shape(shape: ModelConfig) -> None:
    """Raise ValueError unless a pack's transformers fit each other and its phones fit ours. (A
    published checkpoint defines its own special ids.)
    """
    check_number("phone_vocabulary", shape.phone_vocabulary, Range(VOCABULARY, 65_536))
    if any(stack.width != shape.width for stack in (shape.phone, shape.temporal, shape.depth)):
        raise ValueError("its transformers do not fit each other")


@dataclass(frozen=True)
class _PublishedConfig:
    """The keys of a released config.json that shape the weights."""

    phone_former: str
    temp_former: str
    dep_former: str
    phone_vocab_size: int
    audio_vocab_size: int
    embedding_dim: int
    spk_embedding_dim: int
    num_codebooks: int
    num_phone_states: int
    audio_window_size: int
    phone_window_size: int
    audio_pad_size: int
    max_look_ahead: int

    def shape(self) -> ModelConfig:
        """Return the shape of the weights; the names of the stacks must be in STACKS."""
        return ModelConfig(
            phone=STACKS[self.phone_former],
            temporal=STACKS[self.temp_former],
            depth=STACKS[self.dep_former],
            phone_vocabulary=self.phone_vocab_size,
            audio_vocabulary=self.audio_vocab_size,
            codebooks=self.num_codebooks,
            speaker_width=self.spk_embedding_dim,
            duration_tokens=self.num_phone_states,
            max_look_ahead=self.max_look_ahead,
            audio_window=self.audio_window_size,
            phone_window=self.phone_window_size,
        )


def read_config(file: Path) -> ModelConfig:
    """Return the shapes in a released config.json.

    Keys that do not shape the weights (training's) are ignored, as by the published loader.
    ModelError names the file and the key of a value that is missing, of the wrong kind or out of
    range.
    """
    try:
        config = build(_PublishedConfig, read_object(file), ignore_unknown=True)
    except WrongValue as error:
        raise ModelError("{file}: {error}.", hint=REFETCH, file=file, error=error) from error
    known = ", ".join(STACKS)
    for key in ("phone_former", "temp_former", "dep_former"):
        if getattr(config, key) not in STACKS:
            raise _other(file, key, getattr(config, key), known)
    shape = config.shape()
    try:
        check_numbers(shape)
    except ValueError as error:
        raise ModelError("{file}: {error}.", hint=REFETCH, file=file, error=error) from error
    # Values that the code, the codec and the speaker encoder require.
    for key, expected in (
        ("embedding_dim", shape.width),
        ("audio_pad_size", 0),
        ("num_phone_states", len(DURATION_TOKENS)),
        ("audio_vocab_size", VOXTREAM2_SHAPE.audio_vocabulary),
        ("spk_embedding_dim", VOXTREAM2_SHAPE.speaker_width),
    ):
        if getattr(config, key) != expected:
            raise _other(file, key, getattr(config, key), expected)
    return shape


def _other(file: Path, key: str, value: object, expected: object) -> ModelError:
    return ModelError(
        "{file}: '{key}' is {value}, expected {expected}.",
        hint="This checkpoint needs a newer version of the program.",
        file=file,
        key=key,
        value=value,
        expected=expected,
    )
