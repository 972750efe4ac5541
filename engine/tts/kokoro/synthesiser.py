"""Stands here until the synthesiser does."""

from engine.errors import ModelError
from engine.settings import SpeechSettings
from engine.tts.base import Progress, TtsModel


def load(settings: SpeechSettings, progress: Progress) -> TtsModel:
    """ModelError."""
    raise ModelError("Kokoro is not on this machine.")
