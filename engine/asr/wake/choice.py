"""Which way to find a phrase is used."""

from engine.asr.wake.base import Spotter
from engine.asr.wake.keyphrase import Keyphrase
from engine.asr.wake.phrase import examine, normal
from engine.settings import WakeSettings


def spotter(settings: WakeSettings) -> Spotter:
    """What listens for the phrase of these settings. InvalidInput for one that will not do,
    ModelError where a part of it is missing.
    """
    phrase = normal(settings.phrase)
    return Keyphrase(phrase, examine(phrase))
