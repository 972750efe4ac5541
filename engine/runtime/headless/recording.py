"""Record the parts of a book.

Invariant: a part is complete or missing, and its samples do not depend on the thread that records
it. A thread has a model of its own.
"""

import logging
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
import soundfile

from engine.errors import Cancelled, EngineError
from engine.export.documents import write_error
from engine.messages.reading import Chapter, Place
from engine.runtime.headless.chapter_speech import ChapterSpeech
from engine.runtime.headless.offline_synthesis import SpeechRequest
from engine.tts.base import TtsModel

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
    temporary = part.file.with_suffix(".part")
    try:
        with soundfile.SoundFile(
            temporary, "w", sample_rate, channels=1, format="FLAC", subtype="PCM_16"
        ) as file:
            for pcm in speech.pcm():
                if is_cancelled():
                    raise Cancelled("The export was cancelled.")
                file.write(np.clip(pcm, -1, 1))
            file.write(np.zeros(speech.pause, np.float32))
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        temporary.replace(part.file)
    except (OSError, soundfile.SoundFileError) as error:
        raise write_error(part.file, error) from error
