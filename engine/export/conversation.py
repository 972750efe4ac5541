"""A conversation as it is exported: who said what when, and of a reply the words that were heard.

Invariant: plain frozen values. Times are seconds after `began` and do not decrease from word to
word of a reply; a word is in `words` only if it began to leave the loudspeaker.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from engine.messages.events import TurnMetrics
from engine.messages.words import Ending


@dataclass(frozen=True)
class HeardWord:
    """A word of a reply as it was spoken; [start, end) is where it stands in the reply's text, and
    several spoken words may share one span ("$5" is spoken "five dollars").
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
    said_end_s: float | None = None  # None = they have not fallen silent yet
    typed: bool = False
    reply: str = ""
    heard: str = ""
    words: tuple[HeardWord, ...] = ()
    metrics: TurnMetrics = field(default_factory=TurnMetrics)
    private: bool = False  # something of the reply stays on this computer
    voice: str = ""  # that spoke the reply
    rate: float | None = None  # SPS it was to be spoken at; None = the voice's own pace

    @property
    def unheard(self) -> str:
        """What was written and not heard, on one line; empty when nothing is missing."""
        return " ".join(self.reply[len(self.heard) :].split())

    @property
    def replied_s(self) -> float:
        """When the reply began to be heard, or would have."""
        if self.words:
            return self.words[0].start_s
        return self.start_s if self.said_end_s is None else self.said_end_s


@dataclass(frozen=True)
class Conversation:
    """What was said since `began` (a time with its zone), oldest turn first. `title`: what the
    person calls it; empty = nothing yet.
    """

    began: datetime
    turns: tuple[Turn, ...] = ()
    title: str = ""

    def clock(self, seconds: float) -> str:
        """The time of day `seconds` after the beginning."""
        moment = self.began + timedelta(seconds=seconds)
        # `began` has a fixed offset, which is an hour off after a change of the clocks. The zone of
        # this machine knows the change, if the conversation began in it.
        if self.began.astimezone().utcoffset() == self.began.utcoffset():
            moment = moment.astimezone()
        return moment.strftime("%H:%M:%S")
