"""Record the parts of a book.

Invariant: a part is complete or missing, and its samples do not depend on the thread that records
it. A thread has a model of its own.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from threading import Event
from typing import Final

import numpy as np
import soundfile

from engine.errors import Cancelled
from engine.export.documents import write_error
from engine.messages.reading import Chapter, Place
from engine.runtime.headless.chapter_speech import ChapterSpeech
from engine.runtime.headless.offline_synthesis import SpeechRequest
from engine.tts.base import TtsModel

_CHARACTERS: Final = 1_500  # of a part: what a killed export makes again, and threads share
_MOST_THREADS: Final = 4  # a model takes memory

LoadedVoice = tuple[TtsModel, SpeechRequest]


@dataclass(frozen=True)
class Part:
    """Paragraphs of a chapter, from `first` to the end of `chapter`, which is cut there. `index`:
    of the chapter; `file`: of the sound.
    """

    index: int
    chapter: Chapter
    first: int
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
    """Divide a chapter into parts."""
    paragraphs = chapter.paragraphs
    starts: list[int] = []
    length = 0
    for number, paragraph in enumerate(paragraphs):
        if not starts or length + len(paragraph.text) > _CHARACTERS:
            starts.append(number)
            length = 0
        length += len(paragraph.text)
    return [
        Part(
            index,
            replace(chapter, paragraphs=paragraphs[:end]),
            start,
            folder / f"{index:05}-{number:05}.flac",
        )
        for number, (start, end) in enumerate(pairwise([*starts, len(paragraphs)]))
    ]


def record(
    parts: Sequence[Part],
    voice: LoadedVoice,
    load_again: Callable[[], AbstractContextManager[LoadedVoice]],
    watch: Watch,
) -> None:
    """Record the parts that are missing, on several threads if models of this kind can speak side
    by side; `load_again` loads another one. Cancelled. InvalidInput if the disk refuses.
    """
    missing = [part for part in parts if not part.file.exists()]
    threads = min(_MOST_THREADS, os.cpu_count() or 1, len(missing))
    helpers = threads - 1 if voice[0].info.side_by_side else 0
    waiting = iter(missing)  # a list's iterator may be shared by threads
    stopped = Event()

    def is_cancelled() -> bool:
        return stopped.is_set() or watch.cancelled()

    def help_out() -> None:
        with load_again() as other:
            for part in waiting:
                _write(part, other, is_cancelled)

    with ThreadPoolExecutor(max(1, helpers)) as pool:
        try:
            futures = [pool.submit(help_out) for _ in range(helpers)]
            for part in waiting:
                _write(part, voice, is_cancelled)
                watch.show(sum(each.file.exists() for each in parts) / len(parts))
            for future in futures:
                future.result()
        except BaseException:
            stopped.set()
            raise


def _write(part: Part, voice: LoadedVoice, is_cancelled: Callable[[], bool]) -> None:
    speech = ChapterSpeech(*voice, part.chapter, Place(part.index, part.first))
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
