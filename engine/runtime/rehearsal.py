"""Replies begun before it is certain that the person has finished.

A reply is rehearsed at the first pause: thought out, but neither spoken nor recorded, and what it
does (a timer, another voice) is held back with its words. If the person goes on it is dropped; if
not, it is performed, and the language model's share of the wait is already over. Invariant: runs on
the conductor's thread; at most one reply is being thought about.
"""

from dataclasses import dataclass

from engine.llm.base import Message
from engine.runtime.thinker import Answer, ReadOut, Thinker


@dataclass(frozen=True)
class _Rehearsed:
    number: int
    turn: int
    history: tuple[Message, ...]


class Rehearsal:
    """Directs the thinker, by the numbers of its tasks."""

    def __init__(self, thinker: Thinker) -> None:
        self._thinker = thinker
        self._number = 0  # of the last task
        self._rehearsed: _Rehearsed | None = None  # None = nothing is held back

    def prepare(self, turn: int, history: tuple[Message, ...]) -> None:
        """Think about the last message of `history`, unheard."""
        self._thinker.post(Answer(self._next(), turn, history))
        self._rehearsed = _Rehearsed(self._number, turn, history)

    def answer(self, turn: int, history: tuple[Message, ...]) -> None:
        """Reply to the last message of `history` aloud, with what was rehearsed if it fits."""
        ready, self._rehearsed = self._rehearsed, None
        if ready is not None and (ready.turn, ready.history) == (turn, history):
            self._thinker.perform(ready.number)
            return
        number = self._next()
        self._thinker.perform(number)  # first, so that not even a moment is held back
        self._thinker.post(Answer(number, turn, history))

    def read_out(self, turn: int, text: str) -> None:
        """Say `text` as it is."""
        self._rehearsed = None
        number = self._next()
        self._thinker.perform(number)
        self._thinker.post(ReadOut(number, turn, text))

    def drop(self) -> bool:
        """Give up what is being thought about; whether that was a reply nobody has heard of."""
        dropped, self._rehearsed = self._rehearsed is not None, None
        self._thinker.live = 0
        return dropped

    def _next(self) -> int:
        """The number of the task that alone is worth thinking about from now on."""
        self._number += 1
        self._thinker.live = self._number
        return self._number
