"""The settings a person finds in the dialog, as data: one Field per setting, in pages.

Invariant: every key is a dotted path into engine.settings.Settings (a test checks it), so the
dialog can show and change nothing that does not exist.
"""

from dataclasses import dataclass, fields, is_dataclass
from enum import Enum

from engine.api import Part, Settings

Value = str | int | float | bool | None


@dataclass(frozen=True)
class Option:
    value: str
    label: str


@dataclass(frozen=True)
class Choice:
    """One of a few."""

    options: tuple[Option, ...]


@dataclass(frozen=True)
class Device:
    """A microphone or loudspeaker that exists now."""

    part: Part


@dataclass(frozen=True)
class Number:
    """Shown in `unit`; a float setting has decimals."""

    lowest: float
    highest: float
    step: float
    unit: str = ""
    decimals: int = 0


@dataclass(frozen=True)
class Text:
    """One line, or several."""

    lines: int = 1


class PathOf(Enum):
    """What a path setting points at."""

    FILE = "file"
    FOLDER = "folder"


@dataclass(frozen=True)
class Location:
    """A path on this machine, or text of another kind where the engine takes that."""

    of: PathOf


@dataclass(frozen=True)
class Flag:
    """On or off."""


@dataclass(frozen=True)
class KeyName:
    """A key to hold; a `chord` is one with its modifiers, or none."""

    chord: bool = False


Kind = Choice | Device | Number | Text | Location | Flag | KeyName


@dataclass(frozen=True)
class OnlyWith:
    """Shown only while another setting has this value."""

    key: str
    value: str


@dataclass(frozen=True)
class Field:
    key: str
    label: str
    kind: Kind
    help: str = ""
    only: OnlyWith | None = None  # None = always shown


@dataclass(frozen=True)
class Page:
    title: str
    part: Part | None  # the part its status row stands for; None = no part
    fields: tuple[Field, ...]
    at_login: bool = False  # begins with the row that starts Rubato at login, which is no setting


_RECOGNISER = "recogniser.engine"
_MODEL = "language_model.engine"
_SYNTHESISER = "speech.engine"

PAGES = (
    Page(
        "Sound",
        Part.MICROPHONE,
        (
            Field("audio.microphone", "Microphone", Device(Part.MICROPHONE)),
            Field("audio.loudspeaker", "Loudspeaker", Device(Part.LOUDSPEAKER)),
            Field(
                "audio.headset",
                "I wear a headset",
                Flag(),
                "The microphone does not hear the loudspeaker, so you can interrupt by speaking.",
            ),
            Field(
                "audio.echo_cancellation",
                "Cancel echo",
                Flag(),
                "Takes the loudspeaker out of the microphone, so you can interrupt by speaking.",
            ),
            Field("audio.noise_suppression", "Suppress noise", Flag()),
            Field("audio.gain_control", "Even out my loudness", Flag()),
            Field(
                "audio.lead_ms",
                "Lead",
                Number(80, 1000, 20, " ms"),
                "How far speech is made ahead. Less follows the rate slider sooner; more survives"
                " a busy machine.",
            ),
        ),
    ),
    Page(
        "Recogniser",
        Part.RECOGNISER,
        (
            Field(
                _RECOGNISER,
                "Recogniser",
                Choice(
                    (
                        Option("auto", "Whisper where it is quick enough"),
                        Option("sphinx", "Sphinx (built in)"),
                        Option("whisper", "Whisper"),
                    )
                ),
                "Whisper understands people far better, once it was fetched:"
                " rubato models get whisper-base.",
            ),
            Field(
                "recogniser.model",
                "Model folder",
                Location(PathOf.FOLDER),
                "A Whisper model converted for CTranslate2. Empty: the one that was fetched.",
                OnlyWith(_RECOGNISER, "whisper"),
            ),
            Field(
                "recogniser.language",
                "Language",
                Text(),
                "Two letters, for example en or de; auto: Whisper tells which. Sphinx knows English"
                " only.",
            ),
            Field(
                "recogniser.patience",
                "When you pause",
                Choice(
                    (
                        Option("quick", "Answer quickly"),
                        Option("balanced", "Balanced"),
                        Option("patient", "Wait patiently"),
                    )
                ),
                "How long the assistant waits for more. It answers sooner where your words are"
                " complete.",
            ),
        ),
    ),
    Page(
        "Language model",
        Part.LANGUAGE_MODEL,
        (
            Field(
                _MODEL,
                "Language model",
                Choice(
                    (
                        Option("skills", "Skills (built in)"),
                        Option("llama", "Model file (GGUF)"),
                        Option("server", "Server (OpenAI-compatible)"),
                    )
                ),
            ),
            Field(
                "language_model.model",
                "Model file",
                Location(PathOf.FILE),
                "A GGUF file.",
                OnlyWith(_MODEL, "llama"),
            ),
            Field(
                "language_model.address",
                "Server address",
                Text(),
                "llama-server, Ollama, LM Studio, vLLM… on this machine or in your network.",
                OnlyWith(_MODEL, "server"),
            ),
            Field(
                "language_model.model",
                "Model name",
                Text(),
                "As the server calls it.",
                OnlyWith(_MODEL, "server"),
            ),
            Field(
                "language_model.key_variable",
                "Key from variable",
                Text(),
                "Name of the environment variable that holds the server's key; the key itself is"
                " never saved.",
                OnlyWith(_MODEL, "server"),
            ),
            Field("language_model.system_prompt", "Instructions", Text(lines=4)),
            Field(
                "language_model.temperature",
                "Temperature",
                Number(0.0, 2.0, 0.1, decimals=1),
                "Higher is more surprising.",
            ),
        ),
    ),
    Page(
        "Voice",
        Part.SYNTHESISER,
        (
            Field(
                _SYNTHESISER,
                "Synthesiser",
                Choice(
                    (
                        Option("starter", "Rubato's own (built in)"),
                        Option("espeak", "eSpeak NG (built in)"),
                        Option("voxtream2", "VoXtream2 (fetched)"),
                    )
                ),
                "All but eSpeak NG can learn a voice from a recording.",
            ),
            Field(
                "speech.device",
                "Runs on",
                Choice(
                    (
                        Option("auto", "The best there is"),
                        Option("cuda", "Graphics card (CUDA)"),
                        Option("cpu", "Processor"),
                    )
                ),
            ),
            Field(
                "speech.profile",
                "Precision",
                Choice(
                    (
                        Option("auto", "What rubato bench picked"),
                        Option("full", "Full"),
                        Option("int8", "8 bits"),
                        Option("int4", "4 bits"),
                        Option("int4-8", "4 bits, half the codebooks"),
                    )
                ),
                "On the processor, fewer bits are faster and lose some sound.",
                OnlyWith(_SYNTHESISER, "voxtream2"),
            ),
            Field(
                "speech.pacing",
                "Pace from content",
                Flag(),
                "Slower for numbers, spelling, new names and quotations, quicker for asides; around"
                " the rate you set.",
            ),
            Field(
                "speech.seed",
                "Seed",
                Number(0, 1_000_000, 1),
                "The same seed speaks the same words the same way.",
            ),
        ),
    ),
    Page(
        "Window",
        None,
        (
            Field(
                "window.theme",
                "Appearance",
                Choice(
                    (
                        Option("system", "Follow the system"),
                        Option("light", "Light"),
                        Option("dark", "Dark"),
                    )
                ),
            ),
            Field(
                "window.motion",
                "Motion",
                Choice((Option("system", "Follow the system"), Option("reduced", "Reduced"))),
                "Reduced: nothing in the window moves by itself.",
            ),
            Field("window.talk_key", "Talk key", KeyName(), "Hold it while you speak."),
        ),
    ),
    Page(
        "Conversations",
        None,
        (
            Field(
                "history.keep",
                "Keep conversations",
                Choice(
                    (
                        Option("ask", "Ask me"),
                        Option("forever", "For ever"),
                        Option("30 days", "For 30 days"),
                        Option("never", "Not at all"),
                    )
                ),
                "Only on this computer. A private conversation is never kept; what was kept before"
                " stays until you delete it, or its 30 days are over.",
            ),
        ),
    ),
    Page(
        "Always there",
        None,
        (
            Field(
                "presence.tray",
                "Stay in the tray",
                Flag(),
                "Closing the window then only hides it, where the desktop has a tray.",
            ),
            Field(
                "presence.notifications",
                "Notifications",
                Flag(),
                "For timers, a lost microphone and fetched models while the window is away.",
            ),
            Field(
                "presence.talk_key",
                "Talk key everywhere",
                KeyName(chord=True),
                "Hold it while you speak, whatever has the focus. Under Wayland the desktop asks"
                " you which key it gives.",
            ),
            Field("presence.stop_key", "Stop key everywhere", KeyName(chord=True)),
            Field("presence.faster_key", "Faster key everywhere", KeyName(chord=True)),
            Field("presence.slower_key", "Slower key everywhere", KeyName(chord=True)),
        ),
        at_login=True,
    ),
)


def field_of(key: str) -> Field:
    """How a setting is shown, wherever it is."""
    return next(field for page in PAGES for field in page.fields if field.key == key)


def flat(settings: Settings) -> dict[str, Value]:
    """All settings by their dotted keys."""
    return {
        f"{group.name}.{field.name}": getattr(value, field.name)
        for group in fields(settings)
        if is_dataclass(value := getattr(settings, group.name))
        for field in fields(value)
    }
