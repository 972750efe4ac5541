"""What a client of the Realtime interface has set: as it is told back, and as it is used.

Invariant: an update is taken whole or not at all. What this server does not do is refused where a
client would notice (formats, voices), and kept without effect where it would not.
"""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from engine.errors import InvalidInput
from engine.llm.tools.toolbox import ToolSchema
from engine.runtime.turn.endpointing import Patience
from engine.serve.doors.answers import BadField, Fields, choice_of, number_of, object_of, text_of
from engine.serve.doors.speaking import LONGEST_LEAD_MS, rate_of, voice_of
from engine.serve.limits import LEAD_MS, SAMPLE_RATE

_EAGERNESS: Final = {"low": "patient", "medium": "balanced", "auto": "balanced", "high": "quick"}
_SILENCE_MS: Final = 500
_MOST_TOOLS: Final = 64
_FORMAT: Final = {"type": "audio/pcm", "rate": SAMPLE_RATE}
_TURNS: Final = {
    "type": "server_vad",
    "threshold": 0.5,
    "prefix_padding_ms": 300,
    "silence_duration_ms": _SILENCE_MS,
    "idle_timeout_ms": None,
    "create_response": True,
    "interrupt_response": True,
}
_DEFAULT: Final[Mapping[str, Any]] = {
    "type": "realtime",
    "object": "realtime.session",
    "model": "rubato",
    "output_modalities": ["audio"],
    "instructions": "",
    "audio": {
        "input": {
            "format": _FORMAT,
            "transcription": None,
            "noise_reduction": None,
            "turn_detection": _TURNS,
        },
        "output": {"format": _FORMAT, "voice": "", "speed": 1.0, "lead_ms": LEAD_MS},
    },
    "tools": [],
    "tool_choice": "auto",
    "max_output_tokens": "inf",
    "tracing": None,
    "truncation": "auto",
    "include": None,
}


@dataclass(frozen=True)
class TurnDetection:
    """How the end of what a client says is told. `semantic`: by its words."""

    patience: Patience
    semantic: bool
    creates_response: bool
    interrupts: bool


class Configuration:
    """Of one session; `fields` are told to the client."""

    def __init__(self, key: str) -> None:
        self.fields: dict[str, Any] = {**deepcopy(dict(_DEFAULT)), "id": key}
        self._read()

    def update(self, changes: Fields) -> None:
        """Take what a session.update says. BadField where it cannot be used."""
        before = self.fields
        fixed = {"id": before["id"], "object": before["object"], "type": "realtime"}
        self.fields = {**_merged(before, changes), **fixed}
        try:
            self._read()
        except InvalidInput:
            self.fields = before
            self._read()
            raise

    def rate(self, own_pace: float) -> float | None:
        """The target in SPS; None = the person's own."""
        return rate_of(self._output, own_pace)

    def _read(self) -> None:
        audio = object_of(self.fields, "audio")
        heard, self._output = object_of(audio, "input"), object_of(audio, "output")
        for side in (heard, self._output):
            check_format(side.get("format"))
        self.voice = voice_of(self._output)
        rate_of(self._output, 1.0)
        lead_ms = number_of(self._output, "lead_ms", 0, LONGEST_LEAD_MS)
        self.lead_ms = LEAD_MS if lead_ms is None else round(lead_ms)
        self.instructions = text_of(self.fields, "instructions")
        self.aloud = speaks(self.fields)
        transcription = heard.get("transcription")
        self.transcribes = transcription is not None
        self.language = text_of(object_of(heard, "transcription"), "language")
        self.turns = _turns(heard.get("turn_detection"))
        self.tools = tools_of(self.fields)


def check_format(form: Any) -> None:
    """BadField for another one than this server's."""
    if form is not None and (
        not isinstance(form, dict)
        or form.get("type", "audio/pcm") != "audio/pcm"
        or form.get("rate", SAMPLE_RATE) != SAMPLE_RATE
    ):
        raise BadField("format", "Sound is audio/pcm at {rate} Hz here.", rate=SAMPLE_RATE)


def speaks(fields: Fields) -> bool:
    """Whether an answer is spoken, not only written."""
    modalities = fields.get("output_modalities")
    if modalities is None:
        return True
    if modalities not in (["audio"], ["text"], ["audio", "text"], ["text", "audio"]):
        raise BadField("output_modalities", "'output_modalities' is ['audio'] or ['text'].")
    return "audio" in modalities


def tools_of(fields: Fields) -> tuple[ToolSchema, ...]:
    """The client's functions, as language models are told of them."""
    tools = fields.get("tools") or []
    if not isinstance(tools, list) or len(tools) > _MOST_TOOLS:
        raise BadField("tools", "'tools' is a list of at most {most}.", most=_MOST_TOOLS)
    none = fields.get("tool_choice") == "none"
    return () if none else tuple(_tool(tool) for tool in tools)


def _tool(tool: Any) -> ToolSchema:
    if not isinstance(tool, dict) or tool.get("type") != "function":
        raise BadField("tools", "Only functions can be called here.")
    about = {name: tool[name] for name in ("description", "parameters") if name in tool}
    return {"type": "function", "function": {"name": text_of(tool, "name"), **about}}


def _turns(fields: Any) -> TurnDetection | None:
    """None = the client says itself when it has spoken."""
    if fields is None:
        return None
    if not isinstance(fields, dict):
        raise BadField("turn_detection", "'turn_detection' is an object or null.")
    kind = choice_of(fields, "type", ("server_vad", "semantic_vad"), "server_vad")
    creates = fields.get("create_response", True) is not False
    interrupts = fields.get("interrupt_response", True) is not False
    if kind == "semantic_vad":
        eagerness = choice_of(fields, "eagerness", _EAGERNESS, "auto")
        return TurnDetection(Patience.of(_EAGERNESS[eagerness]), True, creates, interrupts)
    silence = number_of(fields, "silence_duration_ms", 32, 10_000)
    patience = Patience(_SILENCE_MS if silence is None else round(silence))
    return TurnDetection(patience, False, creates, interrupts)


def _merged(old: Any, new: Any) -> Any:
    """Objects are merged field by field, all else is replaced."""
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return deepcopy(new)
    both = {name: _merged(old.get(name), value) for name, value in new.items()}
    return {**old, **both}
