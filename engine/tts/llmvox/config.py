"""Shapes of LLMVoX's weights and constants of its generation.

Invariant: a pack's config.json decides the shape of every tensor.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from engine.nn.transformer import TransformerConfig
from engine.settings.rules import Range
from engine.tts import phones
from engine.tts.pack_files import read_config
from engine.tts.papers.spectrum import SpectrumShape
from engine.typed_values import build, drop_settled

NAME: Final = "llmvox"
TOKEN_RATE: Final = 25  # Hz; the paper's is 75
ENTRY: Final = 128  # width of a token's vector
VOCABULARY: Final = 260  # of units: phones, or bytes for the published weights

# Ids of units that are neither phones nor bytes.
WORD, TEXT_END, NOTHING = 256, 257, 258


@dataclass(frozen=True)
class LlmVoxShape:
    """Shape of one set of weights. `spectrum`: the network that turns the tokens into spectra. The
    label after all tokens is the end of the speech (ours: the paper uses an entry of the codebook).
    """

    stack: TransformerConfig
    spectrum: SpectrumShape
    prenet: Annotated[int, Range(1, 16_384)] = 128
    vocabulary: Annotated[int, Range(VOCABULARY, VOCABULARY)] = VOCABULARY

    @property
    def tokens(self) -> int:
        return self.spectrum.tokens


@dataclass(frozen=True)
class LlmVoxGeneration:
    """Constants of generation. The first `first_chunk` tokens of a sentence are decoded together;
    each later chunk is `growth` times as long (Algorithm 1: 2; its published server: 3), up to
    `largest_chunk`.
    """

    first_chunk: Annotated[int, Range(1, 1280)] = 2
    growth: Annotated[int, Range(1, 16)] = 1  # the decoder here is causal, so chunks need not grow
    largest_chunk: Annotated[int, Range(1, 10_000)] = 1280
    # tokens for every unit of a sentence; then it must end
    longest_unit: Annotated[int, Range(1, 1000)] = 10
    # of one token in a row; then another must follow
    most_repeats: Annotated[int, Range(1, 100_000)] = 20
    # of the tokens; 0 = the likeliest, as in the published server
    temperature: Annotated[float, Range(0, 100)] = 0.0
    dropout: Annotated[float, Range(0, 0.99)] = 0.5  # of the pre-net (ours)
    spectrum_dropout: Annotated[float, Range(0, 0.99)] = 0.5  # of the spectrum's pre-net


@dataclass(frozen=True)
class LlmVoxPackConfig:
    """Contents of a pack's config.json."""

    name: str
    shape: LlmVoxShape
    generation: LlmVoxGeneration


def read_pack_config(file: Path) -> LlmVoxPackConfig:
    """Read the configuration of a pack. ModelError if the file is missing, damaged, or describes
    networks that cannot be built.
    """
    return read_config(file, LlmVoxPackConfig, _check, _made)


def _made(entries: dict[str, Any]) -> LlmVoxPackConfig:
    drop_settled(entries.get("shape"), units="phones")
    return build(LlmVoxPackConfig, entries, defaults=False)


def _check(config: LlmVoxPackConfig) -> None:
    spectrum = config.shape.spectrum
    if spectrum.tokens % spectrum.phones:
        raise ValueError(f"{spectrum.tokens} tokens for {spectrum.phones} phones")


assert phones.VOCABULARY <= WORD, "units of phones and marks share ids"
