"""Detect a turn without progress: no decision, text or sound for far too long.

Invariant: pure; the clock is passed in. Such an end is a fault of ours or of a library, so it names
the part that was waited for.
"""

from engine.messages.events import Failed
from engine.messages.words import Phase
from engine.runtime.turn.reply import Reply
from engine.translatable import Translatable

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
