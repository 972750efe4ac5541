"""A conversation for export: each turn with its times, and the words of a reply that were heard.

Invariant: plain frozen values. Times are seconds after `began` and do not decrease from word to
word of a reply. A word is in `words` only if the loudspeaker began to play it.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from engine.messages.events import TurnMetrics
from engine.messages.words import Ending


@dataclass(frozen=True)
class HeardWord:
    """A spoken word of a reply; [start, end) is its span in the reply's text. Several spoken words
    may share one span ("$5" is spoken "five dollars").
    """

    text: str
    start: int
    end: int
    start_s: float
    end_s: float


@dataclass(frozen=True)
class Turn:
    """One turn. `reply` is the text as written, `heard` the part of it that was heard."""

    number: int
    ending: Ending | None  # None = it still goes on
    start_s: float
    said: str = ""
    said_end_s: float | None = None  # None = still speaking
    typed: bool = False
    reply: str = ""
    heard: str = ""
    words: tuple[HeardWord, ...] = ()
    metrics: TurnMetrics = field(default_factory=TurnMetrics)
    private: bool = False  # part of the reply stays on this computer
    voice: str = ""  # of the reply
    rate: float | None = None  # target in SPS; None = the voice's own pace

    @property
    def unheard(self) -> str:
        """The unheard rest of the reply, on one line; empty if all was heard."""
        return " ".join(self.reply[len(self.heard) :].split())

    @property
    def replied_s(self) -> float:
        """The time when the reply was first heard, or would have been."""
        if self.words:
            return self.words[0].start_s
        return self.start_s if self.said_end_s is None else self.said_end_s


@dataclass(frozen=True)
class Conversation:
    """The turns since `began` (a time with its zone), oldest first. `title` is the user's; empty =
    none yet.
    """

    began: datetime
    turns: tuple[Turn, ...] = ()
    title: str = ""

    def clock(self, seconds: float) -> str:
        """Return the time of day `seconds` after the beginning."""
        moment = self.began + timedelta(seconds=seconds)
        # `began` has a fixed offset, which is an hour off after a clock change. The zone of this
        # machine knows the change, if the conversation began in it.
        if self.began.astimezone().utcoffset() == self.began.utcoffset():
            moment = moment.astimezone()
        return moment.strftime("%H:%M:%S")
