"""A document that the whole engine reads aloud on a stepped clock, for as long as one likes.

Run: python -m tests.simulation.reader ENGINE [HOURS]: how long after a skip the next sentence
sounds, and what hours of reading need, on a machine that does nothing else.
"""

import gc
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from engine.messages.events import Event
from engine.messages.reading import (
    Chapter,
    DocumentOpened,
    OpenDocument,
    Paragraph,
    PlaceReached,
    ReadAloud,
    SkipReading,
    Unit,
)
from engine.settings import AudioSettings, Settings, SpeechSettings
from engine.text.word import Word
from tests.help.fakes.reading import FakeShelf, paragraph
from tests.simulation.room import Acoustics
from tests.simulation.stepped import SteppedEngine, SteppedWorker

_NOUNS = "house light painter garden mountain sister window market letter doctor winter".split()  # noqa: SIM905
_SENTENCES = (
    "The old {0} stood at the end of a long road, and nobody knew who had built the {1}.",
    "Every evening a {1} went on in one of its windows.",
    "Others were sure that it was a {0}.",
)


class EndlessBook:
    """A document of as many chapters as one likes, of which none is kept."""

    key, title, author, language = "key", "A Book", "Ada", "en"
    path = Path("book.txt")

    def __init__(self, chapters: int) -> None:
        self.chapter_titles = tuple(f"Chapter {number + 1}" for number in range(chapters))

    def chapter(self, index: int) -> Chapter:
        return Chapter(self.chapter_titles[index], tuple(map(self._paragraph, range(10))))

    def _paragraph(self, number: int) -> Paragraph:
        nouns = [_NOUNS[(number * each) % len(_NOUNS)] for each in (1, 3)]
        return paragraph(" ".join(each.format(*nouns) for each in _SENTENCES * 3))


class Reader(SteppedEngine):
    """Reads an EndlessBook to nobody: what was played is forgotten."""

    def __init__(
        self, settings: Settings, kind: type[SteppedWorker], *, chapters: int = 1000
    ) -> None:
        super().__init__(Acoustics(), "", settings, kind=kind)
        parts: dict[str, Any] = {
            "open_document": lambda path: EndlessBook(chapters),
            "shelf": lambda path: FakeShelf(),
        }
        self._factories = replace(self._factories, **parts)
        self.places: list[tuple[float, PlaceReached]] = []

    def step(self) -> None:
        super().step()
        for kept in (self.devices.played, self.devices.heard, self.gains):
            kept.clear()
        del self.voice.said[:-1]

    def _tell(self, event: Event) -> None:
        if isinstance(event, PlaceReached):
            self.places.append((self.clock(), event))
        elif isinstance(event, DocumentOpened):
            super()._tell(event)

    def open(self) -> None:
        self.post(OpenDocument(Path("book.txt")))
        self.run_until(lambda: bool(self.events), at_most=5.0)

    def skip(self, by: int = 1) -> float:
        """Seconds until the first sound of the next sentence."""
        began, since = self.now, len(self.places)
        self.post(SkipReading(Unit.SENTENCE, by))
        self.run_until(lambda: self._is_heard(since), at_most=10.0)
        return self.now - began

    def _is_heard(self, since: int) -> bool:
        """A place is told when its section begins, and again when its word sounds."""
        places = [event.place for _, event in self.places[since:]]
        return any(places.count(place) > 1 for place in places)


def words_in_memory() -> int:
    gc.collect()
    # `isinstance` would ask lazy objects of other libraries for their class, which warns.
    return sum(type(each) is Word for each in gc.get_objects())


def settings_for(engine: str) -> Settings:
    return Settings(
        audio=AudioSettings(hands_free=False), speech=SpeechSettings(engine=engine, rate=4.5)
    )


def main(engine: str, hours: float, show: Callable[[str], object] = print) -> None:
    with Reader(settings_for(engine), SteppedWorker) as reader:
        reader.open()
        reader.post(ReadAloud())
        reader.run(3.0)
        taken = []
        for _ in range(20):
            taken.append(reader.skip() * 1000)
            reader.run(2.5)
        show(f"skip by a sentence: {np.median(taken):.0f} ms, at most {max(taken):.0f} ms")
        show(str(sorted(map(round, taken))))
        reader.places.clear()
        for hour in range(round(hours * 6)):
            reader.run(600)
            underruns = reader.devices.loudspeaker.underruns
            show(
                f"{(hour + 1) / 6:.1f} h: {len(reader.places)} places, {underruns} underruns,"
                f" {words_in_memory()} words in memory"
            )


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 0.0)
