"""The value a check answers with."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """How a part is. A WARNING limits something, a FAULT stops the conversation."""

    OK = "ok"
    WARNING = "warning"
    FAULT = "fault"


@dataclass(frozen=True)
class Finding:
    """One line for the person. `advice` says what to do and is empty when nothing is."""

    part: str
    state: State
    text: str
    advice: str = ""


def ok(part: str, text: str) -> Finding:
    return Finding(part, State.OK, text)


def warning(part: str, text: str, advice: str) -> Finding:
    return Finding(part, State.WARNING, text, advice)


def fault(part: str, text: str, advice: str) -> Finding:
    return Finding(part, State.FAULT, text, advice)
