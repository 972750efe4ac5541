"""Places in a document: the part that is read next, and skipping by sentence, paragraph or chapter.

Invariant: pure; chapters come from a function, because a document parses them when they are needed.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from engine.messages.reading import Chapter, Paragraph, Place, SkipReading, Unit
from engine.text.word import Word

SECTION_WORDS = 150  # of a long paragraph, up to the end of a sentence
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

        def placed(word: Word) -> PlacedWord:
            number = max(0, bisect_right(starts, self.start + word.start) - 1)
            return PlacedWord(**vars(word), place=replace(self.place, word=number))

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
            return place
        return self._forward(place, Unit.PARAGRAPH)

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
        later = (start for start in self._starts(place, unit, 1) if start > place)
        return next(later, Place(self.count))

    def _back(self, place: Place, unit: Unit) -> Place:
        starts = (start for start in self._starts(place, unit, -1) if start <= place)
        begin = next(starts, _BEGINNING)
        is_near = place <= replace(begin, word=begin.word + NEAR_WORDS)
        return next(starts, begin) if is_near else begin

    def _starts(self, place: Place, unit: Unit, way: int) -> Iterator[Place]:
        """Yield the beginnings of sentences, paragraphs or chapters from the paragraph of a place
        on, or back (`way` -1). A paragraph without words has none.
        """
        first = min(place.chapter, self.count - 1)
        for chapter in range(first, self.count) if way > 0 else range(first, -1, -1):
            if unit is Unit.CHAPTER:
                yield Place(chapter)
                continue
            paragraphs = list(enumerate(self.chapter(chapter).paragraphs))
            if chapter == place.chapter:
                start = place.paragraph
                paragraphs = paragraphs[start:] if way > 0 else paragraphs[: start + 1]
            for number, paragraph in paragraphs[::way]:
                begins = (
                    [each for each, _ in sentences(paragraph)] if paragraph.text.split() else []
                )
                words = begins[::way] if unit is Unit.SENTENCE else begins[:1]
                yield from (Place(chapter, number, word) for word in words)

    def _paragraph(self, place: Place) -> Paragraph | None:
        if not 0 <= place.chapter < self.count:
            return None
        paragraphs = self.chapter(place.chapter).paragraphs
        return paragraphs[place.paragraph] if place.paragraph < len(paragraphs) else None


def sentences(paragraph: Paragraph) -> tuple[tuple[int, int], ...]:
    """Return the word ranges of a paragraph's sentences; all its words where none are known."""
    return paragraph.sentences or ((0, len(paragraph.text.split())),)
