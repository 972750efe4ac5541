"""Turns to keep, and a file to keep them in."""

from datetime import UTC, datetime

from engine.history.store import Place, Store
from engine.messages.conversations import HeardWord, Turn, TurnMetrics
from engine.messages.words import Ending

BEGAN = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
WORDS = (HeardWord("It", 0, 2, 1.5, 1.75), HeardWord("rains", 3, 8, 1.75, 2.25))


def turn(number: int, said: str, reply: str = "It rains. Or not.", start_s: float = 0.0) -> Turn:
    """One of which two words were heard."""
    return Turn(
        number,
        Ending.INTERRUPTED_BY_SPEECH,
        start_s,
        said,
        start_s + 1.0,
        reply=reply,
        heard=reply[:8],
        words=WORDS,
        metrics=TurnMetrics(heard_ms=310.0, underruns=2),
        private=True,
        voice="Ada",
        rate=4.5,
    )


def talk(store: Store, *said: str, now: float = 1000.0) -> int:
    """Keep a conversation of these questions; returns its number."""
    place: Place | None = None
    for number, words in enumerate(said, 1):
        before = None if place is None else Place(place.conversation, 0)
        place = store.keep(turn(number, words, start_s=10.0 * number), BEGAN, now, before)
    assert place is not None
    return place.conversation
