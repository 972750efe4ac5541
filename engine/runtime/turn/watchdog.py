"""Whether a turn stands still: nothing was decided, written or spoken for far too long.

Invariant: pure; the clock is passed in. A turn that ends by this rule is a fault of ours or of a
library, so it says which part it waited for.
"""

from engine.messages.events import Failed
from engine.messages.words import Phase
from engine.runtime.turn.reply import Reply
from engine.translatable import Translatable

STALLED_S = 15.0  # without a token or a frame: no part is so slow at its work
TRANSCRIPT_S = 60.0  # for the words of half a minute, which a slow machine decodes in one piece


def left_s(phase: Phase, reply: Reply | None, *, moved_at: float, now: float) -> float | None:
    """Seconds until the turn counts as standing still; 0 or less = it does. None = it waits for a
    person, however long. `reply` is its reply, `moved_at` when the rules last gave an order.
    """
    if phase not in (Phase.THINKING, Phase.SPEAKING):
        return None
    if reply is None:
        return moved_at + TRANSCRIPT_S - now
    return max(moved_at, reply.moved_at) + STALLED_S - now


def fault(turn: int, reply: Reply | None) -> Failed:
    """What is said of it, and what to do."""
    if reply is None:
        text, hint = (
            Translatable("The words of what you said did not come."),
            Translatable("Say it again, or type it."),
        )
    else:
        text = Translatable(
            "The language model has stood still for too long."
            if reply.awaits_words
            else "The voice has stood still for too long."
        )
        hint = Translatable("Ask again, or choose another one in the settings.")
    return Failed("stalled", text, hint, turn)
