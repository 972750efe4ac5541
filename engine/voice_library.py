"""What a host without a window may do with the voices: plain values in, plain values out.

Invariant: no synthesiser is loaded and no torch imported.
"""

import logging
from dataclasses import replace
from pathlib import Path

from engine.errors import ModelError
from engine.messages.voices import Mix, VoiceEntry
from engine.settings import Settings, SpeechSettings
from engine.tts import pick
from engine.tts.roster import ESPEAK, Roster, of_settings
from engine.tts.shelf import SENTENCE, Shelf

log = logging.getLogger(__name__)


class VoiceLibrary:
    """The voices of the synthesiser of the settings, and those the person made.

    Where 'auto', or the one that comes with the program, is not whole, what needs no weights stands
    in for it; ModelError for another one. Every call may raise InvalidInput and ModelError.
    """

    sentence = SENTENCE  # what a voice says to be heard

    def __init__(self, settings: Settings, within: Path | None = None) -> None:
        """`within`: the folder of voices; None = in the person's data folder."""
        self._roster = _roster(settings.speech)
        self._shelf = Shelf(within)

    def entries(self) -> tuple[VoiceEntry, ...]:
        """All there are, the synthesiser's own first, its default before all."""
        return self._shelf.cards(self._roster)

    def removed(self) -> tuple[str, ...]:
        """What can be brought back."""
        return self._shelf.removed()

    def pace(self, name: str) -> float | None:
        """The pace (SPS) a voice begins with, if it has one."""
        return self._shelf.pace(name)

    def set_pace(self, name: str, pace: float | None) -> str:
        """Choose the pace a voice begins with; None = the slider's. Returns its name."""
        known = self.find(name)
        self._shelf.set_pace(known, pace)
        return known

    def find(self, name: str) -> str:
        """The name as it is written. InvalidInput when there is no such voice."""
        return self._shelf.find(name, self._roster)

    def rename(self, name: str, new: str) -> str:
        """Returns the name it has now."""
        return self._shelf.rename(name, new, self._roster)

    def remove(self, name: str, *, for_good: bool = False) -> str:
        """Remove a voice; it can be brought back for some days unless `for_good`."""
        removed = self._shelf.remove(name, self._roster)
        return self._shelf.discard(removed) if for_good else removed

    def restore(self, name: str) -> str:
        """Bring back what was removed."""
        return self._shelf.restore(name, self._roster)

    def mix(self, name: str, mix: Mix) -> str:
        """Keep a mixture of two voices; returns its name."""
        return self._shelf.mix(name, mix, self._roster)

    def export(self, name: str, path: Path) -> Path:
        """Write a voice with its recording and pace to one file; returns which."""
        return self._shelf.export(name, path, self._roster)

    def read_in(self, path: Path, name: str = "") -> str:
        """Take a voice from such a file; returns its name."""
        return self._shelf.read_in(path, name, self._roster)


def _roster(speech: SpeechSettings) -> Roster:
    try:
        return of_settings(speech)
    except ModelError as error:
        if speech.engine not in (pick.AUTO, pick.BUILT_IN):
            raise
        log.warning("%s Until then %s speaks.", error, ESPEAK)
        return of_settings(replace(speech, engine=ESPEAK))
