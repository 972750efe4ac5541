"""A small SMLLE: a transducer turns phones into tokens, a second network turns tokens into spectra.

LLMVoX uses the same tokens and the same second network. Both use SpeakStream's vocoder, so that a
comparison is about the networks alone; SMLLE's paper uses BigVGAN (3.2).
"""

from dataclasses import dataclass
from typing import Final

from engine.nn.transformer import TransformerConfig
from engine.training.recipe import CORPUS, EXPORT, STACK, Export, Recipe, Schedule, Stage, System
from engine.tts.smlle.transducer import SmlleGeneration


@dataclass(frozen=True)
class Transducer:
    """SMLLE's first network, from phones to tokens, and its training."""

    schedule: Schedule
    encoder: TransformerConfig
    layers: int = 2  # of the LSTM
    joint: int = 256
    reach: int = 4  # phones to either side of the known alignment that the loss sums over
    path_from: float = 0.06  # share of the steps on the known path alone
    longest_seconds: float = 8.0
    dropout: float = 0.1


@dataclass(frozen=True)
class Spectrum:
    """SMLLE's second network, from tokens to spectra, and its training; also LLMVoX's decoder."""

    schedule: Schedule
    stack: TransformerConfig = STACK
    prenet: int = 256
    latent: int = 256
    ahead: int = 0  # steps whose phones are known before they are spoken (ours)
    prompt_seconds: float = 3.0
    longest_seconds: float = 8.0
    without_prompt: float = 0.1
    wrong_tokens: float = 0.1  # share of tokens that are others: in use they are drawn
    drawn_tokens: float = 0.0  # share of lessons whose tokens the transducer draws
    drawn_from: float = 0.0  # share of the schedule
    self_feeding: float = 0.0  # share of steps whose inputs are the network's own output, as in use
    self_feeding_from: float = 0.5  # share of the schedule
    dropout: float = 0.5  # of the pre-net


@dataclass(frozen=True, kw_only=True)
class SmlleExport(Export):
    tuning_seconds: float = 60.0  # of speech to measure the pack's own rate


@dataclass(frozen=True, kw_only=True)
class TokenRecipe(Recipe):
    """The sections that the recipes of SMLLE and LLMVoX share."""

    shapes: int = 8  # of a phone, tokens
    spectrum: Spectrum


@dataclass(frozen=True, kw_only=True)
class SmlleRecipe(TokenRecipe):
    transducer: Transducer
    export: SmlleExport
    generation: SmlleGeneration  # but for its own rate, which is measured


ENCODE: Final = ("corpus", "speaker"), ("shapes", "corpus.rare_phone")  # reads, sections
SYSTEM: Final = System(
    "A small SMLLE with its own tokens and SpeakStream's vocoder. Unlike its paper's, it has a "
    "vector of the speaker, tokens made of phones, the phones of the next 80 ms, a band around the "
    "known alignment, and a rate (a bias on the blank). It was",
    SmlleRecipe,
    {
        **CORPUS,
        "encode": Stage("smlle.tokens:encode_corpus", *ENCODE),
        "transducer": Stage("smlle.transducer:TransducerLearner", ("encode",), ("transducer",)),
        "spectrum": Stage(
            "smlle.spectrum:SpectrumLearner", ("encode", "transducer"), ("spectrum",)
        ),
        "export": Stage(
            "smlle.transducer:export_pack",
            ("corpus", "encode", "transducer", "spectrum", "vocoder"),
            EXPORT,
        ),
    },
)
