"""What of Whisper's output to believe: Whisper writes fluent sentences about silence and noise.

Three gates on how sure the model was (the thresholds of the Whisper reference decoder) and one on
how much can be said in the time somebody spoke; no list of forbidden phrases. Invariant: pure
functions of numbers, so every gate is tested without a model.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

_STOP_AT_END = re.compile(r"(?<!\b[A-Z])(?<!\b[DMS][rst])(?<!\bMrs)(?:[.\u2026]+|-)$")
_CAPITAL = re.compile(r"(?!I\b)[A-Z][a-z]*\b(?!['\u2019]?[A-Z])|A\b")  # "I", "NASA" keep theirs


class Segment(Protocol):
    """What faster-whisper says of one piece of text."""

    @property
    def text(self) -> str: ...
    @property
    def avg_logprob(self) -> float:
        """Mean natural logarithm of the probability of its tokens."""
        ...

    @property
    def no_speech_prob(self) -> float: ...
    @property
    def compression_ratio(self) -> float:
        """Length over compressed length: high when the text repeats itself."""
        ...


@dataclass(frozen=True)
class Gates:
    """Limits beyond which text is not believed."""

    no_speech: float = 0.6  # with a log probability below `silent_logprob`: nobody spoke
    silent_logprob: float = -0.6  # stricter than the reference's -1, where silence is suspected
    logprob: float = -1.0
    compression: float = 2.4
    letters_per_second: float = 35.0  # twice a fast speaker; "thank you for watching" in a cough
    letters_free: int = 10  # so that a short word is never too much


@dataclass(frozen=True)
class Belief:
    """Text that passed and how sure the model was of it, 0..1; empty text has confidence 0."""

    text: str
    confidence: float
    language: str = ""  # detected by the model; empty if it was set
    goes_on: bool = False  # the audio was cut inside a sentence


def believe(segments: Iterable[Segment], *, speech_s: float, gates: Gates) -> Belief:
    """The text of the segments that pass, for audio in which somebody spoke for `speech_s`.

    A segment that fails counts as confidence 0 in the mean over letters.
    """
    credible: list[str] = []
    letters, sure = 0, 0.0
    for segment in segments:
        text = segment.text.strip()
        letters += len(text)
        if text and _passes(segment, gates):
            credible.append(text)
            sure += (
                len(text) * math.exp(min(0.0, segment.avg_logprob)) * (1.0 - segment.no_speech_prob)
            )
    text = " ".join(credible)
    if not text or len(text) > gates.letters_free + gates.letters_per_second * speech_s:
        return Belief("", 0.0)
    return Belief(text, min(1.0, max(0.0, sure / letters)))


def join(pieces: Iterable[Belief], *, lowers: bool = True) -> Belief:
    """Join consecutive pieces of one utterance; the confidence is the mean over letters. `lowers`:
    words inside a sentence of this language begin with small letters.
    """
    credible = [piece for piece in pieces if piece.text]
    if not credible:
        return Belief("", 0.0)
    letters = sum(len(piece.text) for piece in credible)
    sure = sum(len(piece.text) * piece.confidence for piece in credible)
    language = credible[-1].language
    text = credible[0].text
    for before, after in pairwise(credible):
        text = (
            _continued(text, after.text, lowers=lowers)
            if before.goes_on
            else f"{text} {after.text}"
        )
    return Belief(text, sure / letters, language)


def _continued(text: str, rest: str, *, lowers: bool) -> str:
    """Join a sentence: Whisper ends every piece with a full stop and begins it with a capital."""
    begun, rest = _STOP_AT_END.sub("", text), rest.lstrip(".\u2026 ")
    if begun != text and lowers and _CAPITAL.match(rest):
        rest = rest[0].lower() + rest[1:]
    return f"{begun} {rest}"


def _passes(segment: Segment, gates: Gates) -> bool:
    silent = segment.no_speech_prob > gates.no_speech
    if silent and segment.avg_logprob < gates.silent_logprob:
        return False
    return segment.avg_logprob >= gates.logprob and segment.compression_ratio <= gates.compression
