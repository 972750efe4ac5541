"""The text of a reply while it arrives: the text to show, and words for the voice with their pace.

Invariant: the spans of the words count the characters that are shown; nothing depends on how the
text was cut into deltas.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.characters import WholeCharacters
from engine.languages import ENGLISH
from engine.text.language_choice import LanguageChoice
from engine.text.names import NamedWords, Names
from engine.text.speakable import Speakable
from engine.text.word import Word


@dataclass(frozen=True)
class Growth:
    """New text to show (which may be ahead of the words), and new words to speak."""

    text: str
    words: tuple[Word, ...]


class PacedText:
    """Converts one reply: deltas in, text to show and words with their pace out. The words wait
    until the language of the reply is known, the text does not.
    """

    def __init__(
        self,
        *,
        pacing: bool,
        usual: str = ENGLISH,
        possible: Sequence[str] = (),
        names: Names = (),
    ) -> None:
        """`pacing` False: every word has pace 1. `usual`, `possible`: see LanguageChoice. `names`:
        the person's names, which the voice says as the person does.
        """
        self._characters = WholeCharacters()
        self._choice = LanguageChoice(usual, possible)
        self._speakable: Speakable | None = None  # None = the language is not known yet
        self._names = names
        self._named = NamedWords(())  # of the language
        self._waiting = ""  # text that came before the language was known
        self._pacing = pacing

    @property
    def left_out(self) -> bool:
        """See Speakable."""
        return self._speakable is not None and self._speakable.left_out

    @property
    def language(self) -> str | None:
        """The language of the words; None before the first one."""
        return self._choice.code

    def push(self, delta: str) -> Growth:
        """Add text of the language model; any string is allowed."""
        return self._grown(self._characters.push(delta))

    def end(self) -> Growth:
        """Return the words that were still held back."""
        return self._grown(self._characters.end(), ended=True)

    def _grown(self, text: str, *, ended: bool = False) -> Growth:
        self._waiting += text
        code = self._choice.push(text) or (self._choice.end() if ended else None)
        if code is None:
            return Growth(text, ())
        if self._speakable is None:
            self._speakable, self._named = Speakable(code), NamedWords(self._names, code)
        words = self._speakable.push(self._waiting) + (self._speakable.end() if ended else [])
        self._waiting = ""
        words = self._named.push(words) + (self._named.end() if ended else [])
        if not self._pacing:
            words = [replace(word, pace=1.0) for word in words]
        return Growth(text, tuple(words))
