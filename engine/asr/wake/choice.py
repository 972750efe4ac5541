"""Choose the trained spotter if this machine has one, otherwise a search for the typed phrase."""

from pathlib import Path

from engine.asr.base import KeywordSpotter
from engine.asr.wake.embedding import Embedding
from engine.asr.wake.keyphrase import Keyphrase
from engine.asr.wake.phrase import examine, normal
from engine.asr.wake.sounds import Sounds
from engine.asr.wake.trained_spotter import TrainedSpotter, load
from engine.settings import WakeSettings
from engine.settings_file import data_folder

# Of the proposing search: nearly all calls, and 300 false proposals in an hour of talk.
SLACK, BEAM = 1e-24, 1e-100


def spotter(settings: WakeSettings) -> KeywordSpotter:
    """Return the spotter for the phrase of these settings. InvalidInput for an unsuitable phrase,
    ModelError if a part is missing.
    """
    phrase = normal(settings.phrase)
    return make_spotter(phrase, examine(phrase))


def is_taught(phrase: str) -> bool:
    """Return whether this machine has a trained detector for a phrase, however it is written."""
    return head_file(normal(phrase)).is_file()


def make_spotter(phrase: str, sounds: Sounds) -> KeywordSpotter:
    """Return the spotter for a normalised phrase, suitable or not. ModelError as above."""
    if is_taught(phrase):
        proposing = Keyphrase(phrase, sounds, slack=SLACK, beam=BEAM)
        return TrainedSpotter(load(head_file(phrase)), Embedding(folder()), proposing)
    return Keyphrase(phrase, sounds)


def folder() -> Path:
    """Return the folder of the trained detectors."""
    return data_folder() / "wake"


def head_file(phrase: str) -> Path:
    """Return the detector file of a normalised phrase."""
    return folder() / f"{phrase}.safetensors"
