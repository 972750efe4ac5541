"""The current reply: prepared before the user has certainly finished, released, ended.

In the first pause the language model writes the reply, which is neither spoken nor recorded; its
actions (a timer, another voice) are held back with its words. If the user continues, it is dropped;
if not, it is released, and the language model's share of the wait is already over. Invariant: runs
on the conductor's thread; at most one reply exists.
"""

from engine.languages import ENGLISH
from engine.llm.base import Message
from engine.messages.words import Ending
from engine.runtime.threads import Workers
from engine.runtime.turn.facts import Delivery
from engine.runtime.turn.reply import Reply


class Replies:
    """Begins and ends replies."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._last: Reply | None = None  # None = there was none yet

    def prepare(self, turn: int, history: tuple[Message, ...], *, paced: bool = True) -> None:
        """Write a reply to the last message of `history`, without sound."""
        self._begin(Reply(turn, self._workers.controls, asked=history, paced=paced))

    def answer(self, turn: int, history: tuple[Message, ...], *, paced: bool = True) -> None:
        """Reply to the last message of `history` aloud, with the prepared reply if it matches."""
        ready = self._prepared
        if ready is not None and (ready.turn, ready.asked) == (turn, history):
            ready.aloud = True
            self._workers.language_model.post(ready)
        else:
            self._begin(Reply(turn, self._workers.controls, asked=history, paced=paced, aloud=True))

    def read_out(
        self, turn: int, text: str, *, paced: bool = True, language: str = ENGLISH
    ) -> None:
        """Speak `text` as it is."""
        reply = Reply(turn, self._workers.controls, text=text, paced=paced, aloud=True)
        reply.language = language
        self._begin(reply)

    def drop(self) -> bool:
        """Drop the prepared reply; return whether there was one."""
        ready = self._prepared
        return ready is not None and ready.end(Ending.SUPERSEDED)

    def find(self, turn: int) -> Reply | None:
        """Return the reply of `turn` if it is the last one."""
        return self._last if self._last is not None and self._last.turn == turn else None

    def pause(self, turn: int) -> None:
        """Make the reply inaudible until it is known who speaks."""
        if reply := self.find(turn):
            reply.pause()

    def end(self, turn: int, ending: Ending) -> Delivery:
        """End the reply of `turn`, if it has one; return its heard part."""
        reply = self.find(turn)
        if reply is None:
            return Delivery()
        reply.end(ending)
        return reply.delivery

    @property
    def _prepared(self) -> Reply | None:
        reply = self._last
        return None if reply is None or reply.aloud or reply.ending is not None else reply

    def _begin(self, reply: Reply) -> None:
        if self._last is not None:
            self._last.end(Ending.SUPERSEDED)
        self._last = reply
        self._workers.language_model.post(reply)
