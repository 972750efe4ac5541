"""How long to wait: for the end of an utterance, by the user's patience and the words, and for a
turn that makes no progress (no decision, text or sound).

Invariant: pure; the clock is passed in. The more complete the words are, the shorter the silence,
with every patience. A turn without progress is a fault of ours or of a library, so it names the
part that was waited for.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.asr.completeness import Completeness
from engine.messages.events import Failed
from engine.messages.words import Phase
from engine.runtime.turn.reply import Reply
from engine.translatable import Translatable

PAUSE_MS = 192  # of silence, after which the words are judged and a reply is prepared
OVERLAP_MS = 350  # of silence after speech into a reply, which is paused and should resume soon
LONGEST_S = 60.0  # of speech: a television never pauses
NEVER_MS = 24 * 3_600_000

# Milliseconds by Completeness. A user who thinks in mid-sentence is silent for up to 1.5 s.
# 'balanced' does not cut that off if the words so far are incomplete.
_SILENCES = {
    "quick": (1200, 512, 320, 224),
    "balanced": (1728, 1088, 448, 288),
    "patient": (2592, 1728, 1200, 608),
}


@dataclass(frozen=True)
class Speech:
    """State of speech that goes on or has just paused."""

    spoken_s: float = 0.0  # since the utterance was opened; 0 = none is open
    completeness: Completeness | None = None  # of the words before this silence; None = not judged
    key_held: bool = False  # the talk key opened the utterance
    overlapping: bool = False  # during a reply


@dataclass(frozen=True)
class Patience:
    """The silence that ends an utterance: `longest_ms`, or less by the words."""

    longest_ms: int
    by_words: Mapping[Completeness, int] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str) -> "Patience":
        """Return the patience of this name in the settings."""
        by_words = dict(zip(Completeness, _SILENCES[name], strict=True))
        return cls(by_words[Completeness.OPEN], by_words)

    def silence_ms(self, speech: Speech) -> int:
        """Return the silence that ends such speech; 0 = it has ended."""
        if speech.key_held:  # the user ends it with the key
            return NEVER_MS
        if speech.spoken_s >= LONGEST_S:
            return 0
        if speech.overlapping:
            return OVERLAP_MS
        if speech.completeness is None:
            return self.longest_ms
        return self.by_words.get(speech.completeness, self.longest_ms)


STALLED_S = 15.0  # without a token or a frame: no part is this slow
TRANSCRIPT_S = 60.0  # for the words of half a minute, which a slow machine decodes in one piece


def left_s(phase: Phase, reply: Reply | None, *, moved_at: float, now: float) -> float | None:
    """Return the seconds until the turn counts as stalled; 0 or less = it does. None = it waits for
    the user, with no limit. `reply` is its reply, `moved_at` the time of the rules' last order.
    """
    if phase not in (Phase.THINKING, Phase.SPEAKING):
        return None
    if reply is None:
        return moved_at + TRANSCRIPT_S - now
    return max(moved_at, reply.moved_at) + STALLED_S - now


def fault(turn: int, reply: Reply | None) -> Failed:
    """Return the fault for the user, with a remedy."""
    if reply is None:
        text, hint = (
            Translatable("Your words were not recognised in time."),
            Translatable("Say it again, or type it."),
        )
    else:
        text = Translatable(
            "The language model has not responded for too long."
            if reply.awaits_words
            else "The voice has not responded for too long."
        )
        hint = Translatable("Ask again, or choose another one in the settings.")
    return Failed("stalled", text, hint, turn)
