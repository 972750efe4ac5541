"""The part of a document that is read next, and skips."""

import pytest

from engine.messages.reading import Place, SkipReading, Unit
from engine.runtime.turn.places import SECTION_WORDS, Book
from tests.help.fakes.reading import FakeDocument

BOOK = FakeDocument(
    ["# One", "First here is this. Then two come after it.", "", "Last one."],
    [],
    ["# Two", "Some end."],
)


def book(document: FakeDocument = BOOK) -> Book:
    return Book(len(document.chapters), document.chapter)


def read(document: FakeDocument, place: Place) -> list[str]:
    """The words of all sections from a place on."""
    whole, found = book(document), list[str]()
    place = whole.audible(place)
    while (section := whole.section(place)) is not None:
        found += "".join(section.texts).split()
        place = whole.audible(section.behind)
    return found


def test_the_sections_are_all_words_in_order():
    assert read(BOOK, Place()) == BOOK.words
    assert read(BOOK, Place(0, 1, 5)) == BOOK.words[6:]


def test_a_long_paragraph_is_cut_at_the_ends_of_sentences_and_a_long_sentence_anywhere():
    sentence = " ".join(["word"] * 39) + " end."
    document = FakeDocument([" ".join([sentence] * 10), " ".join(["endless"] * 400)])
    whole, place, ends = book(document), Place(), []
    while (section := whole.section(place)) is not None and section.texts[0]:
        assert len("".join(section.texts).split()) <= SECTION_WORDS
        ends.append("".join(section.texts).split()[-1])
        place = whole.audible(section.behind)
    assert ends[:4] == ["end."] * 4
    assert read(document, Place()) == document.words


@pytest.mark.parametrize(
    ("start", "unit", "by", "end"),
    [
        (Place(0, 1, 1), Unit.SENTENCE, 1, Place(0, 1, 4)),
        (Place(0, 1, 5), Unit.SENTENCE, 1, Place(0, 3)),  # over an empty paragraph
        (Place(0, 3, 1), Unit.SENTENCE, 1, Place(2, 0)),  # and an empty chapter
        (Place(0, 1, 1), Unit.SENTENCE, 2, Place(0, 3)),
        (Place(0, 1, 8), Unit.SENTENCE, -1, Place(0, 1, 4)),  # to its beginning
        (Place(0, 1, 6), Unit.SENTENCE, -1, Place(0, 1, 0)),  # near that: the one before
        (Place(0, 3), Unit.SENTENCE, -1, Place(0, 1, 4)),
        (Place(2, 0), Unit.SENTENCE, -1, Place(0, 3)),
        (Place(), Unit.SENTENCE, -3, Place()),
        (Place(0, 1, 8), Unit.PARAGRAPH, 1, Place(0, 3)),
        (Place(0, 1, 8), Unit.PARAGRAPH, -1, Place(0, 1)),
        (Place(0, 3, 1), Unit.PARAGRAPH, -1, Place(0, 1)),
        (Place(0, 1, 8), Unit.CHAPTER, 2, Place(2)),
        (Place(2, 1, 1), Unit.CHAPTER, 1, Place(3)),  # the end of the document
        (Place(2, 1, 1), Unit.SENTENCE, 1, Place(3)),
        (Place(0, 1, 0), Unit.CHAPTER, -1, Place()),
        (Place(2, 0, 0), Unit.CHAPTER, -2, Place()),
    ],
)
def test_a_skip(start, unit, by, end):
    assert book().skipped(start, SkipReading(unit, by)) == end


def test_words_know_their_places():
    from engine.text.paced import PacedText

    section = book(FakeDocument(["He paid $5 there. And left."])).section(Place(0, 0, 1))
    assert section is not None
    text = PacedText(pacing=False)
    words = section.placed((*text.push("".join(section.texts)).words, *text.end().words))
    assert [(each.text, each.place.word) for each in words] == [
        ("paid", 1), ("five", 2), ("dollars", 2), ("there.", 3), ("And", 4), ("left.", 5),
    ]  # fmt: skip
