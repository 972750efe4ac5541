"""Shapes of SMLLE's weights and constants of its generation, with their sources.

"SMLLE, 2.2" is a section of the paper (Sun et al., 2025). Where the paper leaves a value open, or
ours is smaller, the comment says so. Invariant: a pack's config.json decides every tensor's shape.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from engine.nn.transformer import TransformerConfig
from engine.settings.rules import Range
from engine.tts.base import RateRange
from engine.tts.pack_files import check_system, read_config
from engine.tts.papers.spectrum import SpectrumShape
from engine.typed_values import build, drop_settled

NAME: Final = "smlle"
STEPS_PER_FRAME: Final = 2  # 80 ms
STEP_MS: Final = 40
MARKS: Final = {"": 0, ",": 1, ".": 2, "?": 3, "!": 4}  # behind a phone, read together with it
NEVER: Final = 999_999


@dataclass(frozen=True)
class SmlleShape:
    """Shapes of one pack's networks. The paper's stacks have 12 layers of width 1024 (3.2), and its
    encoder is a Conformer; ours are small, causal Llama stacks.
    """

    encoder: TransformerConfig
    spectrum: SpectrumShape  # the paper's tokeniser has 1024 values of a token
    predictor_layers: Annotated[int, Range(1, 16)] = 2  # LSTM (SMLLE, 3.2)
    joint: Annotated[int, Range(1, 16_384)] = 256

    @property
    def begin(self) -> int:
        return self.spectrum.begin

    @property
    def end(self) -> int:
        return self.spectrum.end

    @property
    def tokens(self) -> int:
        return self.spectrum.tokens


@dataclass(frozen=True)
class SmlleGeneration:
    """Constants of generation."""

    top_tokens: Annotated[int, Range(1, 4097)] = 15  # SMLLE, 3.3, where the blank is among them
    # of the tokens; the paper does not give one
    temperature: Annotated[float, Range(0.01, 100)] = 1.0
    # of the phones: 1 = drawn as learnt, 0 = all have their median (ours)
    lengths: Annotated[float, Range(0, 1)] = 1.0
    # of the pre-net, also when speaking (SMLLE, 3.3)
    dropout: Annotated[float, Range(0, 0.99)] = 0.5
    # of one phone, 1.2 s; then the next phone must follow (ours)
    most_tokens: Annotated[int, Range(1, 10_000)] = 30
    # phones in a row without a token; the next one must have one (ours)
    most_unspoken: Annotated[int, Range(1, 10_000)] = 4
    # a passage this long ends with its sentence (ours)
    passage_steps: Annotated[int, Range(1, 999_999)] = NEVER
    own_rate: Annotated[float, Range(0.1, 100)] = 4.0  # SPS without a bias, measured by the export
    # on the blank per unit of log(wanted / measured rate) (ours)
    pull: Annotated[float, Range(0, 100)] = 1.0
    rate_window_frames: Annotated[int, Range(1, 10_000)] = 38  # 3 s, as VoXtream2's
    lowest_rate: Annotated[float, Range(0.1, 100)] = 1.5
    highest_rate: Annotated[float, Range(0.1, 100)] = 7.0

    @property
    def rates(self) -> RateRange:
        """Rates that a session accepts, in SPS."""
        return RateRange(self.lowest_rate, self.highest_rate)


@dataclass(frozen=True)
class SmllePackConfig:
    """Contents of a pack's config.json."""

    name: str
    shape: SmlleShape
    generation: SmlleGeneration
    system: str = NAME


def read_pack_config(file: Path) -> SmllePackConfig:
    """Read the configuration of a pack. ModelError if the file is missing, damaged, or describes
    networks that cannot be built.
    """
    return read_config(file, SmllePackConfig, _check, _made)


def _made(entries: dict[str, Any]) -> SmllePackConfig:
    drop_settled(entries.get("generation"), latents=False, delete_bos=False)
    return build(SmllePackConfig, entries, defaults=False)


def _check(config: SmllePackConfig) -> None:
    check_system(config.system, NAME)
    if config.generation.lowest_rate >= config.generation.highest_rate:
        raise ValueError("its rates leave no room")
