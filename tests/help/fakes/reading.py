"""A document in memory, and a list of documents that is not saved."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from engine.errors import InvalidInput
from engine.messages.reading import Chapter, Paragraph, Place, ReadDocument


def paragraph(text: str, kind: str = "text") -> Paragraph:
    """A paragraph whose sentences end in a full stop, a question mark or an exclamation mark."""
    words = text.split()
    ends = [number + 1 for number, word in enumerate(words) if word[-1] in ".?!"]
    ends += [] if ends[-1:] == [len(words)] else [len(words)]
    return Paragraph(text, kind, tuple(zip([0, *ends], ends, strict=False)))


class FakeDocument:
    """`chapters`: the paragraphs of each; a heading begins with "# "."""

    def __init__(self, *chapters: Sequence[str], key: str = "key", language: str = "en") -> None:
        self.key, self.title, self.author, self.language = key, "A Book", "Ada", language
        self.chapter_titles = tuple(f"Chapter {number + 1}" for number in range(len(chapters)))
        self.chapters = [
            Chapter(
                title,
                tuple(
                    paragraph(text.removeprefix("# "), "heading" if text[:1] == "#" else "text")
                    for text in texts
                ),
            )
            for title, texts in zip(self.chapter_titles, chapters, strict=True)
        ]
        self.path = Path("book.txt")
        self.asked: list[int] = []  # chapters, in order

    def chapter(self, index: int) -> Chapter:
        self.asked.append(index)
        return self.chapters[index]

    def existing(self, place: Place) -> Place:
        return place if place.chapter < len(self.chapters) else Place()

    @property
    def words(self) -> list[str]:
        """All words that are read, in order."""
        parts = (each for chapter in self.chapters for each in chapter.paragraphs)
        return [word for each in parts for word in each.text.split()]


@dataclass
class FakeShelf:
    """See engine.reading.shelf."""

    kept: dict[str, ReadDocument] = field(default_factory=dict)

    def entries(self) -> tuple[ReadDocument, ...]:
        return tuple(reversed(self.kept.values()))

    def place(self, key: str) -> Place:
        return self.kept[key].place if key in self.kept else Place()

    def save_place(self, document: FakeDocument, place: Place, read_at: float) -> None:
        self.kept.pop(document.key, None)
        titles = document.chapter_titles
        self.kept[document.key] = ReadDocument(
            document.key, document.title, document.author, document.path, place, read_at,
            titles[place.chapter], len(titles),
        )  # fmt: skip

    def remove(self, key: str) -> None:
        self.kept.pop(key, None)


@dataclass
class FakeLibrary:
    """The documents that can be opened, by the names of their files."""

    documents: dict[str, FakeDocument] = field(default_factory=dict)
    shelf: FakeShelf = field(default_factory=FakeShelf)

    def open(self, path: Path) -> FakeDocument:
        if path.name not in self.documents:
            raise InvalidInput("The file '{name}' cannot be opened.", hint="", name=path.name)
        return self.documents[path.name]
