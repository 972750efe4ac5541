"""The current reply: prepared before the user has certainly finished, released, ended.

In the first pause the language model writes the reply, which is neither spoken nor recorded; its
actions (a timer, another voice) are held back with its words. If the user continues, it is dropped;
if not, it is released, and the language model's share of the wait is already over. Invariant: runs
on the conductor's thread; at most one reply exists.
"""

from collections.abc import Callable

from engine.llm.base import Message
from engine.messages.words import Ending
from engine.runtime.threads import Workers
from engine.runtime.turn.facts import Delivery
from engine.runtime.turn.reply import Reply


class Replies:
    """Begins and ends replies."""

    def __init__(
        self, workers: Workers, paced: Callable[[], bool], language: Callable[[], str]
    ) -> None:
        """`paced` returns whether words have paces of their own, by the settings; `language` that
        of the conversation, in which a text is read out.
        """
        self._workers = workers
        self._paced = paced
        self._language = language
        self._last: Reply | None = None  # None = there was none yet

    def begin(
        self,
        turn: int,
        *,
        asked: tuple[Message, ...] = (),
        text: str | None = None,
        aloud: bool = True,
        rest_of: tuple[Reply, int] | None = None,
    ) -> None:
        """Let the language model answer the last message of `asked`, or read `text` out. Without
        `aloud` the reply is only prepared; a later call for the same question releases it.
        `rest_of`: see Reply.
        """
        ready = self._prepared
        if ready is not None and aloud and (ready.turn, ready.asked) == (turn, asked):
            ready.aloud = True
        else:
            ready = self._replace(turn, asked, text, aloud=aloud)
            ready.rest_of = rest_of
            if text is not None:
                ready.language = rest_of[0].language if rest_of else self._language()
        self._workers.language_model.post(ready)

    def begin_section(self, turn: int) -> Reply:
        """Return a new reply of `turn`, which already has the floor; it gets its words from the
        document.
        """
        reply = self._replace(turn)
        reply.written = True
        return reply

    def _replace(
        self,
        turn: int,
        asked: tuple[Message, ...] = (),
        text: str | None = None,
        *,
        aloud: bool = True,
    ) -> Reply:
        if self._last is not None:
            self._last.end(Ending.SUPERSEDED)
        controls, paced = self._workers.controls, self._paced()
        self._last = Reply(turn, controls, asked=asked, text=text, paced=paced, aloud=aloud)
        return self._last

    def drop(self) -> bool:
        """Drop the prepared reply; return whether there was one."""
        ready = self._prepared
        return ready is not None and ready.end(Ending.SUPERSEDED)

    def find(self, turn: int) -> Reply | None:
        """Return the reply of `turn` if it is the last one."""
        return self._last if self._last is not None and self._last.turn == turn else None

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
