"""From the name of a synthesiser to the loaded model, importing only the one that is asked for.

Invariant: importing this module loads no synthesiser and no torch.
"""

from collections.abc import Callable
from typing import Final

from engine.errors import ModelError
from engine.settings import SpeechSettings
from engine.tts.base import Progress, TtsModel


def _espeak(settings: SpeechSettings, progress: Progress) -> TtsModel:
    from engine.tts.espeak.model import EspeakModel  # loads libespeak-ng

    progress("Loading the formant voice", None)
    return EspeakModel()


def _starter(settings: SpeechSettings, progress: Progress) -> TtsModel:
    from engine.tts.voxtream.files import starter

    return starter.load(settings, progress)


def _voxtream2(settings: SpeechSettings, progress: Progress) -> TtsModel:
    from engine.tts.voxtream.files import loading

    return loading.load(settings, progress)


def _speakstream(settings: SpeechSettings, progress: Progress) -> TtsModel:
    from engine.tts.speakstream import pack

    return pack.load(settings, progress)


def _smlle(settings: SpeechSettings, progress: Progress) -> TtsModel:
    from engine.tts.smlle import pack

    return pack.load_made(settings, progress)


_LOADERS: Final[dict[str, Callable[[SpeechSettings, Progress], TtsModel]]] = {
    "espeak": _espeak,
    "starter": _starter,
    "voxtream2": _voxtream2,
    "speakstream": _speakstream,
    "smlle": _smlle,
}

NAMES: Final = tuple(_LOADERS)
BUILT_IN: Final = "espeak"  # needs no file of weights: it stands in when another will not load


def load(settings: SpeechSettings, progress: Progress) -> TtsModel:
    """Load the synthesiser `settings.engine` on the calling thread, which then owns it.

    ModelError when there is no such synthesiser or it cannot be loaded.
    """
    loader = _LOADERS.get(settings.engine)
    if loader is None:
        raise ModelError(
            f"There is no synthesiser called {settings.engine!r}.",
            hint="There are: " + ", ".join(NAMES) + ".",
        )
    return loader(settings, progress)
