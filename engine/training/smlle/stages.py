"""The function of each stage of an SMLLE recipe."""

from collections.abc import Callable
from typing import Final

from engine.training.run import Run
from engine.training.smlle.export import export_pack
from engine.training.smlle.semantic import train_semantic
from engine.training.smlle.spectrum import train_spectrum
from engine.training.smlle.transducer import train_transducer
from engine.training.smlle.utterances import encode_tokens
from engine.training.smlle.vocoder import train_mel_vocoder
from engine.training.voice.speaker import take_or_train_speaker

STAGES: Final[dict[str, Callable[[Run], None]]] = {
    "speaker": take_or_train_speaker,
    "semantic": train_semantic,
    "tokens": encode_tokens,
    "decoder": train_mel_vocoder,
    "transducer": train_transducer,
    "spectrum": train_spectrum,
    "export": export_pack,
}
