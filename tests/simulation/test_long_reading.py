"""A document read aloud for a long time: nothing is missing, nothing grows, nothing is late."""

import pytest

from engine.messages.reading import PauseReading, Place, ReadAloud
from tests.simulation.reader import EndlessBook, Reader, settings_for, words_in_memory
from tests.simulation.stepped import FreeWorker


@pytest.mark.long
def test_twenty_minutes_of_reading_have_every_word_in_order_no_underrun_and_no_growth():
    with Reader(settings_for("espeak"), FreeWorker) as reader:
        reader.open()
        reader.post(ReadAloud())
        reader.run(300)
        before, told = words_in_memory(), len(reader.events)
        reader.run(900)
        assert words_in_memory() < before + 300
        assert len(reader.events) == told
        assert reader.devices.loudspeaker.underruns == 0
        reader.post(PauseReading())
        reader.run(0.1)
        places = list(dict.fromkeys(event.place for _, event in reader.places))
        assert places == sorted(places)
        assert places == expected(places[-1])


def expected(last: Place) -> list[Place]:
    """All places of an EndlessBook up to this one."""
    book = EndlessBook(last.chapter + 1)
    every = (
        Place(chapter, number, word)
        for chapter in range(last.chapter + 1)
        for number, paragraph in enumerate(book.chapter(chapter).paragraphs)
        for word in range(len(paragraph.text.split()))
    )
    return [each for each in every if each <= last]
