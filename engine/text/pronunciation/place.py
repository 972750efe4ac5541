"""The place of a word: its neighbours in the sentence."""

from collections.abc import Iterator, Sequence
from typing import Final

_SENTENCE_MARKS: Final = ".?!:;"
_MARKS: Final = ".,?!:;"


class Place:
    """The neighbours of a word, in lower case. `before`: newest last, within the sentence.
    `clause`: a comma or nothing stands directly before it. `after` None: not known yet. `later`:
    the words behind it as far as they are known, "." where the sentence ends.
    """

    def __init__(
        self,
        before: tuple[str, ...],
        after: str | None,
        *,
        clause: bool,
        later: tuple[str, ...] = (),
    ) -> None:
        self.before = before
        self.after = after
        self.clause = clause or not before
        self.later = later

    @classmethod
    def of(cls, before: Sequence[str], after: str | None, later: Sequence[str] = ()) -> "Place":
        sentence: list[str] = []
        for word in reversed(before):
            if word[-1:] in _SENTENCE_MARKS and word:
                break
            sentence.insert(0, word.lower().replace("’", "'"))
        clause = bool(sentence) and sentence[-1].endswith(",")
        following = None if after is None else after.strip(_MARKS).lower().replace("’", "'")
        words = tuple(word.rstrip(_MARKS) for word in sentence)
        return cls(words, following, clause=clause, later=tuple(_within_sentence(later)))

    def at(self, distance: int) -> str:
        """Return the word at this distance before the word (1 = its neighbour); "" before the
        sentence.
        """
        return self.before[-distance] if len(self.before) >= distance else ""

    def earlier(self) -> "Place":
        """Return the place without the word directly before."""
        return Place(self.before[:-1], self.after, clause=False)

    def is_behind(self, words: frozenset[str]) -> bool:
        """Return whether one of the words, or one that ends like its contraction, stands before
        it.
        """
        word = self.at(1)
        return word in words or any(word.endswith(end) for end in words if "'" in end)


def _within_sentence(words: Sequence[str]) -> Iterator[str]:
    """Words in lower case without their marks, "." behind the last one of a sentence."""
    for word in words:
        yield word.rstrip(_MARKS).lower()
        if word[-1:] in tuple(_SENTENCE_MARKS):
            yield "."
            return
