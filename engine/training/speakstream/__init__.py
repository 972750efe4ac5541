"""A small SpeakStream: a network predicts quantised spectra, a vocoder turns them into sound.

The paper trains one network for each window size m. Here m is drawn for every batch, so that one
network can be used with any delay (ours). Only speech and the ends of units have a loss (III-B).
"""

from dataclasses import dataclass
from typing import Final

from engine.codec.mel import VocoderConfig
from engine.training.recipe import CORPUS, EXPORT, Recipe, Schedule, Sound, Stage, System
from engine.tts.speakstream.model import SpeakStreamGeneration, SpeakStreamShape


@dataclass(frozen=True, kw_only=True)
class Vocoder(Sound):
    """The vocoder of spectra (pulses and filters), also of SMLLE and LLMVoX, and its training."""

    shape: VocoderConfig
    rounded: float = 0.5  # share of windows rounded to their levels


@dataclass(frozen=True)
class Voice:
    """SpeakStream's network and its training."""

    schedule: Schedule
    shape: SpeakStreamShape
    prenet_dropout: float = 0.5
    longest_seconds: float = 8.0  # of a lesson, which is one utterance
    largest_window: int = 4  # the paper's m is drawn from 1 to this, for every batch
    wrong_levels: float = 0.1  # share of input positions with levels a little off
    lost: float = 0.06  # share of input positions without levels, two or three together
    end_weight: float = 1.0  # of the loss of the units' ends
    dropout: float = 0.1


@dataclass(frozen=True, kw_only=True)
class SpeakStreamRecipe(Recipe):
    vocoder: Vocoder
    voice: Voice
    generation: SpeakStreamGeneration  # but for the pace, which is measured


SYSTEM: Final = System(
    "A small SpeakStream with a vocoder of its own. Unlike its paper's, it has a vector of the "
    "speaker, a rate (its spectrum is stretched), one network for all windows, and the phone "
    "that is said next as an input. It was",
    SpeakStreamRecipe,
    {
        **CORPUS,
        "encode": Stage("speakstream.data:encode_corpus", ("corpus", "speaker")),
        "vocoder": Stage("speakstream.losses:VocoderLearner", ("corpus", "encode"), ("vocoder",)),
        "voice": Stage(
            "speakstream.losses:SpeakStreamLearner", ("encode",), ("voice", "generation.hop")
        ),
        "export": Stage(
            "speakstream.losses:export_pack", ("corpus", "encode", "vocoder", "voice"), EXPORT
        ),
    },
)
