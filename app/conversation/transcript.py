"""The conversation as the window knows it: one Exchange per turn, built from the engine's events;
and the words of old replies, to hear them again from there.

Invariant: no Qt here. Spans and counts index the reply's original text in characters (code
points), as the engine sends them. Events of a turn are dropped if the turn was cleared, or if no
transcript, delta or end of turn has begun it. Only finished replies can be replayed. A word is a
run of characters between spaces; a run of Markdown marks alone is not a word.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.language import mark, tr
from engine import api

_THOUGHT_SHOWN = 120  # characters: enough to see the progress and the subject

_CAUSES = {
    api.Ending.INTERRUPTED_BY_SPEECH: mark("you spoke"),
    api.Ending.INTERRUPTED_BY_TALK_KEY: mark("talk key"),
    api.Ending.INTERRUPTED_BY_ESCAPE: mark("Esc"),
    api.Ending.INTERRUPTED_BY_STOP: mark("stop button"),
    api.Ending.INTERRUPTED_BY_TEXT: mark("you typed"),
    api.Ending.SUPERSEDED: mark("you went on speaking"),
    api.Ending.DEVICE_LOST: mark("a device is missing"),
}


@dataclass(frozen=True)
class Span:
    """Characters [start, end) of a reply."""

    start: int
    end: int


@dataclass
class Exchange:
    """One turn: the question, and the reply with its heard part."""

    turn: int
    said: str = ""
    is_partial: bool = True  # the recogniser may still revise `said`
    is_typed: bool = False  # people who type read ahead: nothing is faint while it is spoken
    reply: str = ""
    thought: str = ""  # the end of the language model's thoughts, until there is a reply
    heard_end: int = 0  # characters of `reply` that have begun to leave the loudspeaker
    word: Span | None = None  # being heard now; None = no word is
    ending: api.Ending | None = None  # None = the turn goes on
    was_left_open: bool = False  # the program ended in the middle of it
    wants_model: bool = False  # only a language model could have answered it

    def think(self, text: str) -> None:
        """Append to the language model's thoughts."""
        self.thought = (self.thought + text)[-_THOUGHT_SHOWN:]

    @property
    def is_blank(self) -> bool:
        """True if the exchange ended without content."""
        return self.ending is not None and not self.said and not self.reply

    @property
    def unheard(self) -> Span | None:
        """The span that was not heard. None if there is none, if the turn ended normally, or if the
        user continued a typed turn.
        """
        heard = self.ending is api.Ending.COMPLETE or self.heard_end >= len(self.reply)
        done = heard or (self.is_typed and self.ending is None)
        return None if done else Span(self.heard_end, len(self.reply))

    @property
    def caption(self) -> str:
        """The line below the reply: why the turn ended, if that matters to the user, or the model's
        thoughts before its answer. Usually empty.
        """
        if self.ending is None and self.thought and not self.reply:
            return tr("thinking · …{thought}", thought=" ".join(self.thought.split()))
        if self.was_left_open:
            return tr("the program ended here")
        if self.ending is api.Ending.FAILED:
            what = tr("interrupted · something failed") if self.reply else tr("no answer")
            return tr("{what}: see the message above", what=what)
        if self.ending is None or self.ending not in _CAUSES:
            return ""
        stopped = tr("interrupted") if self.reply else tr("stopped")
        return f"{stopped} · {tr(_CAUSES[self.ending])}"


class Transcript:
    """All exchanges since the conversation began, oldest first."""

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []
        self.replayed: Exchange | None = None  # whose reply is heard again
        self._cleared_through = -1  # turns up to this one belong to an earlier conversation

    def clear(self, first: int | None = None) -> None:
        """Forget all turns, or those from `first` on; later events of them are dropped."""
        turns = (exchange.turn for exchange in self.exchanges)
        self._cleared_through = max([self._cleared_through, *turns])
        kept = (each for each in self.exchanges if first is not None and each.turn < first)
        self.exchanges[:] = list(kept)
        self.replayed = None

    def load(self, turns: Sequence[api.Turn]) -> None:
        """Show a saved conversation, which the next turns continue."""
        self.clear()
        self.exchanges += [_past(turn) for turn in turns]

    def on_event(self, event: api.Event) -> Exchange | None:
        """Handle an event; return the exchange that changed, or None when none did."""
        match event:
            case api.PartialTranscript(turn, text):
                return self._on_said(turn, text, is_partial=True)
            case api.Heard(turn, text, recogniser=recogniser):
                exchange = self._on_said(turn, text, is_partial=False)
                if exchange is not None:
                    exchange.is_typed = recogniser == api.KEYBOARD
                return exchange
            case api.ReplyDelta(turn, text):
                if (exchange := self._open_exchange(turn)) is not None:
                    exchange.reply += text
                return exchange
            case api.Thought() | api.ReplyRetracted() | api.ModelWanted():
                return self._on_aside(event)
            case api.WordHeard(turn, start, end):
                return self._on_word(turn, Span(start, end))
            case api.WordReplayed() | api.ReplayEnded():
                return self._on_replayed(event)
            case api.TurnEnded():
                return self._on_ended(event)
            case _:
                return None

    def _on_said(self, turn: int, text: str, *, is_partial: bool) -> Exchange | None:
        exchange = self._open_exchange(turn)
        if exchange is None or (is_partial and not exchange.is_partial):
            return None
        exchange.said = text
        exchange.is_partial = is_partial
        return exchange

    def _on_aside(
        self, event: api.Thought | api.ReplyRetracted | api.ModelWanted
    ) -> Exchange | None:
        exchange = self._open_exchange(event.turn)
        if exchange is None:
            return None
        match event:
            case api.Thought(text=text):
                exchange.think(text)
            case api.ReplyRetracted():
                exchange.think(exchange.reply)
                exchange.reply, exchange.heard_end, exchange.word = "", 0, None
            case api.ModelWanted():
                for each in self.exchanges:
                    each.wants_model = each is exchange  # one button is enough
        return exchange

    def _on_word(self, turn: int, word: Span) -> Exchange | None:
        exchange = self._find(turn)
        if exchange is None or exchange.ending is not None or word.end > len(exchange.reply):
            return None
        exchange.word = word
        exchange.heard_end = max(exchange.heard_end, word.end)
        return exchange

    def _on_replayed(self, event: api.WordReplayed | api.ReplayEnded) -> Exchange | None:
        exchange = self._find(event.turn)
        if exchange is None:
            return None
        if isinstance(event, api.WordReplayed):
            self.replayed, exchange.word = exchange, Span(event.start, event.end)
        else:
            self.replayed = exchange.word = None
        return exchange

    def _on_ended(self, event: api.TurnEnded) -> Exchange | None:
        exchange = self._open_exchange(event.turn)
        if exchange is None:
            return None
        nothing_heard = event.ending is api.Ending.NOTHING_HEARD
        exchange.said = "" if nothing_heard or event.rejoined else event.said or exchange.said
        exchange.is_partial = False
        exchange.reply = "" if event.rejoined else event.reply or exchange.reply
        if event.heard and event.reply.startswith(event.heard):
            exchange.heard_end = len(event.heard)
        exchange.word = None
        exchange.ending = event.ending
        return exchange

    def _open_exchange(self, turn: int) -> Exchange | None:
        """The exchange of a turn that has not ended; created for a new turn."""
        exchange = self._find(turn)
        if exchange is None and turn > self._cleared_through:
            exchange = Exchange(turn)
            self.exchanges.append(exchange)
        return exchange if exchange is not None and exchange.ending is None else None

    def _find(self, turn: int) -> Exchange | None:
        """Search from the end, because events are nearly always about the last two turns."""
        return next((each for each in reversed(self.exchanges) if each.turn == turn), None)


def _past(turn: api.Turn) -> Exchange:
    """Convert a saved turn to an exchange."""
    heard = turn.heard if turn.reply.startswith(turn.heard) else ""
    return Exchange(
        turn.number,
        said=turn.said,
        is_partial=False,
        reply=turn.reply,
        heard_end=len(heard),
        ending=turn.ending or api.Ending.FAILED,
        was_left_open=turn.ending is None,
    )


_WORD = re.compile(r"\S*[^\s*_`#>~|=+-]\S*")  # marks of Markdown alone are never spoken


@dataclass(frozen=True)
class ReplyWord:
    """A word of a reply."""

    exchange: Exchange
    span: Span

    @property
    def text(self) -> str:
        return self.exchange.reply[self.span.start : self.span.end]


def word_at(exchange: Exchange, index: int) -> ReplyWord | None:
    """Return the word with this character of a reply; None between words and during the turn."""
    if exchange.ending is None:
        return None
    found = (each for each in _WORD.finditer(exchange.reply) if each.start() <= index < each.end())
    word = next(found, None)
    return None if word is None else ReplyWord(exchange, Span(*word.span()))


def step(transcript: Transcript, mark: ReplyWord | None, by: int) -> ReplyWord | None:
    """Return the word after `mark` (`by` 1) or before it (-1), also in the neighbouring reply.
    Without a mark, return the first word of the newest reply. None if no reply has words.
    """
    if mark is None or mark.exchange not in transcript.exchanges:
        return step_reply(transcript, None, -1)
    words = _words(mark.exchange)  # not those of all replies: a long conversation has thousands
    at = next((n for n, each in enumerate(words) if each.span == mark.span), 0) + by
    if 0 <= at < len(words):
        return words[at]
    other = step_reply(transcript, mark, by)
    if other is None or other.exchange is mark.exchange:
        return mark
    return other if by > 0 else _words(other.exchange)[-1]


def step_reply(transcript: Transcript, mark: ReplyWord | None, by: int) -> ReplyWord | None:
    """Return the first word of the next (`by` 1) or previous (-1) reply, or of the newest."""
    replies = _finished(transcript)
    if not replies:
        return None
    here = next((n for n, each in enumerate(replies) if mark and each is mark.exchange), None)
    at = len(replies) - 1 if here is None else min(max(here + by, 0), len(replies) - 1)
    return _words(replies[at])[0]


def _finished(transcript: Transcript) -> list[Exchange]:
    return [each for each in transcript.exchanges if each.ending and each.reply.strip()]


def _words(exchange: Exchange) -> list[ReplyWord]:
    return [ReplyWord(exchange, Span(*each.span())) for each in _WORD.finditer(exchange.reply)]
