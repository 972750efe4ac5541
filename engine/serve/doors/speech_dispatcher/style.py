"""How a message is spoken, as the daemon's SET says it."""

from dataclasses import dataclass, replace
from typing import Any, Final

SLOWEST, USUAL, FASTEST = 80, 175, 450  # words a minute, as speech-dispatcher's own espeak module
LABEL_WORDS, LABEL_CHARACTERS = 4, 40  # at most; Orca ends labels with a full stop
_NUMBERS: Final = ("rate", "pitch", "pitch_range", "volume")
_NAMES: Final = {"punctuation_mode": "punctuation", "cap_let_recogn": "capitals"}
_VOICES: Final = {"synthesis_voice": "voice", "language": "language"}


@dataclass(frozen=True)
class Style:
    """Numbers are from -100 to 100. `voice`: a name, empty = that of the language."""

    language: str = "en"
    voice: str = ""
    rate: int = 0
    pitch: int = 0
    pitch_range: int = 0
    volume: int = 100
    punctuation: str = "none"
    capitals: str = "none"
    spelling: bool = False

    @property
    def words_per_minute(self) -> int:
        span = FASTEST - USUAL if self.rate > 0 else USUAL - SLOWEST
        return USUAL + span * self.rate // 100

    @property
    def code(self) -> str:
        """The code of the language."""
        return self.language.split("-")[0].lower()

    def changed(self, values: dict[str, str]) -> "Style":
        """Return a style with the values of SET; unknown names and values change nothing."""
        changes: dict[str, Any] = {
            key: max(-100, min(100, int(values[key])))
            for key in _NUMBERS
            if values.get(key, "").removeprefix("-").isdecimal() and len(values[key]) < 9
        }
        for key, name in (_NAMES | _VOICES).items():
            if key in values:
                changes[name] = "" if values[key] == "NULL" else values[key].strip()[:200]
        if "spelling_mode" in values:
            changes["spelling"] = values["spelling_mode"] == "on"
        return replace(self, **changes)


def is_label(text: str) -> bool:
    """Return whether a text is as short as a label."""
    return len(text.split()) <= LABEL_WORDS and len(text) <= LABEL_CHARACTERS


def key_text(command: str, text: str) -> str:
    """Return what is said for a character, for a key such as shift_a, or for a sound."""
    text = text.replace("\n", " ")[:200]
    if text == "space":
        return " "
    return text if command == "CHAR" or len(text) == 1 else text.replace("_", " ").replace("-", " ")
