"""Accept or reject Whisper's output, as Whisper writes fluent sentences about silence and noise.

Three gates check the model's certainty (thresholds of the Whisper reference decoder), one the
amount of text for the duration of speech. There is no list of forbidden phrases. The gates are pure
functions of numbers, so each is tested without a model.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

_STOP_AT_END = re.compile(r"(?<!\b[A-Z])(?<!\b[DMS][rst])(?<!\bMrs)(?:[.\u2026]+|-)$")
_CAPITAL = re.compile(r"(?!I\b)[A-Z][a-z]*\b(?!['\u2019]?[A-Z])|A\b")  # not "I" or "NASA"


# Limits beyond which text is rejected.
NO_SPEECH = 0.6  # with a log probability below SILENT_LOGPROB: no speech
SILENT_LOGPROB = -0.6  # stricter than the reference's -1, where silence is suspected
LOGPROB = -1.0
COMPRESSION = 2.4
LETTERS_PER_SECOND = 35.0  # twice a fast speaker; not "thank you for watching" for a cough
LETTERS_FREE = 10  # so that a short word always passes


@dataclass(frozen=True)
class Belief:
    """The accepted text and the model's certainty, 0..1; 0 for empty text."""

    text: str
    confidence: float
    language: str = ""  # detected by the model; empty if it was set
    goes_on: bool = False  # the audio was cut inside a sentence


def believe(segments: Iterable[Any], *, speech_s: float) -> Belief:
    """Join the segments of faster-whisper that pass, for audio with `speech_s` seconds of speech. A
    rejected segment counts as confidence 0 in the mean over letters.
    """
    credible: list[str] = []
    letters, sure = 0, 0.0
    for segment in segments:
        text, likely = segment.text.strip(), segment.avg_logprob  # natural, a mean over the tokens
        letters += len(text)
        silent = segment.no_speech_prob > NO_SPEECH and likely < SILENT_LOGPROB
        repeats = segment.compression_ratio > COMPRESSION
        if text and likely >= LOGPROB and not silent and not repeats:
            credible.append(text)
            sure += len(text) * math.exp(min(0.0, likely)) * (1.0 - segment.no_speech_prob)
    text = " ".join(credible)
    if not text or len(text) > LETTERS_FREE + LETTERS_PER_SECOND * speech_s:
        return Belief("", 0.0)
    return Belief(text, min(1.0, max(0.0, sure / letters)))


def join(pieces: Iterable[Belief], *, lowers: bool = True) -> Belief:
    """Join consecutive pieces of one utterance; the confidence is the mean over letters. `lowers`:
    in this language, words inside a sentence begin with small letters.
    """
    credible = [piece for piece in pieces if piece.text]
    if not credible:
        return Belief("", 0.0)
    letters = sum(len(piece.text) for piece in credible)
    sure = sum(len(piece.text) * piece.confidence for piece in credible)
    language = credible[-1].language
    text = credible[0].text
    for before, after in pairwise(credible):
        rest = after.text
        if before.goes_on:  # Whisper ends every piece with a full stop, begins it with a capital
            begun, rest = _STOP_AT_END.sub("", text), rest.lstrip(".\u2026 ")
            if begun != text and lowers and _CAPITAL.match(rest):
                rest = rest[0].lower() + rest[1:]
            text = begun
        text = f"{text} {rest}"
    return Belief(text, sure / letters, language)
