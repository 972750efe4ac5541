"""A conversation for export: its turns and their times."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from engine.messages.conversations import Turn


@dataclass(frozen=True)
class Conversation:
    """A conversation that began at `began` (a time with its zone). `turns`: oldest first. `title`:
    the user's title; empty = the user gave none.
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
