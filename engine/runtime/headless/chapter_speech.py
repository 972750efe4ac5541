"""The speech of a chapter: its paragraphs one after another, each word with its place.

Invariant: one paragraph is synthesised at a time, so a long chapter costs no more memory than its
text.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

import numpy as np

from engine.audio.base import Pcm
from engine.errors import InvalidInput
from engine.messages.reading import Chapter, Paragraph, Place
from engine.reading.parsers.blocks import Kind
from engine.runtime.headless.offline_synthesis import Clock, OfflineSynthesis, SpeechRequest
from engine.runtime.turn.places import PlacedWord
from engine.tts.base import AudioFrame, Onset, TtsModel

# Seconds of silence behind a paragraph.
_PAUSES_S: Final[Mapping[str, float]] = MappingProxyType({Kind.HEADING: 0.7, Kind.TABLE: 0.15})
_PAUSE_S: Final = 0.4


class ChapterSpeech:
    """The speech of a chapter from a place on. Iterate frames(), or pcm(), once."""

    def __init__(
        self,
        model: TtsModel,
        request: SpeechRequest,
        chapter: Chapter,
        start: Place,
        clock: Clock | None = None,
    ) -> None:
        """`request` is what each paragraph is spoken with; its text is not used. `pause` is the
        silence (samples) that belongs behind the last paragraph.
        """
        self._model = model
        self._request = request
        self._chapter = chapter
        self._start = start
        self._clock = clock
        self._places: list[PlacedWord] = []  # of the current paragraph
        self._words_before = 0  # in earlier paragraphs
        self._samples = 0
        self.pause = 0  # samples of silence before the next paragraph

    def frames(self, wait: Callable[[float], None] | None = None) -> Iterator[AudioFrame]:
        """Yield every frame as soon as it is made."""
        for index in range(self._start.paragraph, len(self._chapter.paragraphs)):
            word = self._start.word if index == self._start.paragraph else 0
            yield from self._paragraph(Place(self._start.chapter, index, word), wait)

    def pcm(self) -> Iterator[Pcm]:
        """Yield the samples [S] of every frame."""
        return (frame.pcm for frame in self.frames())

    def word(self, onset: Onset) -> PlacedWord:
        """Return the word of an onset of the last frame."""
        return self._places[onset.word - self._words_before]

    def _paragraph(
        self, place: Place, wait: Callable[[float], None] | None
    ) -> Iterator[AudioFrame]:
        paragraph = self._chapter.paragraphs[place.paragraph]
        synthesis = self._synthesis(paragraph, place.word)
        if synthesis is None:
            return
        if self.pause:
            yield self._append(AudioFrame(np.zeros(self.pause, np.float32), 0), 0, 0)
        self._words_before += len(self._places)
        self._places = []
        first = self._samples
        for frame in synthesis.frames(wait):
            for onset in frame.onsets:
                self._places.append(_placed(synthesis, onset, place, paragraph))
            yield self._append(frame, first, self._words_before)
        pause_s = _PAUSES_S.get(paragraph.kind, _PAUSE_S)
        self.pause = round(pause_s * self._model.info.sample_rate)

    def _synthesis(self, paragraph: Paragraph, word: int) -> OfflineSynthesis | None:
        """Return the synthesis of a paragraph from a word on; None if nothing in it is spoken."""
        text = " ".join(paragraph.text.split()[word:])
        try:
            return OfflineSynthesis(self._model, replace(self._request, text=text), self._clock)
        except InvalidInput:
            return None

    def _append(self, frame: AudioFrame, first: int, words_before: int) -> AudioFrame:
        """Return a frame with its position in the chapter instead of the paragraph."""
        onsets = (Onset(onset.word + words_before, onset.sample + first) for onset in frame.onsets)
        placed = replace(frame, sample=self._samples, onsets=tuple(onsets))
        self._samples += len(frame.pcm)
        return placed


def _placed(
    synthesis: OfflineSynthesis, onset: Onset, place: Place, paragraph: Paragraph
) -> PlacedWord:
    spoken = synthesis.word(onset)
    text = " ".join(paragraph.text.split()[place.word :])
    word = place.word + text.count(" ", 0, spoken.start)
    return PlacedWord(**vars(spoken), place=replace(place, word=word))
