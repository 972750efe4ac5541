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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import soundfile
from filelock import FileLock, Timeout

from engine import settings_file
from engine.errors import Cancelled, InvalidInput
from engine.export.documents import write_error
from engine.messages.reading import Chapter, Paragraph, Place
from engine.reading.audiobook import RecordedChapter, check_suffix, write_book
from engine.reading.document import Document
from engine.reading.shelf import Shelf
from engine.runtime.factories import Factories, standard_factories
from engine.runtime.headless import rate_plan
from engine.runtime.headless.chapter_speech import ChapterSpeech
from engine.runtime.headless.offline_synthesis import Clock, SpeechRequest
from engine.runtime.headless.say_command import (
    check_writable,
    load_synthesiser,
    play,
    voice_of_text,
)
from engine.runtime.turn.places import PlacedWord
from engine.settings import AUTO, SayOptions, Settings
from engine.text.word import Word
from engine.tts.base import TtsModel

_LEAD_MS: Final = 1_000  # a paragraph may need this long to its first sample on a busy machine
_SAVE_S: Final = 5.0  # of speech, between two saved places
_PART: Final = 3_000  # characters of a part, some three minutes, which a killed export makes again
_FORGOTTEN_S: Final = 30 * 24 * 3600.0  # age of an unfinished export
_RECIPE: Final = 1  # raise it when the same document would sound different
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


@dataclass(frozen=True)
class Watch:
    """Callbacks of an export: `show` gets the finished share, 0..1."""

    show: Callable[[float], None] = lambda share: None
    cancelled: Callable[[], bool] = lambda: False


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
    with _opened(settings, document.chapter(start.chapter), options, factories) as (model, request):
        loudspeaker = factories.loudspeaker(settings.audio.loudspeaker)
        try:
            loudspeaker.gain = settings.audio.volume
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
            loudspeaker.close()
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
    whole = watch or Watch()
    watch = Watch(lambda share: whole.show(_RECORDING * share), whole.cancelled)
    check_suffix(out)
    check_writable(out)
    first, end = options.start or 0, options.end or len(document.chapter_titles)
    factories = factories or standard_factories()
    with _opened(settings, document.chapter(first), options, factories) as voice:
        model, request = voice
        folder = _parts_folder(document, model, request)
        with _locked(folder):
            chapters = []
            for index in range(first, end):
                share = Watch(_share(watch.show, index - first, end - first), watch.cancelled)
                parts = _record(document.chapter(index), index, folder, voice, share)
                if parts:
                    chapters.append(RecordedChapter(document.chapter_titles[index], parts))
            if not chapters:
                raise InvalidInput("These chapters contain no text.", hint="Choose others.")
            metadata = {"title": document.title, "artist": document.author, "genre": "Audiobook"}

            def show(share: float) -> None:
                whole.show(_RECORDING + (1 - _RECORDING) * share)

            write_book(out, chapters, metadata, show=show, cancelled=watch.cancelled)
            lengths = [soundfile.info(part).duration for each in chapters for part in each.parts]
            shutil.rmtree(folder, ignore_errors=True)
    return float(sum(lengths))


def _share(show: Callable[[float], None], done: int, count: int) -> Callable[[float], None]:
    return lambda share: show((done + share) / count)


def _record(
    chapter: Chapter,
    index: int,
    folder: Path,
    voice: tuple[TtsModel, SpeechRequest],
    watch: Watch,
) -> tuple[Path, ...]:
    """Record the parts of a chapter that are not there yet; return them all."""
    groups = _groups(chapter.paragraphs)
    parts = []
    for number, (first, last) in enumerate(groups):
        part = folder / f"{index:05}-{number:05}.flac"
        if not part.exists():
            limited = replace(chapter, paragraphs=chapter.paragraphs[:last])
            speech = ChapterSpeech(*voice, limited, Place(index, first))
            _write_part(part, speech, voice[0].info.sample_rate, watch.cancelled)
        if soundfile.info(part).frames:
            parts.append(part)
        watch.show((number + 1) / len(groups))
    return tuple(parts)


def _groups(paragraphs: Sequence[Paragraph]) -> list[tuple[int, int]]:
    """Divide paragraphs into parts: (first, behind the last)."""
    groups: list[tuple[int, int]] = []
    length = 0
    for index, paragraph in enumerate(paragraphs):
        if not groups or length + len(paragraph.text) > _PART:
            groups.append((index, index))
            length = 0
        groups[-1] = (groups[-1][0], index + 1)
        length += len(paragraph.text)
    return groups


def _write_part(
    path: Path, speech: ChapterSpeech, sample_rate: int, cancelled: Callable[[], bool]
) -> None:
    temporary = path.with_suffix(".part")
    try:
        with soundfile.SoundFile(
            temporary, "w", sample_rate, channels=1, format="FLAC", subtype="PCM_16"
        ) as file:
            for pcm in speech.pcm():
                if cancelled():
                    raise Cancelled("The export was cancelled.")
                file.write(np.clip(pcm, -1, 1))
            file.write(np.zeros(speech.pause, np.float32))
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        temporary.replace(path)
    except (OSError, soundfile.SoundFileError) as error:
        raise write_error(path, error) from error


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


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the folder of the parts. InvalidInput if another export does."""
    try:
        with FileLock(folder / "lock", timeout=0):
            yield
    except Timeout as error:
        raise InvalidInput(
            "This document is being exported already.", hint="Wait until that is done."
        ) from error


@contextmanager
def _opened(
    settings: Settings,
    chapter: Chapter,
    options: ReadingOptions,
    factories: Factories,
) -> Iterator[tuple[TtsModel, SpeechRequest]]:
    """Load the synthesiser and the voice: that of the options, or one for the language of the
    settings, of the document, or else of the chapter's text; release it afterwards.
    """
    speech = settings.speech
    plan = rate_plan.constant(speech.rate)
    if options.rate is not None:
        plan = rate_plan.parse(f"0:{options.rate}")  # refuses a rate that no voice speaks
    model = load_synthesiser(speech, factories)
    try:
        text = " ".join(each.text for each in chapter.paragraphs[:_LOOKED_AT])
        stated = options.language if speech.language == AUTO else speech.language
        if options.voice or all(voice.language != stated for voice in model.voices()):
            stated = None
        how = SayOptions(voice=options.voice, language=stated)
        voice = voice_of_text(model, text, speech, how)
        model.warm(voice)
        yield model, SpeechRequest("", voice, plan, speech.seed, pacing=speech.pacing)
    finally:
        model.close()
