"""The settings a person finds in the dialog, as data: one Field per setting, in pages.

Invariant: every key is a dotted path into engine.settings.Settings (a test checks it), so the
dialog can show and change nothing that does not exist.
"""

from dataclasses import fields, is_dataclass

from app.language.words import LANGUAGES, mark
from app.settings.kinds import (
    Choice,
    Device,
    Field,
    Flag,
    KeyName,
    Location,
    Number,
    OnlyWith,
    Option,
    Page,
    PathOf,
    Text,
    Value,
)
from engine.api import SYSTEMS, Part, Settings

_RECOGNISER = "recogniser.engine"
_MODEL = "language_model.engine"
_SYNTHESISER = "speech.engine"
_LANGUAGES = tuple(Option(code, name) for code, name in LANGUAGES.items())

PAGES = (
    Page(
        mark("Sound"),
        Part.MICROPHONE,
        (
            Field("audio.microphone", mark("Microphone"), Device(Part.MICROPHONE)),
            Field("audio.loudspeaker", mark("Loudspeaker"), Device(Part.LOUDSPEAKER)),
            Field(
                "audio.headset",
                mark("I wear a headset"),
                Flag(),
                mark(
                    "The microphone does not hear the loudspeaker, so you can interrupt by"
                    " speaking."
                ),
            ),
            Field(
                "audio.echo_cancellation",
                mark("Cancel echo"),
                Flag(),
                mark(
                    "Takes the loudspeaker out of the microphone, so you can interrupt by speaking."
                ),
            ),
            Field("audio.noise_suppression", mark("Suppress noise"), Flag(), advanced=True),
            Field("audio.gain_control", mark("Even out my loudness"), Flag(), advanced=True),
            Field(
                "audio.lead_ms",
                mark("Lead"),
                Number(80, 1000, 20, " ms"),
                mark(
                    "How far speech is made ahead. Less follows the rate slider sooner; more"
                    " survives a busy machine."
                ),
                advanced=True,
            ),
        ),
    ),
    Page(
        mark("Recogniser"),
        Part.RECOGNISER,
        (
            Field(
                _RECOGNISER,
                mark("Recogniser"),
                Choice(
                    (
                        Option("auto", mark("Whisper where it is quick enough")),
                        Option("sphinx", mark("Sphinx (built in)")),
                        Option("whisper", mark("Whisper")),
                    )
                ),
                mark(
                    "Whisper understands people far better, once it was fetched:"
                    " rubato models get whisper-base."
                ),
            ),
            Field(
                "recogniser.model",
                mark("Model folder"),
                Location(PathOf.FOLDER),
                mark("A Whisper model converted for CTranslate2. Empty: the one that was fetched."),
                OnlyWith(_RECOGNISER, "whisper"),
            ),
            Field(
                "recogniser.language",
                mark("Language"),
                Text(),
                mark(
                    "Two letters, for example en or de; auto: Whisper tells which. Sphinx knows"
                    " English only."
                ),
            ),
            Field(
                "recogniser.patience",
                mark("When you pause"),
                Choice(
                    (
                        Option("quick", mark("Answer quickly")),
                        Option("balanced", mark("Balanced")),
                        Option("patient", mark("Wait patiently")),
                    )
                ),
                mark(
                    "How long the assistant waits for more. It answers sooner where your words are"
                    " complete."
                ),
            ),
        ),
    ),
    Page(
        mark("Wake phrase"),
        None,
        (
            Field(
                "wake.on",
                mark("Answer to a name"),
                Flag(),
                mark(
                    "While nobody talks to it, only the phrase is listened for, on this computer;"
                    " nothing else that is said is transcribed or kept. Needs hands-free."
                ),
            ),
            Field(
                "wake.phrase",
                mark("Wake phrase"),
                Text(),
                mark("Three syllables or more that are seldom said otherwise, such as hey rubato."),
            ),
            Field(
                "wake.stay_awake_s",
                mark("Stay awake"),
                Number(2, 60, 1, " s"),
                mark("For this long after a turn you need not say it again."),
            ),
        ),
        teaches=True,
    ),
    Page(
        mark("Language model"),
        Part.LANGUAGE_MODEL,
        (
            Field(
                _MODEL,
                mark("Language model"),
                Choice(
                    (
                        Option("skills", mark("Skills (built in)")),
                        Option("llama", mark("Model file (GGUF)")),
                        Option("server", mark("Server (OpenAI-compatible)")),
                    )
                ),
            ),
            Field(
                "language_model.model",
                mark("Model file"),
                Location(PathOf.FILE),
                mark("A GGUF file."),
                OnlyWith(_MODEL, "llama"),
            ),
            Field(
                "language_model.address",
                mark("Server address"),
                Text(),
                mark("llama-server, Ollama, LM Studio, vLLM… on this machine or in your network."),
                OnlyWith(_MODEL, "server"),
            ),
            Field(
                "language_model.model",
                mark("Model name"),
                Text(),
                mark("The model's name on the server."),
                OnlyWith(_MODEL, "server"),
            ),
            Field(
                "language_model.key_variable",
                mark("Key from variable"),
                Text(),
                mark(
                    "Name of the environment variable that holds the server's key; the key itself"
                    " is never saved."
                ),
                OnlyWith(_MODEL, "server"),
                advanced=True,
            ),
            Field(
                "person.name",
                mark("Your name"),
                Text(),
                mark("As you told it: “my name is …”. Kept on this computer; empty forgets it."),
            ),
            Field("language_model.system_prompt", mark("Instructions"), Text(lines=4)),
            Field(
                "language_model.temperature",
                mark("Temperature"),
                Number(0.0, 2.0, 0.1, decimals=1),
                mark("Higher is more surprising."),
                advanced=True,
            ),
        ),
    ),
    Page(
        mark("Voice"),
        Part.SYNTHESISER,
        (
            Field(
                _SYNTHESISER,
                mark("Synthesiser"),
                Choice(
                    (
                        Option("auto", mark("Automatic")),
                        Option("kokoro", mark("Kokoro (fetched)")),
                        Option("starter", mark("Rubato's own (built in)")),
                        Option("espeak", mark("eSpeak NG (built in)")),
                        Option("voxtream2", mark("VoXtream2 (fetched)")),
                        *(Option(system.name, system.title) for system in SYSTEMS),
                    )
                ),
                mark(
                    "Automatic: VoXtream2 where a graphics card runs it, Kokoro where it is quick"
                    " enough, else Rubato's own. VoXtream2 and Rubato's own can learn a voice from"
                    " a recording; Kokoro makes one that resembles it."
                ),
            ),
            Field(
                "speech.device",
                mark("Runs on"),
                Choice(
                    (
                        Option("auto", mark("The best there is")),
                        Option("cuda", mark("Graphics card (CUDA)")),
                        Option("cpu", mark("Processor")),
                    )
                ),
                advanced=True,
            ),
            Field(
                "speech.profile",
                mark("Precision"),
                Choice(
                    (
                        Option("auto", mark("What rubato bench picked")),
                        Option("full", mark("Full")),
                        Option("int8", mark("8 bits")),
                        Option("int4", mark("4 bits")),
                    )
                ),
                mark("On the processor, fewer bits are faster and lose some sound."),
                OnlyWith(_SYNTHESISER, "voxtream2"),
                advanced=True,
            ),
            Field(
                "speech.pacing",
                mark("Pace from content"),
                Flag(),
                mark(
                    "Slower for numbers, spelling, new names and quotations, quicker for asides;"
                    " around the rate you set."
                ),
            ),
            Field(
                "speech.seed",
                mark("Seed"),
                Number(0, 1_000_000, 1),
                mark("The same seed speaks the same words the same way."),
                advanced=True,
            ),
        ),
    ),
    Page(
        mark("Window"),
        None,
        (
            Field(
                "window.theme",
                mark("Appearance"),
                Choice(
                    (
                        Option("system", mark("Follow the system")),
                        Option("light", mark("Light")),
                        Option("dark", mark("Dark")),
                    )
                ),
            ),
            Field(
                "window.language",
                mark("Language of the window"),
                Choice((Option("system", mark("Follow the system")), *_LANGUAGES)),
                mark("From the next start. Speech is English, and so is what the skills answer."),
            ),
            Field(
                "window.motion",
                mark("Motion"),
                Choice(
                    (
                        Option("system", mark("Follow the system")),
                        Option("reduced", mark("Reduced")),
                    )
                ),
                mark("Reduced: nothing in the window moves by itself."),
            ),
            Field("window.talk_key", mark("Talk key"), KeyName(), mark("Hold it while you speak.")),
            Field(
                "history.keep",
                mark("Keep conversations"),
                Choice(
                    (
                        Option("ask", mark("Ask me")),
                        Option("forever", mark("For ever")),
                        Option("30 days", mark("For 30 days")),
                        Option("never", mark("Not at all")),
                    )
                ),
                mark(
                    "Only on this computer. A private conversation is never kept; what was kept"
                    " before stays until you delete it, or its 30 days are over."
                ),
            ),
        ),
    ),
    Page(
        mark("Always there"),
        None,
        (
            Field(
                "presence.tray",
                mark("Stay in the tray"),
                Flag(),
                mark("Closing the window then only hides it, where the desktop has a tray."),
            ),
            Field(
                "presence.notifications",
                mark("Notifications"),
                Flag(),
                mark("For timers, a lost microphone and fetched models while the window is away."),
            ),
            Field(
                "presence.talk_key",
                mark("Talk key everywhere"),
                KeyName(chord=True),
                mark(
                    "Hold it while you speak, whatever has the focus. Under Wayland the desktop"
                    " asks you which key it gives."
                ),
            ),
            Field("presence.stop_key", mark("Stop key everywhere"), KeyName(chord=True)),
            Field("presence.faster_key", mark("Faster key everywhere"), KeyName(chord=True)),
            Field("presence.slower_key", mark("Slower key everywhere"), KeyName(chord=True)),
        ),
        at_login=True,
    ),
)


def field_of(key: str) -> Field:
    """The field of a setting, on whichever page it is."""
    return next(field for page in PAGES for field in page.fields if field.key == key)


def flat(settings: Settings) -> dict[str, Value]:
    """All settings by their dotted keys."""
    return {
        f"{group.name}.{field.name}": getattr(value, field.name)
        for group in fields(settings)
        if is_dataclass(value := getattr(settings, group.name))
        for field in fields(value)
    }
