"""What the person may change, typed, kept as TOML in the platform's config folder.

Invariant: a broken file or value never stops the program and is never lost: the value falls back to
its default, the person is told, and the file that could not be read is kept beside the new one.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class AudioSettings:
    microphone: str = ""  # device name; empty = system default
    loudspeaker: str = ""
    volume: float = 1.0  # 0..1
    hands_free: bool = True  # False = push-to-talk
    headset: bool = (
        False  # the microphone does not hear the loudspeaker: speaking interrupts the reply
    )
    lead_ms: int = (
        240  # how far synthesis runs ahead of playback: also how late a new rate is heard
    )


@dataclass(frozen=True)
class RecogniserSettings:
    engine: str = "sphinx"  # 'sphinx' (built in) or 'whisper'
    model: str = ""  # folder of a CTranslate2 Whisper model, for 'whisper'
    language: str = "en"
    end_silence_ms: int = 700  # silence after which an utterance is over


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
class SpeechSettings:
    engine: str = "espeak"
    voice: str = ""  # empty = the synthesiser's default
    rate: float | None = None  # SPS, 1..7; None = own pace (in the file: the key is absent)
    seed: int = 7
    device: str = "auto"  # 'auto', 'cuda' or 'cpu'


@dataclass(frozen=True)
class WindowSettings:
    theme: str = "system"  # 'system', 'light' or 'dark'
    talk_key: str = "Space"


@dataclass(frozen=True)
class Settings:
    audio: AudioSettings = field(default_factory=AudioSettings)
    recogniser: RecogniserSettings = field(default_factory=RecogniserSettings)
    language_model: LanguageModelSettings = field(default_factory=LanguageModelSettings)
    speech: SpeechSettings = field(default_factory=SpeechSettings)
    window: WindowSettings = field(default_factory=WindowSettings)
