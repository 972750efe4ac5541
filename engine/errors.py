"""Every failure the engine reports, as one tree.

EngineError
├── InvalidInput        something given cannot be used: text, number, option, file
│   └── UnreadableClip  an audio file that cannot become a voice or a question
├── SettingsError       the settings file is broken; defaults are in force
├── DeviceError         no microphone or loudspeaker, or it went away
├── ModelError          a model is missing, half there, or refuses to load
│   └── AssetError      fetching or verifying model files failed
├── RecogniserError     the recogniser failed on this utterance; the next one works
├── LanguageModelError  the language model or its server failed on this turn; the next one works
├── HistoryError         conversations cannot be kept or read; talking goes on
├── SynthesisError      the voice failed on this utterance; the next one works
├── Busy                all places of the server are taken; later there will be one
├── TimedOut            a client of the server let it wait for too long
└── Cancelled           the person stopped it; never shown as a fault

Invariant: `message` is a whole sentence for the person, `hint` says what to do, `code` never
changes between releases.
"""

from typing import ClassVar

from engine.translatable import Translatable, joined


class EngineError(Exception):
    """A failure with a stable code, a message for the person and a hint what to do about it.

    Both are templates, with `values` at their {places}: "The file '{name}' is empty.", name=name.
    """

    code: ClassVar[str] = "engine"

    def __init__(self, message: str, /, *, hint: str = "", **values: object) -> None:
        self.message = Translatable(message, **values)
        self.hint = Translatable(hint, **values)
        super().__init__(self.message)

    def __str__(self) -> str:
        return joined((self.message, self.hint)) if self.hint else self.message


class InvalidInput(EngineError):
    code = "invalid-input"


class UnreadableClip(InvalidInput):
    code = "unreadable-clip"


class SettingsError(EngineError):
    code = "settings"


class DeviceError(EngineError):
    code = "device"


class ModelError(EngineError):
    code = "model"


class AssetError(ModelError):
    code = "asset"


class RecogniserError(EngineError):
    code = "recogniser"


class LanguageModelError(EngineError):
    code = "language-model"


class HistoryError(EngineError):
    code = "history"


class SynthesisError(EngineError):
    code = "synthesis"


class Busy(EngineError):
    code = "busy"


class TimedOut(EngineError):
    code = "timed-out"


class Cancelled(EngineError):
    code = "cancelled"
