"""The systems that can be trained: the stages of their recipes in order, what each stage runs and
depends on, and how a pack's card begins.

A row here, a section in recipe.py and a folder of functions make a system trainable. Invariant:
imports nothing that is slow, so that the corpus needs no torch.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

VOXTREAM2: Final = "voxtream2"
VOXTREAM: Final = "voxtream"


@dataclass(frozen=True)
class Stage:
    """`does` is a module of this package and its function, which takes the Run. `sections` of the
    recipe decide whether finished work still holds; those of VoXtream and VoXtream2 are in run.py.
    `learns`: the section whose schedule trains it. With `begin_with` and no schedule, one that
    `can_be_taken` copies the pack's network.
    """

    does: str
    sections: tuple[str, ...] = ()
    learns: str = ""
    can_be_taken: bool = False


@dataclass(frozen=True)
class System:
    """`card` says what a pack is, up to the word "trained"."""

    card: str
    stages: Mapping[str, Stage]


_SPEAKER: Final = ("corpus", "begin_with", "speaker")
_DECODER: Final = ("corpus", "begin_with", "codec", "decoder")
_TOKENS: Final = (*_SPEAKER, "semantic")
_CORPUS: Final = {"corpus": Stage("corpus.stage:make", ("corpus",))}
_SMALL_SPEAKER: Final = {
    "speaker": Stage("voice.speaker:take_or_train_speaker", _SPEAKER, learns="speaker")
}
_VOXTREAM: Final = {
    **_CORPUS,
    "codec": Stage("codec.stage:train_codec", learns="codec", can_be_taken=True),
    "speaker": Stage("voice.speaker:train_speaker", learns="speaker", can_be_taken=True),
    "encode": Stage("voice.encode:encode_corpus"),
    "voice": Stage("voice.stage:train_voice", learns="voice"),
    "draw": Stage("codec.draw:draw_corpus"),
    "decoder": Stage("codec.decoder:train_decoder", learns="decoder", can_be_taken=True),
    "export": Stage("export:export_pack"),
    "baselines": Stage("evaluation.measurements:measure_baselines"),
    "evaluate": Stage("evaluation.measurements:evaluate_pack"),
}
SYSTEMS: Final[Mapping[str, System]] = {
    VOXTREAM2: System("A small VoXtream2 with its own codec and speaker encoder,", _VOXTREAM),
    VOXTREAM: System(
        "A small VoXtream with the codes of an earlier pack, whose depth transformer may be "
        "frozen, as the paper freezes another model's. Its decoder is its own. It was",
        # It learns on true codes, and is measured by `compare` alone.
        {
            name: stage
            for name, stage in _VOXTREAM.items()
            if name not in {"draw", "baselines", "evaluate"}
        },
    ),
    "speakstream": System(
        "A small SpeakStream with a vocoder of its own. Unlike its paper's, it has a vector of the "
        "speaker, a rate (its spectrum is stretched) and one network for all windows. It was",
        {
            **_CORPUS,
            **_SMALL_SPEAKER,
            "encode": Stage("speakstream.encode:encode_corpus", _SPEAKER),
            "decoder": Stage(
                "speakstream.stage:train_level_vocoder", (*_DECODER, *_SPEAKER), learns="decoder"
            ),
            "voice": Stage(
                "speakstream.stage:train_voice", (*_SPEAKER, "speakstream"), learns="speakstream"
            ),
            "export": Stage(
                "speakstream.stage:export_pack", (*_DECODER, *_SPEAKER, "speakstream", "export")
            ),
        },
    ),
    "llmvox": System(
        "A small LLMVoX with a tokeniser and a vocoder of its own. Unlike its paper's, it has a "
        "vector of the speaker, which its vocoder is told too, phones instead of bytes, 50 tokens "
        "a second and a label of its own for the end. Its rate cannot be changed. It was",
        {
            **_CORPUS,
            **_SMALL_SPEAKER,
            "codec": Stage("llmvox.tokens:train_tokens", (*_DECODER, "speaker"), learns="codec"),
            "encode": Stage("llmvox.encode:encode_corpus", (*_DECODER, "speaker")),
            "voice": Stage(
                "llmvox.stage:train_voice", (*_DECODER, "speaker", "llmvox"), learns="llmvox"
            ),
            "export": Stage("llmvox.stage:export_pack", (*_DECODER, "speaker", "llmvox", "export")),
        },
    ),
    "smlle": System(
        "A small SMLLE with its own tokeniser and vocoder. Unlike its paper's, it has a vector of "
        "the speaker, prompts without text, tokens taught by phones, a band around the known "
        "alignment, and a rate (a bias on the blank). It was",
        {
            **_CORPUS,
            # Early: it may need another system's pack.
            "decoder": Stage("smlle.spectrum:train_mel_vocoder", _DECODER, learns="decoder"),
            **_SMALL_SPEAKER,
            "semantic": Stage(
                "smlle.semantic:train_semantic", ("corpus", "semantic"), learns="semantic"
            ),
            "tokens": Stage("smlle.utterances:encode_tokens", _TOKENS),
            "transducer": Stage(
                "smlle.transducer:train_transducer", (*_TOKENS, "transducer"), learns="transducer"
            ),
            "spectrum": Stage(
                "smlle.spectrum:train_spectrum",
                (*_TOKENS, "transducer", "spectrum"),
                learns="spectrum",
            ),
            "export": Stage(
                "smlle.export:export_pack",
                (*_DECODER, *_TOKENS, "transducer", "spectrum", "export"),
            ),
        },
    ),
}
