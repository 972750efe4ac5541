"""A conversation for export: its turns, and when they were."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from engine.messages.conversations import Turn


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
