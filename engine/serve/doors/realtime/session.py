"""The events of the Realtime interface's clients, and their settings, as they are sent back and as
they are used.

Invariant: a session never changes; an update that fits makes another one, any other makes none.
Settings that this server does not know are refused where a client would notice (formats, voices),
and kept without effect where it would not; a value that is Any here is sent back and has no effect.
"""

import base64
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field

from engine.llm.tools.toolbox import ToolSchema
from engine.runtime.turn.endpointing import Patience
from engine.serve.doors.realtime.conversation import Item, new_key
from engine.serve.doors.requests import (
    Fields,
    LeadMs,
    Paced,
    Speed,
    Strict,
    Text,
    VoiceName,
    Wire,
    checked,
)
from engine.serve.speech import LEAD_MS, SAMPLE_RATE

_PATIENCE: Final = {"low": "patient", "medium": "balanced", "auto": "balanced", "high": "quick"}
_LONGEST_MS: Final = 3_600_000
_MOST_TOOLS: Final = 64


class SoundFormat(Wire):
    """The only one there is."""

    type: Literal["audio/pcm"] = "audio/pcm"
    rate: Literal[24_000] = SAMPLE_RATE


class TurnDetection(Wire):
    """How the end of a client's turn is found: by silence, or (semantic) by its words."""

    type: Literal["server_vad", "semantic_vad"] = "server_vad"
    threshold: float = 0.5
    prefix_padding_ms: int = 300
    silence_duration_ms: Annotated[int, Field(ge=32, le=10_000)] = 500
    idle_timeout_ms: int | None = None
    create_response: bool = True
    interrupt_response: bool = True
    eagerness: Literal["low", "medium", "auto", "high"] = "auto"

    @property
    def semantic(self) -> bool:
        return self.type == "semantic_vad"

    @property
    def patience(self) -> Patience:
        if self.semantic:
            return Patience.of(_PATIENCE[self.eagerness])
        return Patience(self.silence_duration_ms)


class Transcription(Wire):
    """Whether and how a client's words are sent back to it."""

    language: Text = ""


class AudioInput(Strict):
    """`transcription` None: words are not sent back; `turn_detection` None: the client says itself
    when it has spoken.
    """

    format: SoundFormat | None = SoundFormat()
    transcription: Transcription | None = None
    noise_reduction: Any = None
    turn_detection: TurnDetection | None = TurnDetection()

    @property
    def language(self) -> str:
        return self.transcription.language if self.transcription else ""


class AudioOutput(Paced):
    """How the client is spoken to."""

    format: SoundFormat = SoundFormat()
    voice: VoiceName = ""
    speed: Speed | None = 1.0
    lead_ms: LeadMs = LEAD_MS


class Audio(Wire):
    """Both ways."""

    input: AudioInput = AudioInput()
    output: AudioOutput = AudioOutput()


class Tool(Wire):
    """A function of the client's."""

    type: Literal["function"]
    name: Text
    description: Text | None = None
    parameters: dict[str, Any] | None = None


class Session(Wire):
    """What a client has set; `id` is given by this server."""

    type: Literal["realtime"] = "realtime"
    object: Literal["realtime.session"] = "realtime.session"
    id: str = Field(default_factory=partial(new_key, "sess"))
    model: str = "rubato"
    output_modalities: list[Literal["audio", "text"]] = Field(
        default=["audio"], min_length=1, max_length=2
    )
    instructions: Text = ""
    audio: Audio = Audio()
    tools: list[Tool] = Field(default_factory=list, max_length=_MOST_TOOLS)
    tool_choice: Any = "auto"
    max_output_tokens: Any = "inf"
    tracing: Any = None
    truncation: Any = "auto"
    include: Any = None

    def changed(self, changes: Fields) -> "Session":
        """With what a session.update or a response.create says. Refusal of what cannot be used."""
        fixed = {name: getattr(self, name) for name in ("id", "object", "type")}
        return checked(Session, {**_merged(self.model_dump(), changes), **fixed})

    def functions(self) -> tuple[ToolSchema, ...]:
        """The client's functions, in the form that language models take."""
        named = [tool.model_dump(exclude={"type"}, exclude_none=True) for tool in self.tools]
        none = self.tool_choice == "none"
        return () if none else tuple({"type": "function", "function": each} for each in named)


def _merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Objects are merged field by field, all else is replaced."""
    both = {
        name: _merged(old[name], value)
        if isinstance(value, dict) and isinstance(old.get(name), dict)
        else value
        for name, value in new.items()
    }
    return {**old, **both}


# --------------------------------------------------------------------------- what clients send


def _decoded(audio: Any) -> Any:
    """ValueError for anything but samples of 16 bits in base64."""
    if not isinstance(audio, str):
        return audio
    try:
        sound = base64.b64decode(audio, validate=True)
    except ValueError as error:
        raise ValueError("it has to be base64") from error
    if len(sound) % 2:
        raise ValueError("it has to be samples of 16 bits")
    return sound


class ClientEvent(Wire):
    """One of a client's events; which fields count depends on its type."""

    type: Literal[
        "session.update",
        "input_audio_buffer.append",
        "input_audio_buffer.commit",
        "input_audio_buffer.clear",
        "conversation.item.create",
        "conversation.item.retrieve",
        "conversation.item.truncate",
        "conversation.item.delete",
        "response.create",
        "response.cancel",
        "output_audio_buffer.clear",
    ]
    session: dict[str, Any] = Field(default_factory=dict)
    response: dict[str, Any] = Field(default_factory=dict)
    audio: Annotated[bytes, BeforeValidator(_decoded)] = b""
    item: Item | None = Field(None, discriminator="type")
    previous_item_id: Text | None = None
    item_id: Text = ""
    audio_end_ms: float = Field(0, ge=0, le=_LONGEST_MS)
