"""Train a wake phrase: the voices on this machine speak it, and a network learns it.

Invariant: a phrase counts as trained once its file is complete; until then nothing has changed.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import soxr

from engine.asr.base import SAMPLE_RATE
from engine.asr.wake.phrase import examine, normal
from engine.asr.wake.spotter import FILES, Embedding, folder, head_file
from engine.asr.wake.training import Say, teach
from engine.assets import packages
from engine.audio.base import Pcm
from engine.errors import AssetError
from engine.runtime.headless.offline_synthesis import OfflineSynthesis, SpeechRequest, constant
from engine.settings import SpeechSettings
from engine.settings.systems import ESPEAK, STARTER
from engine.tts import registry
from engine.tts.base import TtsModel, Voice

SYNTHESISERS = (STARTER, ESPEAK)  # both come with the program


def learn(phrase: str, step: Callable[[float], None] = lambda share: None) -> Path:
    """Fetch missing files (2 MB), train a phrase in some minutes, and save the detector. `step` as
    in teach(). InvalidInput for an unsuitable phrase; AssetError if something cannot be fetched or
    saved; ModelError.
    """
    phrase = normal(phrase)
    examine(phrase)
    with _keeping():
        folder().mkdir(parents=True, exist_ok=True)
        packages.fetch(FILES, folder())
    models = [registry.load(SpeechSettings(engine=name), lambda *_: None) for name in SYNTHESISERS]
    try:
        voices = [_say(model, voice) for model in models for voice in model.voices()]
        head = teach(phrase, voices, Embedding(folder()), step)
    finally:
        for model in models:
            model.close()
    with _keeping():
        head.save(head_file(phrase))
    return head_file(phrase)


@contextmanager
def _keeping() -> Iterator[None]:
    """Translate errors of the disk."""
    try:
        yield
    except OSError as error:
        raise AssetError(
            "The files for the wake phrase cannot be saved in {folder}: {error}.",
            hint="Free some space or allow writing there, and teach the phrase again.",
            folder=folder(),
            error=error.strerror or error,
        ) from error


def _say(model: TtsModel, voice: Voice) -> Say:
    def say(text: str, rate: float) -> Pcm:
        request = SpeechRequest(text, voice, constant(rate))
        pcm = np.concatenate(list(OfflineSynthesis(model, request).pcm()))
        heard: Pcm = soxr.resample(pcm, model.info.sample_rate, SAMPLE_RATE).astype(np.float32)
        return heard

    return say
