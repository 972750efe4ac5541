"""The text of a reply while it arrives: the text to show, and words for the voice with their pace.

Invariant: the spans of the words count the characters that are shown; nothing depends on how the
text was cut into deltas.
"""

from dataclasses import dataclass, replace

from engine.characters import WholeCharacters
from engine.text.speakable import Speakable
from engine.text.word import Word


@dataclass(frozen=True)
class Growth:
    """New text to show (which may be ahead of the words), and new words to speak."""

    text: str
    words: tuple[Word, ...]


class PacedText:
    """Converts one reply: deltas in, text to show and words with their pace out."""

    def __init__(self, *, pacing: bool) -> None:
        """`pacing` False: every word has pace 1."""
        self._characters = WholeCharacters()
        self._speakable = Speakable()
        self._pacing = pacing

    @property
    def left_out(self) -> bool:
        """See Speakable."""
        return self._speakable.left_out

    def push(self, delta: str) -> Growth:
        """Add text of the language model; any string is allowed."""
        return self._grown(self._characters.push(delta))

    def end(self) -> Growth:
        """Return the words that were still held back."""
        grown = self._grown(self._characters.end())
        return Growth(grown.text, (*grown.words, *self._paced(self._speakable.end())))

    def _grown(self, text: str) -> Growth:
        return Growth(text, tuple(self._paced(self._speakable.push(text))))

    def _paced(self, words: list[Word]) -> list[Word]:
        return words if self._pacing else [replace(word, pace=1.0) for word in words]
