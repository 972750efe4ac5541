"""The table of settings. A field is a setting; its annotations are its rule, its row in the form,
and the receiver of its changes. Validation, form, routing and the page of settings
(resources/pages/settings.md) follow from it.

Only data. A plain text among the annotations describes a setting without a row.
"""

from dataclasses import dataclass, field
from typing import Annotated

from engine.languages import WINDOW_LANGUAGES
from engine.settings.rules import (
    CHORD,
    AppliesTo,
    Choice,
    Entry,
    Help,
    LoadedBy,
    Pattern,
    Range,
    Shown,
)
from engine.settings.speech import SpeechSettings
from engine.translatable import Translatable, mark

OF_SYSTEM = "system"  # the recogniser's language


@dataclass(frozen=True)
class AudioSettings:
    # device names; empty = the system's default
    microphone: Annotated[str, AppliesTo.MICROPHONE, Shown("Microphone", Entry.MICROPHONE)] = ""
    loudspeaker: Annotated[str, AppliesTo.LOUDSPEAKER, Shown("Loudspeaker", Entry.LOUDSPEAKER)] = ""
    volume: Annotated[float, AppliesTo.CONTROLS, Range(0, 1), "0 is silent, 1 is unchanged."] = 1.0
    hands_free: Annotated[bool, "Off: hold the talk key while you speak."] = True
    muted: Annotated[bool, AppliesTo.MICROPHONE, "The microphone's stream is closed."] = False
    headset: Annotated[
        bool,
        Shown("I wear a headset"),
        Help("The microphone does not hear the loudspeaker, so you can interrupt by speaking."),
    ] = False
    echo_cancellation: Annotated[
        bool,
        Shown("Cancel echo"),
        Help("Removes the loudspeaker from the microphone, so you can interrupt by speaking."),
    ] = True
    noise_suppression: Annotated[bool, Shown("Suppress noise", advanced=True)] = False
    gain_control: Annotated[bool, Shown("Even out my loudness", advanced=True)] = False
    give_way: Annotated[
        bool,
        AppliesTo.CONTROLS,
        Shown("Wait while the screen reader speaks", advanced=True),
        Help(
            "A screen reader that speaks with Rubato's voice comes first; the reply goes on"
            " after it."
        ),
    ] = True
    lead_ms: Annotated[
        int,
        AppliesTo.CONTROLS,
        Range(80, 1000, 20, " ms"),  # one codec frame .. the longest wait for a new rate
        Shown("Lead", advanced=True),
        Help(
            "How far speech is made ahead. Less follows the rate slider sooner; more survives a"
            " busy machine."
        ),
    ] = 240


@dataclass(frozen=True)
class RecogniserSettings:
    engine: Annotated[
        str,
        Choice.of(
            auto=mark("Whisper where it is quick enough"),
            sphinx=mark("Sphinx (built in)"),
            whisper=mark("Whisper"),
        ),
        Shown("Recogniser"),
        Help("Whisper understands people far better. The page of models (Ctrl+M) fetches it."),
    ] = "auto"
    model: Annotated[
        str,
        LoadedBy(("whisper",)),
        Shown("Model folder", Entry.FOLDER, only_with="whisper"),
        Help("A Whisper model converted for CTranslate2. Empty: the one that was fetched."),
    ] = ""
    language: Annotated[
        str,
        Pattern(
            r"system|auto|[a-z]{2,3}(-[A-Za-z]{2,4})?",
            Translatable(
                "Give a language code such as '{code}', or '{other}'.", code="en", other="auto"
            ),
        ),
        Shown("Language", Entry.LANGUAGE),
        Help(
            "Whisper detects the language, also where that of the system is not English. Sphinx"
            " knows English only."
        ),
    ] = OF_SYSTEM
    patience: Annotated[
        str,
        AppliesTo.RECOGNISER,
        Choice.of(
            quick=mark("Answer quickly"), balanced=mark("Balanced"), patient=mark("Wait patiently")
        ),
        Shown("When you pause"),
        Help(
            "How long the assistant waits for more. It answers sooner where your words are"
            " complete."
        ),
    ] = "balanced"


@dataclass(frozen=True)
class WakeSettings:
    """Wake phrase, for hands-free use: asleep between turns until it is spoken."""

    on: Annotated[
        bool,
        Shown("Answer to a name"),
        Help(
            "Between turns, only the phrase is listened for, on this computer; nothing"
            " else that is said is transcribed or kept. Needs hands-free."
        ),
    ] = False
    phrase: Annotated[
        str,
        Pattern(
            r"\S(.{0,58}\S)?",
            Translatable("Give a phrase such as '{phrase}'.", phrase="hey rubato"),
        ),
        Shown("Wake phrase"),
        Help("Three syllables or more that are seldom said otherwise, such as hey rubato."),
    ] = "hey rubato"
    stay_awake_s: Annotated[
        float,
        Range(2, 60, 1, " s"),
        Shown("Stay awake"),
        Help("For this long after a turn you need not say it again."),
    ] = 8.0


@dataclass(frozen=True)
class LanguageModelSettings:
    engine: Annotated[
        str,
        Choice.of(
            skills=mark("Skills (built in)"),
            llama=mark("Model file (GGUF)"),
            server=mark("Server (OpenAI-compatible)"),
        ),
        Shown("Language model"),
    ] = "skills"
    model: Annotated[
        str,
        LoadedBy(("llama", "server")),
        Shown("Model file", Entry.FILE, only_with="llama"),
        Help("A GGUF file."),
        Shown("Model name", only_with="server", place=1),
        Help("The model's name on the server."),
    ] = ""
    address: Annotated[
        str,
        LoadedBy(("server",)),
        Pattern(
            r"https?://[^\s/]+\S*",
            Translatable("Give an address that begins with http:// or https://."),
        ),
        Shown("Server address", only_with="server"),
        Help("llama-server, Ollama, LM Studio, vLLM… on this machine or in your network."),
    ] = "http://127.0.0.1:8080/v1"
    # A key pasted here by mistake would be stored in clear text; few keys look like a name.
    key_variable: Annotated[
        str,
        LoadedBy(("server",)),
        Pattern(
            r"([A-Za-z_][A-Za-z0-9_]{0,99})?",
            Translatable("Give the name of an environment variable, or empty."),
        ),
        Shown("Key from variable", only_with="server", advanced=True),
        Help(
            "Name of the environment variable that holds the server's key; the key itself is"
            " never saved."
        ),
    ] = ""
    system_prompt: Annotated[str, Shown("Instructions", Entry.PARAGRAPH, place=3)] = (
        "You are a friendly voice assistant. Answer in short spoken sentences."
    )
    context_tokens: Annotated[
        int, LoadedBy(("llama",)), Range(256, 1_048_576), "How much the model can look back on."
    ] = 4096
    temperature: Annotated[
        float,
        Range(0, 2, 0.1),
        Shown("Temperature", advanced=True),
        Help("Higher is more surprising."),
    ] = 0.7


# 'ask' = not decided yet; nothing is written until the user decides
KEEPING = Choice.of(
    ask=mark("Ask me"),
    forever=mark("For ever"),
    **{"30 days": mark("For 30 days")},
    never=mark("Not at all"),
)


@dataclass(frozen=True)
class HistorySettings:
    keep: Annotated[
        str,
        KEEPING,
        Shown("Keep conversations"),
        Help(
            "Only on this computer. A private conversation is never kept; what was kept before"
            " stays until you delete it, or its 30 days are over."
        ),
    ] = "ask"


@dataclass(frozen=True)
class PersonSettings:
    name: Annotated[
        str,
        Pattern(
            r"([^\s\0](.{0,38}[^\s\0])?)?",
            Translatable("Give a name of at most {count} characters.", count=40),
        ),
        Shown("Your name", place=2),
        Help("As you told it: “my name is …”. Kept on this computer; empty forgets it."),
    ] = ""


@dataclass(frozen=True)
class WindowSettings:
    theme: Annotated[
        str,
        Choice.of(system=mark("Follow the system"), light=mark("Light"), dark=mark("Dark")),
        Shown("Appearance"),
    ] = "system"
    language: Annotated[
        str,
        Choice.of(system=mark("Follow the system"), **WINDOW_LANGUAGES),
        Shown("Language of the window"),
        Help("From the next start. The language of the answers is on the page of the voice."),
    ] = "system"
    motion: Annotated[
        str,
        Choice.of(system=mark("Follow the system"), reduced=mark("Reduced")),
        Shown("Motion"),
        Help("Reduced: nothing in the window moves by itself."),
    ] = "system"
    talk_key: Annotated[
        str,
        Pattern(
            r"\S(.{0,38}\S)?", Translatable("Give the name of a key, such as '{key}'.", key="Space")
        ),
        Shown("Talk key", Entry.KEY),
        Help("Hold it while you speak."),
    ] = "Space"
    first_start: Annotated[int, Range(0, 5), "Steps of the first start that are done."] = 0


@dataclass(frozen=True)
class PresenceSettings:
    """Settings outside the window."""

    tray: Annotated[
        bool,
        Shown("Stay in the tray"),
        Help("Closing the window then only hides it, where the desktop has a tray."),
    ] = True
    notifications: Annotated[
        bool,
        Shown("Notifications"),
        Help("For timers, a lost microphone and fetched models while the window is away."),
    ] = True
    talk_key: Annotated[
        str,
        CHORD,
        Shown("Talk key everywhere", Entry.CHORD),
        Help(
            "Hold it while you speak, whatever has the focus. Under Wayland the desktop asks you"
            " which key it gives."
        ),
    ] = ""
    stop_key: Annotated[str, CHORD, Shown("Stop key everywhere", Entry.CHORD)] = ""
    faster_key: Annotated[str, CHORD, Shown("Faster key everywhere", Entry.CHORD)] = ""
    slower_key: Annotated[str, CHORD, Shown("Slower key everywhere", Entry.CHORD)] = ""
    selection_key: Annotated[
        str,
        CHORD,
        Shown("Read-selection key everywhere", Entry.CHORD),
        Help(
            "Reads what is selected in any program; where that cannot be known, as on other systems"
            " than Linux, what was copied."
        ),
    ] = ""


@dataclass(frozen=True)
class ServeSettings:  # engine/serve, in a separate process
    on: Annotated[
        bool,
        Shown("Speak for other programs"),
        Help(
            "For editors, agents and home automation on this computer, in the ways of OpenAI's"
            " servers and of MCP. They never see what is said in this window."
        ),
    ] = False
    network: Annotated[
        bool,
        Shown("Let other computers in"),
        Help(
            "Anyone with the token that this page copies. It travels unencrypted: only for networks"
            " you trust."
        ),
    ] = False
    port: Annotated[int, Range(1024, 65535), Shown("Port", advanced=True)] = 8790
    places: Annotated[int, Range(0, 8), Shown("Texts at once (0: as measured)", advanced=True)] = 0
    names: Annotated[str, Shown("Other host names, with commas", advanced=True)] = ""


@dataclass(frozen=True)
class Settings:
    """The sections, each with the default receiver of its settings' changes."""

    audio: Annotated[AudioSettings, AppliesTo.CLEANING] = field(default_factory=AudioSettings)
    recogniser: Annotated[RecogniserSettings, AppliesTo.RECOGNISER] = field(
        default_factory=RecogniserSettings
    )
    wake: Annotated[WakeSettings, AppliesTo.WAKE] = field(default_factory=WakeSettings)
    language_model: Annotated[LanguageModelSettings, AppliesTo.LANGUAGE_MODEL] = field(
        default_factory=LanguageModelSettings
    )
    speech: Annotated[SpeechSettings, AppliesTo.SYNTHESISER] = field(default_factory=SpeechSettings)
    history: Annotated[HistorySettings, AppliesTo.HISTORY] = field(default_factory=HistorySettings)
    person: PersonSettings = field(default_factory=PersonSettings)
    window: WindowSettings = field(default_factory=WindowSettings)
    presence: PresenceSettings = field(default_factory=PresenceSettings)
    serve: ServeSettings = field(default_factory=ServeSettings)
