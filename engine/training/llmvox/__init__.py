"""A small LLMVoX: text units and speech tokens enter one network side by side, without an alignment
(paper, 3.3).

Text unit t (a phone) and speech token t enter at the same step. The text ends long before the
speech, so the network has to find out itself which unit each token speaks.
"""

from dataclasses import dataclass
from typing import Final

from engine.nn.transformer import TransformerConfig
from engine.training.recipe import CORPUS, EXPORT, STACK, Schedule, Stage, System
from engine.training.smlle import ENCODE, TokenRecipe
from engine.tts.llmvox.model import LlmVoxGeneration


@dataclass(frozen=True)
class Voice:
    """LLMVoX's network and its training."""

    schedule: Schedule
    stack: TransformerConfig = STACK
    prenet: int = 128
    prenet_dropout: float = 0.5
    longest_seconds: float = 8.0  # of a lesson, which is one sentence
    wrong_tokens: float = 0.05  # share of input tokens that are others
    spliced: float = 0.0  # share of lessons that are put together from words of several sentences
    onset_weight: float = 0.2
    guided: float = 1.0  # of a loss that keeps one head on the unit being spoken (ours)
    dropout: float = 0.1


@dataclass(frozen=True, kw_only=True)
class LlmVoxRecipe(TokenRecipe):
    voice: Voice
    generation: LlmVoxGeneration


SYSTEM: Final = System(
    "A small LLMVoX whose tokens are made of phones, with SMLLE's network for their spectra "
    "and SpeakStream's vocoder. Unlike its paper's, it has a vector of the speaker, phones "
    "instead of bytes, 25 tokens a second and a label of its own for the end. Its rate cannot "
    "be changed. It was",
    LlmVoxRecipe,
    {
        **CORPUS,
        "encode": Stage("llmvox.data:encode_corpus", *ENCODE),
        "spectrum": Stage("smlle.spectrum:SpectrumLearner", ("encode",), ("spectrum",)),
        "voice": Stage("llmvox.losses:LlmVoxLearner", ("encode",), ("voice",)),
        "export": Stage(
            "llmvox.losses:export_pack",
            ("corpus", "encode", "spectrum", "voice", "vocoder"),
            EXPORT,
        ),
    },
)
