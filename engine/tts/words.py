"""The words of one utterance that were pushed and are not yet taken up, with their paces.

Invariant: what comes out depends on the words alone, never on when they were pushed.
"""

from collections import deque

from engine.errors import InvalidInput
from engine.tts.pacing import PLAIN


class Words:
    """A queue that is `ended` once no word can follow; `paces` are those of all words ever."""

    def __init__(self) -> None:
        self._waiting: deque[str] = deque()
        self.paces: list[float] = []
        self.ended = False

    def __len__(self) -> int:
        """Words not yet taken up."""
        return len(self._waiting)

    def push(self, text: str, pace: float = PLAIN) -> None:
        """See TtsSession.push_word."""
        if self.ended:
            raise InvalidInput("No word can follow the end of an utterance.")
        if any(letter.isspace() for letter in text):
            raise InvalidInput(f"{text!r} is more than one word.", hint="Push words one by one.")
        self._waiting.append(text)
        self.paces.append(pace)

    def take(self) -> str:
        """The next word; there must be one."""
        return self._waiting.popleft()

    def clear(self) -> None:
        """Forget the words that wait."""
        self._waiting.clear()
