"""The recogniser of a server, for all its clients.

Invariant: one utterance at a time, handed over whole, because a recogniser opens one at a time; so
clients that speak at once take turns. It is loaded when the first of them speaks.
"""

from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from engine.asr.base import SAMPLE_RATE, Recogniser, Transcript
from engine.asr.completeness import Completeness
from engine.audio.clips.clip import read_clip
from engine.audio.pcm import Pcm, Resampler
from engine.audio.vad import Stretch, find_speech
from engine.errors import InvalidInput, ModelError
from engine.runtime.factories import Factories
from engine.serve.model_thread import ModelThread
from engine.settings import RecogniserSettings

LONGEST_S: Final = 900.0  # of a recording
_SEGMENT_S: Final = 20.0  # Whisper hears 30 s at once
_PAUSE_S: Final = 0.8  # that ends a segment


@dataclass(frozen=True)
class Segment:
    """What was said from `start_s` to `end_s` of a recording."""

    text: str
    start_s: float
    end_s: float
    language: str


class Ears:
    """Nothing is loaded before it is needed; stop() releases it."""

    def __init__(self, settings: RecogniserSettings, factories: Factories) -> None:
        self._settings = settings
        self._factories = factories
        self._thread = ModelThread("ears of the server")
        self._recogniser: Recogniser | None = None  # None = not loaded yet
        self._language = settings.language

    async def read(self, path: Path) -> Pcm:
        """A recording's samples [S] at 16 kHz, at most LONGEST_S of it. UnreadableClip."""
        return await self._thread.call(lambda: _read(path))

    async def transcript(self, pcm: Pcm, language: str = "") -> Transcript:
        """What is said in samples [S] at 16 kHz. `language` is a code, empty: the person's.
        InvalidInput for one that the recogniser does not know; RecogniserError, ModelError.
        """
        return await self._thread.call(lambda: self._hear(pcm, language))

    async def segments(self, pcm: Pcm, language: str = "") -> AsyncIterator[Segment]:
        """The same, stretch by stretch of speech, as soon as each was understood."""
        for part in await self._thread.call(lambda: tuple(_parts(find_speech(pcm)))):
            heard = await self.transcript(pcm[part.start : part.end], language)
            if heard.text:
                start_s, end_s = part.start / SAMPLE_RATE, part.end / SAMPLE_RATE
                yield Segment(heard.text, start_s, end_s, heard.language or self._language)

    async def completeness(self, text: str) -> Completeness:
        """How likely more follows."""
        return await self._thread.call(lambda: self._factories.completeness(self._settings)(text))

    def stop(self) -> bool:
        """False when its thread hangs."""
        return self._thread.stop(self._release)

    # ---------------------------------------------------------------- on the ears' thread

    def _hear(self, pcm: Pcm, language: str) -> Transcript:
        recogniser = self._ready(language or self._settings.language)
        recognition = recogniser.open()
        try:
            for at in range(0, len(pcm), SAMPLE_RATE):
                recognition.push(pcm[at : at + SAMPLE_RATE])
            return recognition.finish()
        finally:
            recognition.close()

    def _ready(self, language: str) -> Recogniser:
        if self._recogniser is None:
            self._recogniser = self._factories.recogniser(self._settings, self._factories.phrases())
        if language != self._language:
            try:
                self._recogniser.adjust(replace(self._settings, language=language))
            except ModelError as error:
                raise InvalidInput(error.message, hint=error.hint) from error
            self._language = language
        return self._recogniser

    def _release(self) -> None:
        if self._recogniser is not None:
            self._recogniser.close()
            self._recogniser = None


def _read(path: Path) -> Pcm:
    clip = read_clip(path, max_seconds=LONGEST_S)
    resampler = Resampler(clip.sample_rate, SAMPLE_RATE)
    return np.concatenate([resampler.push(clip.pcm), resampler.end()])


def _parts(stretches: Iterable[Stretch]) -> Iterator[Stretch]:
    """Neighbours joined, as far as they fit a segment; what is longer is cut."""
    joined: Stretch | None = None
    for stretch in stretches:
        if joined is not None and _belongs(joined, stretch):
            joined = Stretch(joined.start, stretch.end)
            continue
        if joined is not None:
            yield from _cut(joined)
        joined = stretch
    if joined is not None:
        yield from _cut(joined)


def _belongs(before: Stretch, stretch: Stretch) -> bool:
    pause, whole = stretch.start - before.end, stretch.end - before.start
    return pause < _PAUSE_S * SAMPLE_RATE and whole <= _SEGMENT_S * SAMPLE_RATE


def _cut(stretch: Stretch) -> Iterator[Stretch]:
    longest = round(_SEGMENT_S * SAMPLE_RATE)
    for start in range(stretch.start, stretch.end, longest):
        yield Stretch(start, min(start + longest, stretch.end))
