"""How much of the loudspeaker the microphone hears, measured while a sentence plays.

Invariant: the advice is based only on measured levels; with too few of them there is none.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from app.language import decimal, tr
from engine.api import Levels

_SOUNDING_DB = -45.0  # above this level the loudspeaker plays something
_FEWEST = 5  # levels, which come ten times a second, of the room and of what plays
_SILENT_AFTER = 6  # levels without sound after it: the sentence is over
_LONGEST = 300  # levels, half a minute; if the loudspeaker was not heard by then, it does not play
_HEARD_DB = 6.0  # louder than the room: the microphone hears the loudspeaker
_CLEAN_DB = 12.0  # the rest may be this much above the room; a voice is still clearly louder


@dataclass(frozen=True)
class Echo:
    """Medians in dB full scale: of the room, of the microphone while the loudspeaker plays, and of
    that after the echo canceller.
    """

    room_db: float
    raw_db: float
    left_db: float

    @property
    def is_heard(self) -> bool:
        """Whether the microphone hears the loudspeaker at all."""
        return self.raw_db > self.room_db + _HEARD_DB

    @property
    def is_cancelled(self) -> bool:
        """Whether a person can be distinguished from the remaining echo."""
        return self.left_db < self.room_db + _CLEAN_DB

    @property
    def advice(self) -> str:
        """What this means for talking over a reply, and what to do."""
        if not self.is_heard:
            return tr(
                "The microphone does not hear the loudspeaker. Say that you wear a headset, and"
                " speaking will interrupt a reply."
            )
        taken = self.raw_db - self.left_db
        if self.is_cancelled:
            return tr(
                "The echo is {taken} dB quieter than it was: just speak to interrupt.",
                taken=decimal(taken, 0),
            )
        return tr(
            "The echo is still {above} dB above the room. Turn the loudspeaker down,"
            " move the microphone away from it, wear a headset, or press the talk key to"
            " interrupt.",
            above=decimal(self.left_db - self.room_db, 0),
        )


def sounds(levels: Levels) -> bool:
    """Whether the loudspeaker plays something."""
    return levels.loudspeaker_db > _SOUNDING_DB


class EchoMeasurement:
    """Collects the levels as they arrive; `room`: raw levels in dB just before it."""

    def __init__(self, room: Iterable[float] = ()) -> None:
        self._room = list(room)
        self._raw: list[float] = []
        self._left: list[float] = []
        self._silent = 0  # levels since the loudspeaker was last heard
        self._levels = 0

    def add(self, levels: Levels) -> None:
        self._levels += 1
        self._silent += 1
        if sounds(levels):
            self._silent = 0
            self._raw.append(levels.raw_db)
            self._left.append(levels.microphone_db)
        elif not self._raw:  # later levels contain the room's echo
            self._room.append(levels.raw_db)

    @property
    def is_over(self) -> bool:
        """Whether the sentence has been heard, or will not be."""
        spoken = bool(self._raw) and self._silent >= _SILENT_AFTER
        return spoken or self._levels >= _LONGEST

    @property
    def echo(self) -> Echo | None:
        """None until enough was heard of the room and of the loudspeaker."""
        if min(len(self._room), len(self._raw)) < _FEWEST:
            return None
        return Echo(median(self._room), median(self._raw), median(self._left))
