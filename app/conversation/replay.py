"""Which word of an old reply is meant: under the mouse, or marked with the keys.

Invariant: no Qt here. Only replies that are over can be heard again; a word is what stands between
spaces and is more than marks.
"""

import re
from dataclasses import dataclass

from app.conversation.transcript import Exchange, Span, Transcript

_WORD = re.compile(r"\S*[^\s*_`#>~|=+-]\S*")  # marks of Markdown alone are not heard


@dataclass(frozen=True)
class Place:
    """A word of a reply."""

    exchange: Exchange
    span: Span

    @property
    def text(self) -> str:
        return self.exchange.reply[self.span.start : self.span.end]


def word_at(exchange: Exchange, index: int) -> Place | None:
    """The word that character `index` of the reply belongs to; None between two words, and while
    the turn goes on.
    """
    if exchange.ending is None:
        return None
    found = (each for each in _WORD.finditer(exchange.reply) if each.start() <= index < each.end())
    word = next(found, None)
    return None if word is None else Place(exchange, Span(*word.span()))


def step(transcript: Transcript, mark: Place | None, by: int) -> Place | None:
    """The word `by` (1 or -1) after the marked one, over the ends of replies; from nowhere the
    first word of the newest reply. None when there are no words.
    """
    if mark is None or mark.exchange not in transcript.exchanges:
        return step_reply(transcript, None, -1)
    words = _words(mark.exchange)
    at = next((n for n, each in enumerate(words) if each.span == mark.span), 0) + by
    if 0 <= at < len(words):
        return words[at]
    other = step_reply(transcript, mark, by)
    if other is None or other.exchange is mark.exchange:
        return mark
    return other if by > 0 else _words(other.exchange)[-1]


def step_reply(transcript: Transcript, mark: Place | None, by: int) -> Place | None:
    """The first word of the reply `by` after the marked one; from nowhere, of the newest."""
    replies = [
        each for each in transcript.exchanges if each.ending is not None and each.reply.strip()
    ]
    if not replies:
        return None
    here = next((n for n, each in enumerate(replies) if mark and each is mark.exchange), None)
    at = len(replies) - 1 if here is None else min(max(here + by, 0), len(replies) - 1)
    return _words(replies[at])[0]


def _words(exchange: Exchange) -> list[Place]:
    return [Place(exchange, Span(*each.span())) for each in _WORD.finditer(exchange.reply)]
