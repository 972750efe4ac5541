"""What is known of each turn while it lasts, and the history the language model is given.

Invariant: the history holds only what was said and what was heard, in the order of the turns.
"""

from dataclasses import dataclass, field

from engine.llm.base import Message, Role
from engine.messages import Ending, TurnEnded, TurnMetrics
from engine.runtime.happenings import Delivery
from engine.text.word import Word


@dataclass
class TurnRecord:
    """One turn as it unfolds. Times are seconds on the engine's clock, None = not yet."""

    turn: int
    said: str = ""
    reply: str = ""
    words: list[Word] = field(default_factory=list)
    delivery: Delivery = field(default_factory=Delivery)
    begun: int = 0  # words that began to be heard
    speech_ended_at: float | None = None
    transcript_at: float | None = None
    first_token_at: float | None = None
    first_word_at: float | None = None
    first_audio_at: float | None = None
    heard_at: float | None = None

    def ended(self, ending: Ending) -> TurnEnded:
        spoken = " ".join(word.text for word in self.words)
        return TurnEnded(
            self.turn, ending, self.said, self.reply, self.heard(ending), spoken, self._metrics()
        )

    def heard(self, ending: Ending) -> str:
        """The part of the reply's text that reached the ear."""
        if ending is Ending.COMPLETE:
            return self.reply
        end = max((word.end for word in self.delivery.words), default=0)
        return self.reply[:end]

    def _metrics(self) -> TurnMetrics:
        return TurnMetrics(
            transcript_ms=self._after_speech(self.transcript_at),
            first_token_ms=self._after_speech(self.first_token_at),
            first_word_ms=self._after_speech(self.first_word_at),
            first_audio_ms=self._after_speech(self.first_audio_at),
            heard_ms=self._after_speech(self.heard_at),
            speech_ms=self.delivery.speech_ms or None,
            underruns=self.delivery.underruns,
        )

    def _after_speech(self, at: float | None) -> float | None:
        if at is None or self.speech_ended_at is None:
            return None
        return (at - self.speech_ended_at) * 1000


class Ledger:
    """The records of turns that are not over, and the history of those that are."""

    def __init__(self) -> None:
        self._records: dict[int, TurnRecord] = {}
        self._history: list[Message] = []

    @property
    def history(self) -> tuple[Message, ...]:
        return tuple(self._history)

    def record(self, turn: int) -> TurnRecord:
        """The record of `turn`, begun if need be."""
        return self._records.setdefault(turn, TurnRecord(turn))

    def find(self, turn: int) -> TurnRecord | None:
        """The record of a turn that is not over; None when it is over or never began."""
        return self._records.get(turn)

    def drop(self, turn: int) -> None:
        """Forget a turn that never had the floor."""
        self._records.pop(turn, None)

    def say(self, text: str) -> None:
        """Append what the person said."""
        self._history.append(Message(Role.USER, text))

    def end(self, turn: int, ending: Ending) -> TurnEnded:
        """Close the record; what was heard of the reply joins the history."""
        record = self._records.pop(turn, None) or TurnRecord(turn)
        heard = record.heard(ending)
        if heard:
            interrupted = ending is not Ending.COMPLETE
            self._history.append(Message(Role.ASSISTANT, heard, interrupted))
        return record.ended(ending)

    def forget(self) -> None:
        """Begin a new conversation."""
        self._history.clear()
