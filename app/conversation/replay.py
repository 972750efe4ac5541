"""Find the word of an old reply under the mouse pointer, and move the mark from word to word.

Invariant: no Qt here. Only finished replies can be replayed. A word is a run of characters between
spaces; a run of Markdown marks alone is not a word.
"""

import re
from dataclasses import dataclass

from app.conversation.transcript import Exchange, Span, Transcript

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
    """Return the word with character `index` of the reply. None between two words and during the
    turn.
    """
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
    words = _words(mark.exchange)
    at = next((n for n, each in enumerate(words) if each.span == mark.span), 0) + by
    if 0 <= at < len(words):
        return words[at]
    other = step_reply(transcript, mark, by)
    if other is None or other.exchange is mark.exchange:
        return mark
    return other if by > 0 else _words(other.exchange)[-1]


def step_reply(transcript: Transcript, mark: ReplyWord | None, by: int) -> ReplyWord | None:
    """Return the first word of the next (`by` 1) or previous (-1) reply; without a mark, of the
    newest.
    """
    replies = [
        each for each in transcript.exchanges if each.ending is not None and each.reply.strip()
    ]
    if not replies:
        return None
    here = next((n for n, each in enumerate(replies) if mark and each is mark.exchange), None)
    at = len(replies) - 1 if here is None else min(max(here + by, 0), len(replies) - 1)
    return _words(replies[at])[0]


def _words(exchange: Exchange) -> list[ReplyWord]:
    return [ReplyWord(exchange, Span(*each.span())) for each in _WORD.finditer(exchange.reply)]
