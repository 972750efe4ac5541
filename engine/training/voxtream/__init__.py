"""VoXtream2, the built-in voice, and VoXtream, which starts from the built-in voice's weights and
codes.

The training follows VoXtream2, 3.2 to 3.4; VoXtream's depth transformer stays frozen, as in its
paper (3.1).
"""

from dataclasses import dataclass
from typing import Final

from engine.codec.small import SmallCodecConfig
from engine.training.recipe import CORPUS, EXPORT, Export, Recipe, Schedule, Sound, Stage, System
from engine.tts.speaker.small import SmallSpeakerConfig
from engine.tts.voxtream.config import GENERATION, ModelConfig, VoxtreamGeneration
from engine.tts.voxtream.voxtream1.session import Voxtream1Generation

VOXTREAM2: Final = "voxtream2"
VOXTREAM: Final = "voxtream"


@dataclass(frozen=True)
class Codec:
    """The small codec (24 kHz, 12.5 frames a second), learnt with a decoder of spectra."""

    schedule: Schedule
    shape: SmallCodecConfig
    window_frames: int = 16  # 1.28 s
    hours: float = 4.0  # of the corpus held in memory


@dataclass(frozen=True)
class Decoder(Sound):
    """The decoder of pulses that ships, trained on codes that no longer change."""

    blocks: int = 0  # and its transformer's layers; 0 = as many as the codec's
    layers: int = 0
    phone_reader_weight: float = 0.0  # of the phones that a reader finds in the output
    drawn_codes: float = 0.7  # share of windows with codes that the voice drew


@dataclass(frozen=True)
class Speaker:
    """The speaker encoder, which makes a speaker's vector, and its training."""

    schedule: Schedule
    shape: SmallSpeakerConfig
    window_seconds: float = 2.5
    hours: float = 4.0  # of the corpus held in memory


@dataclass(frozen=True)
class Voice:
    """The training of the voice's own model."""

    schedule: Schedule
    window_seconds: float = 24.0
    short_seconds: float = 10.0  # window of the first steps
    long_from: float = 0.4  # share of the steps after which windows are long
    prompt_seconds: tuple[float, float] = (3.0, 10.0)  # VoXtream2, 3.2
    drop: float = 0.1  # of text, prompt codes and speaker, each alone
    drop_all: float = 0.1  # all three at once, which guidance needs
    random_codes: float = 0.12  # share of input frames with random codes
    lost_frames: float = 0.06  # share of input frames without codes
    dropout: float = 0.1
    depth_share: float = 0.33  # share of the frames with a depth loss
    depth_weight: float = 2.0
    noisy_prompts: float = 0.5
    look_ahead: int = 5


@dataclass(frozen=True)
class Voxtream2Export(Export):
    weight: float = 8.0  # of the pull towards a rate
    tuning_seconds: float = 60.0  # of speech with the histogram of each rate; 0 = as in the corpus


@dataclass(frozen=True, kw_only=True)
class Voxtream2Recipe(Recipe):
    codec: Codec
    decoder: Decoder
    speaker: Speaker
    voice: Voice
    shape: ModelConfig  # of the voice; the codec decides its codes
    export: Voxtream2Export
    generation: VoxtreamGeneration = GENERATION


@dataclass(frozen=True, kw_only=True)
class VoxtreamRecipe(Recipe):
    """VoXtream's recipe. Codes, speaker encoder and first weights are the built-in voice's."""

    decoder: Decoder
    voice: Voice
    generation: Voxtream1Generation


_LAST: Final = {
    "encode": Stage(
        "voxtream.data:encode_corpus", ("corpus", "codec", "speaker"), ("voice.noisy_prompts",)
    ),
    "voice": Stage("voxtream.losses:VoxtreamLearner", ("encode",), ("voice",)),
    "decoder": Stage(
        "codec.decoder:DecoderLearner",
        ("codec", "encode", "voice"),
        ("decoder", "generation.temperature"),
    ),
    "export": Stage(
        "voxtream.export:export_pack",
        ("corpus", "codec", "decoder", "speaker", "encode", "voice"),
        EXPORT,
    ),
}
SYSTEMS: Final = {
    VOXTREAM2: System(
        "A small VoXtream2 with its own codec and speaker encoder,",
        Voxtream2Recipe,
        {
            **CORPUS,
            "codec": Stage("codec.codec:CodecLearner", ("corpus",), ("codec",)),
            "speaker": Stage("voxtream.speaker:SpeakerLearner", ("corpus",), ("speaker",)),
            **_LAST,
        },
        base="",
    ),
    VOXTREAM: System(
        "A small VoXtream with the codes of the built-in voice, whose depth transformer is frozen, "
        "as the paper freezes another model's. Its decoder is its own. Its rate cannot be changed. "
        "It was",
        VoxtreamRecipe,
        {**CORPUS, **_LAST},
        base="codes, speaker encoder and first weights are",
    ),
}
