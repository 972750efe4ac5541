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
    recipe decide, beside the stages it reads from, whether finished work still holds. `learns`: the
    section whose schedule trains it. With `begin_with`, one that `can_be_taken` may
    copy the pack's network.
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


_CORPUS: Final = {"corpus": Stage("corpus.stage:make", ("corpus",))}
_SPEAKER: Final = {
    "speaker": Stage(
        "voice.speaker:train_speaker", ("begin_with", "speaker"), "speaker", can_be_taken=True
    )
}
_DECODER: Final = ("begin_with", "codec", "decoder")
_EXPORT: Final = ("export",)
# Early: it may need another system's pack.
_MEL_VOCODER: Final = {
    "decoder": Stage("smlle.spectrum:train_mel_vocoder", _DECODER, "decoder"),
}
_TOKENS: Final = {
    "codebook": Stage("codebook:make_codebook", ("codebook", "corpus.rare_phone")),
    "tokens": Stage("smlle.utterances:encode_tokens"),
}
_SPECTRUM: Final = {
    "spectrum": Stage("smlle.spectrum:train_spectrum", ("spectrum",), "spectrum"),
}
_VOXTREAM: Final = {
    **_CORPUS,
    "codec": Stage("codec.stage:train_codec", ("begin_with", "codec"), "codec", can_be_taken=True),
    **_SPEAKER,
    "encode": Stage("voice.encode:encode_corpus", ("begin_with", "system", "voice.noisy_prompts")),
    "voice": Stage("voice.stage:train_voice", ("begin_with", "system", "voice"), "voice"),
    "draw": Stage("codec.draw:draw_corpus", ("export.temperature", "decoder.hours")),
    "decoder": Stage("codec.decoder:train_decoder", _DECODER, "decoder", can_be_taken=True),
    "export": Stage("export:export_pack", _EXPORT),
    "evaluate": Stage("evaluation.stage:evaluate_pack", ("evaluate",)),
}
SYSTEMS: Final[Mapping[str, System]] = {
    VOXTREAM2: System("A small VoXtream2 with its own codec and speaker encoder,", _VOXTREAM),
    VOXTREAM: System(
        "A small VoXtream with the codes of an earlier pack, whose depth transformer may be "
        "frozen, as the paper freezes another model's. Its decoder is its own. It was",
        # It is measured by `compare` alone.
        {name: stage for name, stage in _VOXTREAM.items() if name != "evaluate"},
    ),
    "speakstream": System(
        "A small SpeakStream with a vocoder of its own. Unlike its paper's, it has a vector of the "
        "speaker, a rate (its spectrum is stretched), one network for all windows, and the phone "
        "that is said next as an input. It was",
        {
            **_CORPUS,
            **_SPEAKER,
            "encode": Stage("speakstream.encode:encode_corpus"),
            "decoder": Stage("speakstream.stage:train_level_vocoder", _DECODER, "decoder"),
            "voice": Stage("speakstream.stage:train_voice", ("speakstream",), "speakstream"),
            "export": Stage("speakstream.stage:export_pack", _EXPORT),
        },
    ),
    "llmvox": System(
        "A small LLMVoX whose tokens are made of phones, with SMLLE's network for their spectra "
        "and a vocoder of its own. Unlike its paper's, it has a vector of the speaker, phones "
        "instead of bytes, 25 tokens a second and a label of its own for the end. Its rate cannot "
        "be changed. It was",
        {
            **_CORPUS,
            **_MEL_VOCODER,
            **_SPEAKER,
            **_TOKENS,
            **_SPECTRUM,
            "encode": Stage("llmvox.encode:encode_corpus"),
            "voice": Stage("llmvox.stage:train_voice", ("llmvox",), "llmvox"),
            "export": Stage("llmvox.stage:export_pack", _EXPORT),
        },
    ),
    "smlle": System(
        "A small SMLLE with its own tokens and vocoder. Unlike its paper's, it has a vector of the "
        "speaker, tokens made of phones, the phones of the next 80 ms, a band around the known "
        "alignment, and a rate (a bias on the blank). It was",
        {
            **_CORPUS,
            **_MEL_VOCODER,
            **_SPEAKER,
            **_TOKENS,
            "transducer": Stage("smlle.transducer:train_transducer", ("transducer",), "transducer"),
            **_SPECTRUM,
            "export": Stage("smlle.export:export_pack", _EXPORT),
        },
    ),
}
