"""Shapes of the weights and constants of generation, with their sources, and the published
editions, each with the settings that are not in its files.

"VoXtream2, 3.5" is a section of the VoXtream2 paper; "released" is the value in the published
generation settings, where the paper does not state one.
Invariant: a checkpoint's config.json decides every tensor's shape; nothing here can contradict it.
An edition's weights never speak with the settings of another.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Final

from engine.nn.transformer import TransformerConfig
from engine.nn.weights_file import check_number
from engine.settings.rules import Range
from engine.tts.phones import VOCABULARY
from engine.tts.voxtream.files.paths import VOXTREAM2, VOXTREAM2_1
from engine.tts.voxtream.rate import PER_DECADE, RATE_TABLE, RateTarget

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
    # limits of the rate that the network speaks, in SPS; other speech is stretched (rate.py)
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


# -------------------------------------------------------------------------------- editions

# The released loop speaks at most 750 frames (60 s), and people hear repeats beyond 500 characters
# (25 s): after 20 s the next sentence begins from the prompt alone.
PASSAGE_FRAMES: Final = 250


@dataclass(frozen=True)
class Edition:
    """A published edition. `name`: of its model and of its asset. `rates`: the rate table by SPS.
    `bends_logits`: a rate changes the logits before the temperature, not the probabilities after
    it. `loudness`: of every prompt, in LUFS; None = as recorded.
    """

    name: str
    generation: VoxtreamGeneration
    rates: Mapping[float, RateTarget]
    bends_logits: bool = False
    loudness: float | None = None

    def tempered(self, generation: VoxtreamGeneration) -> "Edition":
        """Return the edition with these constants. Their temperature determines the scale of the
        rate's bias.
        """
        scale = 1 / generation.temperature if self.bends_logits else PER_DECADE
        return replace(self, generation=replace(generation, pull_scale=scale))


def _eased(rates: Mapping[float, RateTarget], scale: float) -> Mapping[float, RateTarget]:
    """Convert a rate table for common logarithms to one for natural logarithms times `scale`, with
    the same effect.
    """
    return {
        rate: replace(target, weight=target.weight * PER_DECADE / scale)
        for rate, target in rates.items()
    }


_GENERATION: Final = replace(
    GENERATION, look_ahead=VOXTREAM2_SHAPE.look_ahead, passage_frames=PASSAGE_FRAMES
)
# The table and the loudness of 2.1 are not in a file that could be read here. Its table is that of
# 2.0 with weights of the same effect, its loudness that of EBU R 128, until its folder holds a
# speaking_rate.json and a generator.json.
EDITIONS: Final = {
    edition.name: edition.tempered(edition.generation)
    for edition in (
        Edition(
            VOXTREAM2_1,
            _GENERATION,
            _eased(RATE_TABLE, 1 / _GENERATION.temperature),
            bends_logits=True,
            loudness=-23.0,
        ),
        Edition(VOXTREAM2, _GENERATION, RATE_TABLE),
    )
}
