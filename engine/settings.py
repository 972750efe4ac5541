"""What the person may change, typed, with the rules every value keeps.

Invariant: a Settings made by `change` holds only values that keep the rules; a value that does not
is refused with a sentence that says what is allowed. The file is engine/settings_file.py's matter.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_type_hints

from engine.errors import InvalidInput
from engine.systems import SYSTEMS
from engine.translatable import Translatable
from engine.typed_values import WrongValue, typed

Value = str | int | float | bool | None  # None is allowed for speech.rate only: own pace


@dataclass(frozen=True)
class AudioSettings:
    microphone: str = ""  # device name; empty = system default
    loudspeaker: str = ""
    volume: float = 1.0  # 0..1
    hands_free: bool = True  # False = push-to-talk
    muted: bool = False  # the microphone's stream is closed
    # the microphone does not hear the loudspeaker: speaking interrupts the reply
    headset: bool = False
    echo_cancellation: bool = True  # take the loudspeaker out of the microphone, if it can be
    noise_suppression: bool = False
    gain_control: bool = False
    # how far synthesis runs ahead of playback: also how late a new rate is heard
    lead_ms: int = 240


@dataclass(frozen=True)
class RecogniserSettings:
    # 'sphinx' (built in), 'whisper', or 'auto': Whisper where it is fetched and quick enough
    engine: str = "auto"
    # folder of a CTranslate2 Whisper model, for 'whisper'; empty = the one that was fetched
    model: str = ""
    language: str = "en"  # a code; 'auto' = Whisper tells which
    patience: str = "balanced"  # with a person who pauses: 'quick', 'balanced' or 'patient'


@dataclass(frozen=True)
class WakeSettings:
    """Being called by name, where hands are free: asleep between turns until that is heard."""

    on: bool = False
    phrase: str = "hey rubato"
    stay_awake_s: float = 8.0  # after a turn, for what is said next without the phrase


@dataclass(frozen=True)
class LanguageModelSettings:
    engine: str = "skills"  # 'skills' (built in), 'llama' or 'server'
    model: str = ""  # GGUF file for 'llama'; model name for 'server'
    address: str = "http://127.0.0.1:8080/v1"  # OpenAI-compatible, for 'server'
    # name of the environment variable that holds the server's key; the key itself is never stored
    key_variable: str = ""
    system_prompt: str = "You are a friendly voice assistant. Answer in short spoken sentences."
    context_tokens: int = 4096
    temperature: float = 0.7


@dataclass(frozen=True)
class Manner:
    """How one text is to be said. None = as in the settings; `out` None = through the loudspeaker.

    `voice` is a name or a file, `rate_plan` looks like "0:2,3:6" (seconds:SPS), `out` is a WAV to
    make.
    """

    voice: str | None = None
    rate_plan: str | None = None
    word_delay_ms: float = 0.0
    out: Path | None = None


@dataclass(frozen=True)
class SpeechSettings:
    # 'starter' (built in), another one, or 'auto': the best that was fetched and is quick enough;
    # 'espeak' stands in where it cannot load
    engine: str = "auto"
    voice: str = ""  # empty = the synthesiser's default
    rate: float | None = None  # SPS, 1..7; None = own pace (in the file: the key is absent)
    pacing: bool = True  # slower for figures, names and quotations, quicker for asides
    seed: int = 7
    device: str = "auto"  # 'auto', 'cuda' or 'cpu'
    # precision of the neural voice; 'auto' = what `rubato bench` picked on this machine
    profile: str = "auto"


@dataclass(frozen=True)
class HistorySettings:
    # how long conversations are kept: 'forever', '30 days' or 'never'; 'ask' = the person has not
    # said yet, and nothing is written until they do
    keep: str = "ask"


@dataclass(frozen=True)
class PersonSettings:
    name: str = ""  # what the person is called; told by "my name is", empty = not told


@dataclass(frozen=True)
class WindowSettings:
    theme: str = "system"  # 'system', 'light' or 'dark'
    language: str = "system"  # of the window, from the next start: 'system', 'en', 'de' or 'fr'
    motion: str = "system"  # 'system', or 'reduced': nothing moves by itself
    talk_key: str = "Space"
    first_start: int = 0  # steps of the first start that are done; 5 = all


@dataclass(frozen=True)
class PresenceSettings:
    """Beyond the window."""

    tray: bool = True  # an icon where there is a tray; closing the window then only hides it
    notifications: bool = True
    # keys that work without the focus, such as 'Ctrl+Alt+Space'; empty = none
    talk_key: str = ""
    stop_key: str = ""
    faster_key: str = ""
    slower_key: str = ""


@dataclass(frozen=True)
class Settings:
    audio: AudioSettings = field(default_factory=AudioSettings)
    recogniser: RecogniserSettings = field(default_factory=RecogniserSettings)
    wake: WakeSettings = field(default_factory=WakeSettings)
    language_model: LanguageModelSettings = field(default_factory=LanguageModelSettings)
    speech: SpeechSettings = field(default_factory=SpeechSettings)
    history: HistorySettings = field(default_factory=HistorySettings)
    person: PersonSettings = field(default_factory=PersonSettings)
    window: WindowSettings = field(default_factory=WindowSettings)
    presence: PresenceSettings = field(default_factory=PresenceSettings)


@dataclass(frozen=True)
class Range:
    """Lowest and highest value allowed, both included."""

    lowest: float
    highest: float

    def allows(self, value: Value) -> bool:
        # not-a-number compares false with everything, so it is refused here too
        return isinstance(value, int | float) and self.lowest <= value <= self.highest

    @property
    def hint(self) -> Translatable:
        return Translatable(
            "Give a number from {lowest} to {highest}.",
            lowest=f"{self.lowest:g}",
            highest=f"{self.highest:g}",
        )


@dataclass(frozen=True)
class Choice:
    """The words allowed."""

    words: tuple[str, ...]

    def allows(self, value: Value) -> bool:
        return value in self.words

    @property
    def hint(self) -> Translatable:
        words = ", ".join(f"'{word}'" for word in self.words)
        return Translatable("Give one of {words}.", words=words)


@dataclass(frozen=True)
class Shape:
    """Text of a shape, with the advice to give such a one."""

    pattern: str
    hint: Translatable

    def allows(self, value: Value) -> bool:
        return isinstance(value, str) and re.fullmatch(self.pattern, value) is not None


Rule = Range | Choice | Shape

LONGEST_TEXT = 20_000  # characters; a system prompt of several pages fits, a pasted book does not
_CHORD = Shape(
    r"(\S(.{0,58}\S)?)?",
    Translatable("Give a key such as '{key}', or empty.", key="Ctrl+Alt+Space"),
)
_ANY_TEXT = Shape(
    rf"(?s)[^\0]{{0,{LONGEST_TEXT}}}",
    Translatable("Give text of at most {count} characters.", count=LONGEST_TEXT),
)

RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "audio.volume": Range(0, 1),
        "audio.lead_ms": Range(80, 1000),  # one codec frame .. the longest wait for a new rate
        "recogniser.engine": Choice(("auto", "sphinx", "whisper")),
        "recogniser.language": Shape(
            r"auto|[a-z]{2,3}(-[A-Za-z]{2,4})?",
            Translatable(
                "Give a language code such as '{code}', or '{other}'.", code="en", other="auto"
            ),
        ),
        "recogniser.patience": Choice(("quick", "balanced", "patient")),
        "wake.phrase": Shape(
            r"\S(.{0,58}\S)?",
            Translatable("Give a phrase such as '{phrase}'.", phrase="hey rubato"),
        ),
        "wake.stay_awake_s": Range(2, 60),
        "language_model.engine": Choice(("skills", "llama", "server")),
        "language_model.address": Shape(
            r"https?://[^\s/]+\S*",
            Translatable("Give an address that begins with http:// or https://."),
        ),
        # A key pasted here by mistake would be stored in clear; hardly any has the shape of a name.
        "language_model.key_variable": Shape(
            r"([A-Za-z_][A-Za-z0-9_]{0,99})?",
            Translatable("Give the name of an environment variable, or empty."),
        ),
        "language_model.context_tokens": Range(256, 1_048_576),
        "language_model.temperature": Range(0, 2),
        "speech.engine": Choice(
            ("auto", "espeak", "starter", "kokoro", "voxtream2", *(one.name for one in SYSTEMS))
        ),
        "speech.rate": Range(1, 7),
        "speech.seed": Range(0, 2**63 - 1),
        "speech.device": Choice(("auto", "cuda", "cpu")),
        "speech.profile": Choice(("auto", "full", "int8", "int4")),
        "person.name": Shape(
            r"([^\s\0](.{0,38}[^\s\0])?)?",
            Translatable("Give a name of at most {count} characters.", count=40),
        ),
        "history.keep": Choice(("ask", "forever", "30 days", "never")),
        "window.first_start": Range(0, 5),
        "window.theme": Choice(("system", "light", "dark")),
        "window.language": Choice(("system", "en", "de", "fr")),
        "window.motion": Choice(("system", "reduced")),
        "window.talk_key": Shape(
            r"\S(.{0,38}\S)?", Translatable("Give the name of a key, such as '{key}'.", key="Space")
        ),
        "presence.talk_key": _CHORD,
        "presence.stop_key": _CHORD,
        "presence.faster_key": _CHORD,
        "presence.slower_key": _CHORD,
    }
)

PartSettings = RecogniserSettings | LanguageModelSettings | SpeechSettings

# What each engine is loaded with, besides itself; all the rest applies to it while it runs.
_LOADED_WITH: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "sphinx": (),
        "whisper": ("model",),
        "skills": (),
        "llama": ("model", "context_tokens"),
        "server": ("model", "address", "key_variable"),
        "espeak": (),
        "starter": ("device",),
        "kokoro": (),
        "voxtream2": ("device", "profile"),
        **dict.fromkeys((system.name for system in SYSTEMS), ("device",)),
    }
)


def load_key(settings: PartSettings) -> tuple[Value, ...]:
    """What is to be loaded; settings of one key differ in what applies live, if at all. The engine
    is not 'auto' but what that is here.
    """
    names = _LOADED_WITH[settings.engine]
    return (settings.engine, *(getattr(settings, name) for name in names))


def keys() -> tuple[str, ...]:
    """Every setting as 'section.name', in the order of the file."""
    return tuple(_types())


def value_of(settings: Settings, key: str) -> Value:
    """The value of one setting. InvalidInput when there is no such setting."""
    section, name = _split(key)
    value: Value = getattr(getattr(settings, section), name)
    return value


def change(settings: Settings, key: str, value: Value) -> Settings:
    """Settings with one value changed. InvalidInput when the key or the value is not allowed.

    A whole number is taken for a setting that holds a fraction; nothing else is converted.
    """
    section, name = _split(key)
    checked = _checked(key, value)
    part = replace(getattr(settings, section), **{name: checked})
    return replace(settings, **{section: part})


@cache
def _types() -> Mapping[str, Any]:
    """Key -> type allowed, read from the dataclasses so that a field is declared once."""
    sections = get_type_hints(Settings).items()
    return MappingProxyType(
        {
            f"{section}.{name}": hint
            for section, part in sections
            for name, hint in get_type_hints(part).items()
        }
    )


def _split(key: str) -> tuple[str, str]:
    if key not in _types():
        raise InvalidInput(
            "There is no setting '{key}'.",
            hint="The settings are: {keys}",
            key=key[:80],
            keys=", ".join(keys()),
        )
    section, _, name = key.partition(".")
    return section, name


def _checked(key: str, value: Value) -> Value:
    kind = _types()[key]
    rule = RULES.get(key, _ANY_TEXT if kind is str else None)
    try:
        checked: Value = typed(kind, value, key)
    except WrongValue:
        fits = False
    else:
        fits = checked is None or rule is None or rule.allows(checked)
    if not fits:
        shown = repr(value) if len(repr(value)) <= 60 else repr(value)[:60] + "…"
        raise InvalidInput(
            "The setting '{key}' cannot be {value}.",
            hint="Give true or false." if rule is None else rule.hint,
            key=key,
            value=shown,
        )
    return checked
