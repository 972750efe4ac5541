"""Ringing timers: sound, announcement, and silencing.

Invariant: belongs to the conductor's thread. A text is announced when the floor is free, and
again after a newer turn interrupted it, but not once its timer was dismissed or snoozed.
"""

from collections.abc import Callable

from engine.messages.commands import Speak, StopReply
from engine.messages.timers import CancelTimers
from engine.messages.words import Ending, Phase
from engine.runtime.host.port import ConductorPort
from engine.runtime.host.timers import Timers
from engine.runtime.turn.floor import Floor
from engine.runtime.turn.rules import ENDED_BY_NEWER


class Ringing:
    """`sound` turns the sound on or off."""

    def __init__(self, timers: Timers, sound: Callable[[bool], None], port: ConductorPort) -> None:
        self._timers = timers
        self._sound = sound
        self._port = port
        self._unsaid: dict[int, str] = {}  # texts by their timer's number
        self._announced: tuple[int, int] | None = None  # turn and timer; None = no announcement
        self._stop = StopReply()  # the command that ends an announcement
        self.sounds = False

    @property
    def announces(self) -> bool:
        """True while a text waits for the free floor."""
        return bool(self._unsaid)

    def look(self, floor: Callable[[], Floor]) -> None:
        """Start timers that are due, and end dismissed ones."""
        for rang in self._timers.ring_due():
            self._port.emit(rang)
            self._unsaid[rang.number] = rang.text
        if bool(self._timers.sounding) != self.sounds:
            self.sounds = not self.sounds
            self._sound(self.sounds)
            self._port.attend()
        rung = self._timers.rung
        self._unsaid = {number: self._unsaid[number] for number in self._unsaid if number in rung}
        if self._announced is not None:
            turn, number = self._announced
            if floor().turn == turn and number not in rung:
                self._port.decide(self._stop)
        elif self._unsaid and floor().phase is Phase.IDLE:
            number, text = next(iter(self._unsaid.items()))
            self._port.decide(Speak(text))
            self._announced = floor().turn, number

    def turn_ended(self, turn: int, ending: Ending) -> None:
        """Note that a text was announced, or must be announced again."""
        if self._announced is not None and self._announced[0] == turn:
            if ending not in (*ENDED_BY_NEWER, Ending.INTERRUPTED_BY_SPEECH):
                self._unsaid.pop(self._announced[1], None)
            self._announced = None

    def silence(self, *, by_escape: bool) -> bool:
        """Dismiss ringing and announced timers; False = there are none."""
        self._stop = StopReply(by_escape=by_escape)
        announced = set() if self._announced is None else {self._announced[1]}
        heard = self._timers.rung & (self._timers.sounding | announced)
        self._timers.change(CancelTimers(tuple(heard)))
        return bool(heard)
