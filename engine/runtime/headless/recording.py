"""The speech of a chapter, its paragraphs one after another, each word with its place; and the
recording of a book's parts.

Invariant: one paragraph is synthesised at a time, so a long chapter costs no more memory than its
text. A part is complete or missing, and its samples do not depend on the thread that records it. A
thread has a model of its own.
"""

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Final

import numpy as np
import soundfile

from engine.atomic_write import replacement
from engine.audio.base import Pcm
from engine.errors import Cancelled, EngineError, InvalidInput
from engine.export import write_error
from engine.messages.reading import Chapter, Place
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
        text = " ".join(paragraph.text.split()[place.word :])
        request = replace(self._request, text=text)
        try:
            synthesis = OfflineSynthesis(self._model, request, self._clock)
        except InvalidInput:  # nothing in it is spoken
            return
        if self.pause:
            yield self._append(AudioFrame(np.zeros(self.pause, np.float32), 0), 0, 0)
        self._words_before += len(self._places)
        self._places = []
        first = self._samples
        for frame in synthesis.frames(wait):
            for onset in frame.onsets:
                word = place.word + text.count(" ", 0, synthesis.word(onset).start)
                at = replace(place, word=word)
                self._places.append(PlacedWord(**vars(synthesis.word(onset)), place=at))
            yield self._append(frame, first, self._words_before)
        pause_s = _PAUSES_S.get(paragraph.kind, _PAUSE_S)
        self.pause = round(pause_s * self._model.info.sample_rate)

    def _append(self, frame: AudioFrame, first: int, words_before: int) -> AudioFrame:
        """Return a frame with its position in the chapter instead of the paragraph."""
        onsets = (Onset(onset.word + words_before, onset.sample + first) for onset in frame.onsets)
        placed = replace(frame, sample=self._samples, onsets=tuple(onsets))
        self._samples += len(frame.pcm)
        return placed


log = logging.getLogger(__name__)

_CHARACTERS: Final = 1_500  # of a part: what a killed export makes again, and threads share
_MOST_THREADS: Final = 4  # a model takes memory

LoadedVoice = tuple[TtsModel, SpeechRequest]


@dataclass(frozen=True)
class Part:
    """Paragraphs of a chapter, from `first` to the one before `end`. `index`: of the chapter;
    `file`: of the sound.
    """

    index: int
    chapter: Chapter
    first: int
    end: int
    file: Path


@dataclass(frozen=True)
class Watch:
    """Callbacks of an export: `show` gets the finished share, 0..1."""

    show: Callable[[float], None] = lambda share: None
    cancelled: Callable[[], bool] = lambda: False

    def part(self, first: float, last: float) -> "Watch":
        """Return the callbacks of a step that is the work between two shares."""
        return Watch(lambda share: self.show(first + (last - first) * share), self.cancelled)


def parts_of(chapter: Chapter, index: int, folder: Path) -> list[Part]:
    """Divide a chapter into parts. Their paragraphs are in the names of their files, because a
    stopped export may have been divided otherwise.
    """
    starts: list[int] = []
    length = 0
    for number, paragraph in enumerate(chapter.paragraphs):
        if not starts or length + len(paragraph.text) > _CHARACTERS:
            starts.append(number)
            length = 0
        length += len(paragraph.text)
    return [
        Part(index, chapter, first, end, folder / f"{index:05}-{first:05}-{end:05}.flac")
        for first, end in pairwise([*starts, len(chapter.paragraphs)])
    ]


def record(
    parts: Sequence[Part],
    voice: LoadedVoice,
    load_again: Callable[[], AbstractContextManager[LoadedVoice]],
    watch: Watch,
) -> None:
    """Record the parts that are missing, on several threads if models of this kind can speak side
    by side; `load_again` loads another one. If it cannot, there is one thread fewer. Cancelled.
    InvalidInput if the disk refuses.
    """
    missing = [part for part in parts if not part.file.exists()]
    threads = min(_MOST_THREADS, os.cpu_count() or 1, len(missing))
    helpers = threads - 1 if voice[0].info.side_by_side else 0
    waiting = iter(missing)  # a list's iterator may be shared by threads
    faults: list[BaseException] = []  # the first one stops all threads

    def is_cancelled() -> bool:
        return bool(faults) or watch.cancelled()

    def help_out() -> None:
        with ExitStack() as stack:
            try:
                other = stack.enter_context(load_again())
            except EngineError as error:
                log.warning("The export has one thread fewer: %s", error)
                return
            if other[0].info.voice_model != voice[0].info.voice_model:
                return  # another voice, which replaces one that does not load
            try:
                for part in waiting:
                    _write(part, other, is_cancelled)
            except Exception as error:
                faults.append(error)
                raise

    with ThreadPoolExecutor(max(1, helpers)) as pool:
        try:
            futures = [pool.submit(help_out) for _ in range(helpers)]
            for part in waiting:
                _write(part, voice, is_cancelled)
                watch.show(sum(each.file.exists() for each in parts) / len(parts))
            for future in futures:
                future.result()
        except BaseException as error:
            faults.append(error)
            if isinstance(error, Cancelled):
                raise faults[0] from None
            raise


def _write(part: Part, voice: LoadedVoice, is_cancelled: Callable[[], bool]) -> None:
    chapter = replace(part.chapter, paragraphs=part.chapter.paragraphs[: part.end])
    speech = ChapterSpeech(*voice, chapter, Place(part.index, part.first))
    sample_rate = voice[0].info.sample_rate
    try:
        with (
            replacement(part.file) as temporary,
            soundfile.SoundFile(
                temporary, "w", sample_rate, channels=1, format="FLAC", subtype="PCM_16"
            ) as file,
        ):
            for pcm in speech.pcm():
                if is_cancelled():
                    raise Cancelled("The export was cancelled.")
                file.write(np.clip(pcm, -1, 1))
            file.write(np.zeros(speech.pause, np.float32))
    except (OSError, soundfile.SoundFileError) as error:
        raise write_error(part.file, error) from error
