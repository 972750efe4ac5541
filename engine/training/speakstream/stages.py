"""The function of each stage of a SpeakStream recipe."""

from collections.abc import Callable
from typing import Final

from engine.training.codec.vocoder import train_mel_vocoder
from engine.training.run import Run
from engine.training.speakstream.encode import encode_corpus
from engine.training.speakstream.export import export_pack
from engine.training.speakstream.stage import train_voice
from engine.training.voice.speaker import take_or_train_speaker

STAGES: Final[dict[str, Callable[[Run], None]]] = {
    "speaker": take_or_train_speaker,
    "encode": encode_corpus,
    "decoder": train_mel_vocoder,
    "voice": train_voice,
    "export": export_pack,
}
