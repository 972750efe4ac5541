"""Which way to find a phrase is used: the one it was taught for, else any phrase as it is typed."""

from pathlib import Path

from engine.asr.base import KeywordSpotter
from engine.asr.wake.embedding import Embedding
from engine.asr.wake.keyphrase import Keyphrase
from engine.asr.wake.phrase import examine, normal
from engine.asr.wake.sounds import Sounds
from engine.asr.wake.trained_spotter import TrainedSpotter, load
from engine.settings import WakeSettings
from engine.settings_file import data_folder

# Of the search that proposes: nearly all calls, and 300 other places in an hour of talk.
SLACK, BEAM = 1e-24, 1e-100


def spotter(settings: WakeSettings) -> KeywordSpotter:
    """What listens for the phrase of these settings. InvalidInput for one that will not do,
    ModelError where a part of it is missing.
    """
    phrase = normal(settings.phrase)
    return unexamined(phrase, examine(phrase))


def is_taught(phrase: str) -> bool:
    """Whether this machine was taught a phrase, however that is written."""
    return head_file(normal(phrase)).is_file()


def unexamined(phrase: str, sounds: Sounds) -> KeywordSpotter:
    """What listens for a normal phrase, also one that will not do. ModelError as above."""
    if is_taught(phrase):
        proposing = Keyphrase(phrase, sounds, slack=SLACK, beam=BEAM)
        return TrainedSpotter(load(head_file(phrase)), Embedding(folder()), proposing)
    return Keyphrase(phrase, sounds)


def folder() -> Path:
    """Where what was taught is kept."""
    return data_folder() / "wake"


def head_file(phrase: str) -> Path:
    """Where what was taught of a normal phrase is kept."""
    return folder() / f"{phrase}.safetensors"
