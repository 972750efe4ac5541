"""The function of each stage of an LLMVoX recipe."""

from collections.abc import Callable
from typing import Final

from engine.training.llmvox.encode import encode_corpus
from engine.training.llmvox.export import export_pack
from engine.training.llmvox.stage import train_voice
from engine.training.llmvox.tokens import train_token_vocoder, train_tokens
from engine.training.run import Run
from engine.training.voice.speaker import take_or_train_speaker

STAGES: Final[dict[str, Callable[[Run], None]]] = {
    "speaker": take_or_train_speaker,
    "codec": train_tokens,
    "encode": encode_corpus,
    "decoder": train_token_vocoder,
    "voice": train_voice,
    "export": export_pack,
}
