"""Read a document aloud from its place, or export it as an audio book, without a window.

Invariant: the place is saved while it is read, at the end and after every fault. An export keeps
the parts that are ready, so the same export goes on where it was stopped or killed; its file is
complete or missing.
"""

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Final

import soundfile
from filelock import FileLock, Timeout

from engine import settings_file
from engine.errors import Cancelled, InvalidInput
from engine.export import write_error
from engine.messages.reading import Chapter, Paragraph, Place
from engine.reading.audiobook import RecordedChapter, check_suffix, write_book
from engine.reading.document import Document
from engine.reading.shelf import Shelf
from engine.runtime.factories import Factories, standard_factories
from engine.runtime.headless.offline_synthesis import Clock, SpeechRequest, constant, parse
from engine.runtime.headless.recording import (
    ChapterSpeech,
    LoadedVoice,
    Part,
    Watch,
    parts_of,
    record,
)
from engine.runtime.headless.say_command import (
    check_writable,
    loaded_voice,
    opened_loudspeaker,
    play,
)
from engine.runtime.turn.places import PlacedWord
from engine.settings import AUTO, SayOptions, Settings
from engine.text.word import Word
from engine.tts.base import TtsModel

_LEAD_MS: Final = 1_000  # a paragraph may need this long to its first sample on a busy machine
_SAVE_S: Final = 5.0  # of speech, between two saved places
_FORGOTTEN_S: Final = 30 * 24 * 3600.0  # age of an unfinished export
_RECIPE: Final = 2  # raise it when the same document would sound different
_LOOKED_AT: Final = 3  # paragraphs, for the language
_RECORDING: Final = 0.95  # of the time of an export; the rest encodes the file


@dataclass(frozen=True)
class ReadingOptions:
    """`voice`: a name or a file, None = as in the settings. `rate`: SPS, None = the same.
    `start`, `end`: the first chapter and the one behind the last, None = from the place that is
    kept, or all for an export. `language`: that the document states.
    """

    voice: str | None = None
    rate: float | None = None
    start: int | None = None
    end: int | None = None
    language: str | None = None


class PlaceKeeper:
    """Saves the place of the words of a document that were heard."""

    def __init__(
        self,
        document: Document,
        shelf: Shelf,
        show: Callable[[str, Paragraph], None] = lambda title, paragraph: None,
        clock: Clock | None = None,
    ) -> None:
        """`show` gets each paragraph as it begins, with the title of its chapter."""
        self.document = document
        self.place = document.existing(shelf.place(document.key))
        self._shelf = shelf
        self._show = show
        self._clock = clock or Clock()
        self._saved_at = self._clock.now()
        self._shown: tuple[int, int] | None = None

    def hear(self, word: Word) -> None:
        """Note a word that has become audible."""
        assert isinstance(word, PlacedWord), "ChapterSpeech makes no other"
        self.place = word.place
        paragraph = (self.place.chapter, self.place.paragraph)
        if paragraph != self._shown:
            self._shown = paragraph
            chapter = self.document.chapter(self.place.chapter)
            self._show(chapter.title, chapter.paragraphs[self.place.paragraph])
        if self._clock.now() - self._saved_at >= _SAVE_S:
            with suppress(InvalidInput):  # it is said at the end, and the reading goes on
                self.save()

    def save(self) -> None:
        self._saved_at = self._clock.now()
        self._shelf.save_place(self.document, self.place, time.time())


def read_aloud(
    keeper: PlaceKeeper,
    settings: Settings,
    options: ReadingOptions,
    *,
    factories: Factories | None = None,
    clock: Clock | None = None,
) -> None:
    """Read a document from the place that is kept, or from a chapter. Raises only EngineErrors, and
    errors of the keeper's `show`.
    """
    factories = factories or standard_factories()
    document = keeper.document
    if options.start is not None:
        keeper.place = Place(options.start)
    start = keeper.place
    with (
        _opened(settings, document.chapter(start.chapter), options, factories) as (model, request),
        opened_loudspeaker(settings, factories) as loudspeaker,
    ):
        try:
            for index in range(start.chapter, len(document.chapter_titles)):
                begin = start if index == start.chapter else Place(index)
                play(
                    ChapterSpeech(model, request, document.chapter(index), begin, clock),
                    loudspeaker,
                    sample_rate=model.info.sample_rate,
                    lead_ms=max(_LEAD_MS, settings.audio.lead_ms, model.info.lead_ms),
                    clock=clock,
                    heard=keeper.hear,
                )
            keeper.place = Place()  # read to the end: next time from the beginning
        finally:
            keeper.save()


def export_book(
    document: Document,
    out: Path,
    settings: Settings,
    options: ReadingOptions,
    watch: Watch | None = None,
    *,
    factories: Factories | None = None,
) -> float:
    """Write a document, or some chapters, as a sound file with chapter marks; return its length in
    seconds. The format is that of the suffix. Raises only EngineErrors (Cancelled too), and errors
    of `watch`; the same export goes on afterwards.
    """
    watch = watch or Watch()
    recording, encoding = watch.part(0, _RECORDING), watch.part(_RECORDING, 1)
    check_suffix(out)
    check_writable(out)
    first, end = options.start or 0, options.end or len(document.chapter_titles)
    factories = factories or standard_factories()
    with _opened(settings, document.chapter(first), options, factories) as voice:
        model, request = voice
        folder = _parts_folder(document, model, request)
        try:
            lock = FileLock(folder / "lock").acquire(timeout=0)
        except Timeout as error:
            raise InvalidInput(
                "This document is being exported already.", hint="Wait until that is done."
            ) from error
        with lock:
            parts: list[Part] = []
            for index in range(first, end):
                if watch.cancelled():
                    raise Cancelled("The export was cancelled.")
                parts += parts_of(document.chapter(index), index, folder)
            load_again = partial(_opened, settings, document.chapter(first), options, factories)
            record(parts, voice, load_again, recording)
            chapters = _recorded(document, parts)
            if not chapters:
                raise InvalidInput("These chapters contain no text.", hint="Choose others.")
            metadata = {"title": document.title, "artist": document.author, "genre": "Audiobook"}
            write_book(out, chapters, metadata, show=encoding.show, cancelled=encoding.cancelled)
            lengths = [soundfile.info(part).duration for each in chapters for part in each.parts]
            shutil.rmtree(folder, ignore_errors=True)
    return float(sum(lengths))


def _recorded(document: Document, parts: Sequence[Part]) -> list[RecordedChapter]:
    """Return the chapters that have sound."""
    chapters = []
    for index, group in groupby(parts, lambda part: part.index):
        files = tuple(part.file for part in group if soundfile.info(part.file).frames)
        if files:
            chapters.append(RecordedChapter(document.chapter_titles[index], files))
    return chapters


def _parts_folder(document: Document, model: TtsModel, request: SpeechRequest) -> Path:
    """Return the folder of the parts of this document in this voice, at this rate. Folders of
    forgotten exports are removed.
    """
    voice = request.voice
    same = [_RECIPE, document.key, model.info.voice_model, voice.name, dict(voice.metadata)]
    same += [repr(request.plan), request.seed, request.pacing]
    name = hashlib.sha256(json.dumps(same, default=str).encode()).hexdigest()[:32]
    exports = settings_file.data_folder() / "reading" / "exports"
    try:
        (exports / name).mkdir(parents=True, exist_ok=True, mode=0o700)
        os.utime(exports / name)
        for other in exports.iterdir():
            if time.time() - other.stat().st_mtime > _FORGOTTEN_S:
                shutil.rmtree(other, ignore_errors=True)
    except OSError as error:
        raise write_error(exports, error) from error
    return exports / name


def _opened(
    settings: Settings, chapter: Chapter, options: ReadingOptions, factories: Factories
) -> AbstractContextManager[LoadedVoice]:
    """Load the synthesiser and the voice: that of the options, or one for the language of the
    settings, of the document, or else of the chapter's text; release it afterwards.
    """
    speech = settings.speech
    # parse() refuses a rate that no voice speaks
    plan = constant(speech.rate) if options.rate is None else parse(f"0:{options.rate}")
    text = " ".join(each.text for each in chapter.paragraphs[:_LOOKED_AT])
    stated = options.language if speech.language == AUTO else speech.language
    how = SayOptions(voice=options.voice)
    return loaded_voice(text, speech, how, factories, plan, stated)
