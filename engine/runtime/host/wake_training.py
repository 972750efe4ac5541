"""Teaching a wake phrase: the voices that are on this machine say it, and a network learns it.

Invariant: a phrase is known from the moment its file is whole; until then nothing has changed.
"""

import errno
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import soxr

from engine.asr.base import SAMPLE_RATE
from engine.asr.wake.choice import folder, head_file
from engine.asr.wake.embedding import FILES, Embedding
from engine.asr.wake.phrase import examine, normal
from engine.asr.wake.training import Say, teach
from engine.assets import packages
from engine.audio.base import Pcm
from engine.errors import AssetError
from engine.runtime.host.offline_synthesis import OfflineSynthesis, Script
from engine.runtime.host.rate_plan import constant
from engine.settings import SpeechSettings
from engine.translatable import Translatable
from engine.tts import registry
from engine.tts.base import TtsModel, Voice

SPARE_BYTES = 20_000_000  # of the disk: the package twice, what is in it, and what is learnt
SYNTHESISERS = ("starter", "espeak")  # both come with the program


def learn(phrase: str, step: Callable[[float], None] = lambda share: None) -> Path:
    """Fetch what is missing (2 MB), teach a phrase in some minutes, and keep it. `step` as of
    teach(). InvalidInput for a phrase that will not do; AssetError when something cannot be fetched
    or kept; ModelError.
    """
    phrase = normal(phrase)
    examine(phrase)
    with _keeping():
        _check_space()
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


def _check_space() -> None:
    """OSError; what a client of a registry says of a full disk tells nobody anything."""
    folder().mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(folder()).free < SPARE_BYTES:
        raise OSError(errno.ENOSPC, Translatable("the disk is full"))


@contextmanager
def _keeping() -> Iterator[None]:
    """Tells what the disk refuses."""
    try:
        yield
    except OSError as error:
        raise AssetError(
            "What teaching needs cannot be kept in {folder}: {error}.",
            hint="Make room or allow writing there, and teach the phrase again.",
            folder=folder(),
            error=error.strerror or error,
        ) from error


def _say(model: TtsModel, voice: Voice) -> Say:
    def say(text: str, rate: float) -> Pcm:
        script = Script(text, voice, constant(rate))
        pcm = np.concatenate(list(OfflineSynthesis(model, script).pcm()))
        heard: Pcm = soxr.resample(pcm, model.info.sample_rate, SAMPLE_RATE).astype(np.float32)
        return heard

    return say
