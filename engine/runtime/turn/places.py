"""Places in a document: the part that is read next, and skipping by sentence, paragraph or chapter.

Invariant: pure; chapters come from a function, because a document parses them when they are needed.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from engine.messages.reading import Chapter, Paragraph, Place, SkipReading, Unit
from engine.text.word import Word

SECTION_WORDS = 150  # of a long paragraph, up to the end of a sentence
SILENT_KINDS = ("note",)  # read only from a place in them
NEAR_WORDS = 3  # this close to its beginning, going back means the one before
_WORD = re.compile(r"\S+")
_BEGINNING = Place()


@dataclass(frozen=True)
class PlacedWord(Word):
    """A spoken word and its place in the document."""

    place: Place = _BEGINNING


@dataclass(frozen=True)
class Section:
    """A part of a paragraph that is spoken as one reply, and the place behind it. `start`, `end`
    and `first_end`, the end of its first sentence, count characters of the paragraph.
    """

    paragraph: str
    start: int
    first_end: int
    end: int
    place: Place
    behind: Place

    @property
    def texts(self) -> tuple[str, str]:
        """Its first sentence, and the rest."""
        return self.paragraph[self.start : self.first_end], self.paragraph[
            self.first_end : self.end
        ]

    def placed(self, words: tuple[Word, ...]) -> tuple[PlacedWord, ...]:
        """Return the spoken words of its text with their places."""
        starts = [each.start() for each in _WORD.finditer(self.paragraph)]
        chapter, paragraph = place_of(self.place)

        def placed(word: Word) -> PlacedWord:
            number = max(0, bisect_right(starts, self.start + word.start) - 1)
            return PlacedWord(**vars(word), place=Place(chapter, paragraph, number))

        return tuple(map(placed, words))


@dataclass(frozen=True)
class Book:
    """A document's chapters: their number, and a function that returns one."""

    count: int
    chapter: Callable[[int], Chapter]

    def audible(self, place: Place) -> Place:
        """Return the place, or the next paragraph with a word if it is not in one."""
        paragraph = self._paragraph(place)
        if paragraph is not None and place.word < len(paragraph.text.split()):
            spoken = place.word or paragraph.kind not in SILENT_KINDS
            return place if spoken else self._after(place)
        return self._after(place)

    def section(self, place: Place) -> Section | None:
        """Return the part to speak from a place on; None at the end of the document."""
        paragraph = self._paragraph(place)
        if paragraph is None:
            return None
        words = list(_WORD.finditer(paragraph.text))
        ends = [end for _, end in sentences(paragraph) if end > place.word]
        behind = max((end for end in ends if end <= place.word + SECTION_WORDS), default=None)
        if behind is None:  # one long sentence
            behind = min(ends[0] if ends else len(words), place.word + SECTION_WORDS)
        after = Place(place.chapter, place.paragraph, behind)
        if behind >= len(words):
            after = Place(place.chapter, place.paragraph + 1)
        end = words[behind - 1].end() if words else 0
        start = words[place.word].start() if place.word < len(words) else end
        first_end = words[min(ends[0], behind) - 1].end() if ends and words else end
        return Section(paragraph.text, start, first_end, end, place, after)

    def skipped(self, place: Place, skip: SkipReading) -> Place:
        """Return the place after a skip; the end of the document has the chapter `count`."""
        for _ in range(abs(skip.by)):
            place = self._forward(place, skip.unit) if skip.by > 0 else self._back(place, skip.unit)
        return place

    def _forward(self, place: Place, unit: Unit) -> Place:
        if unit is Unit.CHAPTER:
            return Place(min(place.chapter + 1, self.count))
        paragraph = self._paragraph(place)
        if unit is Unit.SENTENCE and paragraph is not None:
            starts = (start for start, _ in sentences(paragraph) if start > place.word)
            if (start := next(starts, None)) is not None:
                return Place(place.chapter, place.paragraph, start)
        return self._after(place)

    def _back(self, place: Place, unit: Unit) -> Place:
        begin = self._begin(place, unit)
        near = place.word - begin.word <= NEAR_WORDS
        if begin < place and not (near and (begin.chapter, begin.paragraph) == place_of(place)):
            return begin
        if unit is Unit.CHAPTER:
            return Place(max(0, begin.chapter - 1))
        before = next(self._earlier(begin, unit), None)
        return begin if before is None else before

    def _begin(self, place: Place, unit: Unit) -> Place:
        """Return the beginning of the unit that the place is in."""
        paragraph = self._paragraph(place)
        if unit is Unit.CHAPTER or paragraph is None:
            return Place(min(place.chapter, self.count - 1))
        if unit is Unit.PARAGRAPH:
            return Place(place.chapter, place.paragraph)
        starts = [start for start, _ in sentences(paragraph) if start <= place.word]
        return Place(place.chapter, place.paragraph, starts[-1] if starts else 0)

    def _earlier(self, place: Place, unit: Unit) -> Iterator[Place]:
        """Yield the beginnings of earlier sentences or paragraphs, the nearest first."""
        chapter, number = place.chapter, place.paragraph
        if unit is Unit.SENTENCE and place.word and (paragraph := self._paragraph(place)):
            starts = [start for start, _ in sentences(paragraph) if start < place.word]
            yield from (Place(chapter, number, start) for start in reversed(starts))
        while chapter >= 0:
            for before in range(number - 1, -1, -1):
                paragraph = self.chapter(chapter).paragraphs[before]
                if paragraph.kind not in SILENT_KINDS and paragraph.text.split():
                    starts = [start for start, _ in sentences(paragraph)]
                    word = starts[-1] if unit is Unit.SENTENCE else 0
                    yield Place(chapter, before, word)
            chapter -= 1
            number = len(self.chapter(chapter).paragraphs) if chapter >= 0 else 0

    def _after(self, place: Place) -> Place:
        """Return the next paragraph that is spoken."""
        chapter, number = place.chapter, place.paragraph + 1
        while chapter < self.count:
            paragraphs = self.chapter(chapter).paragraphs
            for after in range(number, len(paragraphs)):
                paragraph = paragraphs[after]
                if paragraph.kind not in SILENT_KINDS and paragraph.text.split():
                    return Place(chapter, after)
            chapter, number = chapter + 1, 0
        return Place(self.count)

    def _paragraph(self, place: Place) -> Paragraph | None:
        if not 0 <= place.chapter < self.count:
            return None
        paragraphs = self.chapter(place.chapter).paragraphs
        return paragraphs[place.paragraph] if place.paragraph < len(paragraphs) else None


def place_of(place: Place) -> tuple[int, int]:
    """Return the chapter and the paragraph of a place."""
    return place.chapter, place.paragraph


def sentences(paragraph: Paragraph) -> tuple[tuple[int, int], ...]:
    """Return the word ranges of a paragraph's sentences; all its words where none are known."""
    return paragraph.sentences or ((0, len(paragraph.text.split())),)
