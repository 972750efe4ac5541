"""The open document: its chapters, the words that are read next, and the list of documents.

Invariant: of a document only the chapters that it keeps are in memory, and one section. A section
is one reply and goes straight to the speaker, never to the language model's thread.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from engine.errors import EngineError, InvalidInput
from engine.languages import ENGLISH
from engine.llm.base import AssistantState
from engine.messages import reading
from engine.messages.events import Failed, Notice
from engine.messages.words import Ending
from engine.names_file import in_force
from engine.runtime.factories import Factories
from engine.runtime.turn.facts import DocumentEnded, ReplyEnded, SectionBegun, WordsReady
from engine.runtime.turn.places import Book, Section
from engine.runtime.turn.reply import Reply
from engine.runtime.workers.voice.orders import SayWords, SpeechOrder
from engine.runtime.workers.worker import Actor, Tell
from engine.settings import AUTO
from engine.text.paced import PacedText
from engine.text.speakable import LEFT_OUT

if TYPE_CHECKING:  # a start opens no document
    from engine.reading.document import Document
    from engine.reading.shelf import Shelf

SHELF = Path("reading", "documents.json")  # beside the saved conversations


@dataclass(frozen=True)
class ReadSection:
    """Speak the next section as `reply`; None = only go to its place. `start`: None = where the
    last section ended; before `skip` is applied, where it began.
    """

    reply: Reply | None
    start: reading.Place | None = None
    skip: reading.SkipReading | None = None


@dataclass(frozen=True)
class KeepPlace:
    """`key`: of the document that the place is in, which may no longer be the open one."""

    key: str
    place: reading.Place


ReaderTask = reading.DocumentCommand | ReadSection | KeepPlace


class Reader(Actor[ReaderTask]):
    """Owns the open document and the list of documents."""

    def __init__(
        self,
        factories: Factories,
        tell: Tell,
        say: Callable[[SpeechOrder], None],
        state: Callable[[], AssistantState],
    ) -> None:
        super().__init__("reader", tell)
        self._factories = factories
        self._say = say
        self._state = state
        self._kept: Shelf | None = None  # None = not loaded
        self._document: Document | None = None  # None = none is open
        self._begun = self._next = reading.Place()  # of the last section, and the place behind it
        self._reply: Reply | None = None  # of the section that is being prepared
        self._noted = False  # that some words cannot be spoken
        self._refused = False  # the disk has refused a place of this document
        self._private = False  # neither this document nor its place is saved

    def _handle(self, task: ReaderTask) -> None:
        match task:
            case reading.OpenDocument():
                self._open(task)
            case reading.CloseDocument():
                self._close()
                self._tell(reading.DocumentClosed())
            case reading.ShowChapter(number):
                if self._document is not None and 0 <= number < self._book.count:
                    chapter = self._document.chapter(number)
                    self._tell(reading.ChapterShown(self._document.key, number, chapter))
            case reading.ListDocuments():
                self._list()
            case reading.RemoveDocument(key):
                self._remove(key)
            case ReadSection():
                self._read(task)
            case KeepPlace(key, place):
                if self._document is not None and self._document.key == key:
                    self._keep(place)
            case _:
                assert_never(task)

    @property
    def _shelf(self) -> "Shelf | None":
        """The list of documents; None where nothing is saved."""
        history = self._factories.history
        if self._kept is None and history is not None:
            self._kept = self._factories.shelf(history.parent / SHELF)
        return self._kept

    @property
    def _book(self) -> Book:
        return Book(len(self._document.chapter_titles) if self._document else 0, self._chapter)

    def _open(self, order: reading.OpenDocument) -> None:
        try:
            document: Document = self._factories.open_document(order.path)
        except EngineError as error:
            self._tell(reading.DocumentRefused(order.path.name, error.message, error.hint))
            raise
        self._close()
        self._document, self._private, shelf = document, order.private, self._shelf
        place = reading.Place() if shelf is None else document.existing(shelf.place(document.key))
        self._begun = self._next = place
        self._keep(place)
        about = (document.key, document.title, document.author, document.language or "")
        how = (order.path, order.aloud, order.private)
        self._tell(reading.DocumentOpened(*about, document.chapter_titles, place, *how))
        self._list()

    def _close(self) -> None:
        self._document = None
        self._noted = self._refused = False

    def _list(self) -> None:
        self._tell(reading.DocumentsListed(() if self._shelf is None else self._shelf.entries()))

    def _remove(self, key: str) -> None:
        if self._document is not None and self._document.key == key:
            self._close()
            self._tell(reading.DocumentClosed())
        if self._shelf is not None:
            self._shelf.remove(key)
        self._list()

    def _keep(self, place: reading.Place) -> None:
        """Save the place. A disk that refuses it is reported once, and the reading goes on."""
        if self._document is None or self._shelf is None or self._private:
            return
        try:
            self._shelf.save_place(self._document, place, time.time())
        except InvalidInput as error:
            if not self._refused:
                self._refused = True
                self._tell(Failed.of(error))

    def _chapter(self, number: int) -> reading.Chapter:
        if self._document is None:
            raise no_document()
        return self._document.chapter(number)

    def _read(self, task: ReadSection) -> None:
        self._reply, book = task.reply, self._book  # until it has words, or has failed
        place = task.start or (self._begun if task.skip else self._next)
        if task.skip is not None:
            place = book.skipped(place, task.skip)
        place = book.audible(place)
        if task.reply is None:
            if place.chapter == book.count:  # beyond the end: stay
                place = task.start or self._begun
            self._begun = self._next = place
            self._keep(place)
            self._tell(reading.PlaceReached(place))
        else:
            self._speak(task.reply, place)
        self._reply = None

    def _speak(self, reply: Reply, place: reading.Place) -> None:
        """Speak the first section from `place` on that has words."""
        book = self._book
        self._begun = place  # another skip counts from here, even if this one is never spoken
        while (section := book.section(place)) is not None and reply.ending is None:
            reply.move()
            self._begun, self._next = place, section.behind
            if self._say_section(reply, section):
                return
            place = book.audible(section.behind)
        if section is None:
            self._begun = self._next = reading.Place()
            self._tell(DocumentEnded(reply.turn))

    def _say_section(self, reply: Reply, section: Section) -> bool:
        """Send the words of a section to the speaker, those of its first sentence first; return
        whether there are any.
        """
        text, said = self._text(paced=reply.paced), False
        for part, last in zip(section.texts, (False, True), strict=True):
            words = text.push(part).words + (text.end().words if last else ())
            placed = section.placed(words)
            if placed and not said:
                said = True
                self._tell(SectionBegun(reply.turn, section.paragraph, placed[0].place))
            if said:
                self._tell(WordsReady(reply.turn, placed, time.monotonic()))
                self._say(SayWords(reply, placed, last, text.language or ENGLISH))
        if text.left_out and not self._noted:
            self._noted = True
            self._tell(Notice(LEFT_OUT))
        return said

    def _text(self, *, paced: bool) -> PacedText:
        """The text of a section in the chosen language, that of the document, or the one that the
        text is in.
        """
        now = self._state()
        language = self._document.language if self._document is not None else None
        usual = language if language is not None and language in now.languages else ENGLISH
        chosen = now.settings.speech.language
        possible = () if language else now.languages
        if chosen != AUTO:
            usual, possible = chosen, ()
        return PacedText(pacing=paced, usual=usual, possible=possible, names=in_force())

    def _unknown(self, error: Exception) -> EngineError:
        return InvalidInput(
            "The document cannot be read: {error}", hint="Try another one.", error=error
        )

    def _fail(self, error: EngineError) -> None:
        """Report the fault, and end the reply that had no words yet."""
        reply, self._reply = self._reply, None
        turn = None if reply is None or reply.ending is not None else reply.turn
        self._tell(Failed.of(error, turn=turn))
        if reply is not None and reply.end(Ending.FAILED):
            self._tell(ReplyEnded(reply.turn, Ending.FAILED))


def no_document() -> InvalidInput:
    return InvalidInput("No document is open.", hint="Open one first.")
