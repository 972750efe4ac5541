"""The recogniser of a server, for all its clients.

Invariant: one utterance at a time, handed over whole, because a recogniser opens one at a time; so
clients that speak at once take turns. It is loaded when the first of them speaks.
"""

from collections.abc import AsyncIterator, Iterable
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
_SEGMENT: Final = 20 * SAMPLE_RATE  # samples; Whisper hears 30 s at once
_PAUSE: Final = SAMPLE_RATE * 4 // 5  # samples that end a segment


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
        self._thread = ModelThread(
            "ears of the server", lambda: factories.recogniser(settings, factories.phrases())
        )
        self._language = settings.language

    async def read(self, path: Path) -> Pcm:
        """A recording's samples [S] at 16 kHz, at most LONGEST_S of it. UnreadableClip."""
        return await self._thread.call(lambda recogniser: _read(path))

    async def transcript(self, pcm: Pcm, language: str = "") -> Transcript:
        """What is said in samples [S] at 16 kHz. `language` is a code, empty: the person's.
        InvalidInput for one that the recogniser does not know; RecogniserError, ModelError.
        """
        return await self._thread.call(lambda recogniser: self._hear(recogniser, pcm, language))

    async def segments(self, pcm: Pcm, language: str = "") -> AsyncIterator[Segment]:
        """The same, stretch by stretch of speech, as soon as each was understood."""
        for part in await self._thread.call(lambda recogniser: _parts(find_speech(pcm))):
            heard = await self.transcript(pcm[part.start : part.end], language)
            if heard.text:
                start_s, end_s = part.start / SAMPLE_RATE, part.end / SAMPLE_RATE
                yield Segment(heard.text, start_s, end_s, heard.language or self._language)

    async def completeness(self, text: str) -> Completeness:
        """How likely more follows."""
        judge = self._factories.completeness
        return await self._thread.call(lambda recogniser: judge(self._settings)(text))

    def stop(self) -> bool:
        """False when its thread hangs."""
        return self._thread.stop()

    def _hear(self, recogniser: Recogniser, pcm: Pcm, language: str) -> Transcript:
        self._listen_for(recogniser, language or self._settings.language)
        recognition = recogniser.open()
        try:
            for at in range(0, len(pcm), SAMPLE_RATE):
                recognition.push(pcm[at : at + SAMPLE_RATE])
            return recognition.finish()
        finally:
            recognition.close()

    def _listen_for(self, recogniser: Recogniser, language: str) -> None:
        if language == self._language:
            return
        try:
            recogniser.adjust(replace(self._settings, language=language))
        except ModelError as error:
            raise InvalidInput(error.message, hint=error.hint) from error
        self._language = language


def _read(path: Path) -> Pcm:
    clip = read_clip(path, max_seconds=LONGEST_S)
    resampler = Resampler(clip.sample_rate, SAMPLE_RATE)
    return np.concatenate([resampler.push(clip.pcm), resampler.end()])


def _parts(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Neighbours joined, as far as they fit a segment; longer ones are cut."""
    joined: list[Stretch] = []
    for each in stretches:
        near = bool(joined) and each.start - joined[-1].end < _PAUSE
        if near and each.end - joined[-1].start <= _SEGMENT:
            joined[-1] = Stretch(joined[-1].start, each.end)
        else:
            joined.append(each)
    return [
        Stretch(start, min(start + _SEGMENT, each.end))
        for each in joined
        for start in range(each.start, each.end, _SEGMENT)
    ]
