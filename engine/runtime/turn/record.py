"""The record of one turn: what was said, answered and heard, and when."""

from dataclasses import dataclass, field

from engine.languages import ENGLISH
from engine.llm.base import Message, Role
from engine.messages.conversations import Turn, TurnMetrics
from engine.messages.events import TurnEnded
from engine.messages.words import Ending
from engine.runtime.turn import word_times
from engine.runtime.turn.facts import Delivery, ReplayAsked, WordBegan
from engine.text.word import Word


@dataclass
class TurnRecord:
    """One turn as it unfolds. Times are seconds on the engine's clock, None = not yet."""

    turn: int
    opened_at: float
    ending: Ending | None = None  # None = the turn goes on
    replayed: ReplayAsked | None = None  # None = a turn; else only a replay
    reads: bool = False  # the document; none of its words are kept
    rejoined: bool = False  # its words belong to the next turn
    said: str = ""
    confidence: float = 1.0  # of the transcript
    language: str = ENGLISH  # of the question
    typed: bool = False
    reply: str = ""
    private: bool = False  # part of the reply stays on this computer
    unfinished: bool = False  # the language model had more to write
    voice: str = ""  # of the reply
    rate: float | None = None  # target rate in SPS; None = the voice's own pace
    words: list[Word] = field(default_factory=list)
    delivery: Delivery = field(default_factory=Delivery)
    began: list[WordBegan] = field(default_factory=list)
    speech_ended_at: float | None = None
    end_detected_at: float | None = None
    transcript_at: float | None = None
    first_token_at: float | None = None
    first_word_at: float | None = None
    first_audio_at: float | None = None
    heard_at: float | None = None
    discarded: int = 0  # replies prepared in pauses after which the user continued

    @property
    def begun(self) -> int:
        """Number of words that became audible."""
        return len(self.began)

    @property
    def heard(self) -> str:
        """The part of the reply's text that was heard or, without a loudspeaker, read."""
        if self.ending is Ending.COMPLETE or self.delivery.read:
            return self.reply
        words = [each.word for each in self.began] if self.ending is None else self.delivery.words
        return self.reply[: max((word.end for word in words), default=0)]

    def retract(self) -> None:
        """Discard the text so far: it was reasoning, not the answer."""
        self.reply = ""
        self.words.clear()
        self.began.clear()
        self.first_token_at = self.first_word_at = self.first_audio_at = self.heard_at = None

    def forget_words(self) -> None:
        """Discard the words of the document that were spoken."""
        self.words.clear()
        self.began.clear()
        self.delivery = Delivery()

    @property
    def unsaid(self) -> str:
        """The unheard rest of the reply, from the interrupted word; empty if all was heard."""
        words = self.delivery.words
        if self.delivery.read:
            return ""
        if not self.reply[words[-1].end if words else 0 :].strip():
            return ""
        return self.reply[words[-1].start if words else 0 :]

    def messages(self) -> tuple[Message, ...]:
        """Return the turn's messages for the language model."""
        return () if self.replayed or self.reads else as_messages(self, self.confidence)

    def ended(self, ending: Ending) -> TurnEnded:
        self.ending = ending
        spoken = " ".join(word.text for word in self.words)
        return TurnEnded(
            self.turn, ending, self.said, self.reply, self.heard, spoken, self._metrics()
        )

    def exported(self, zero_at: float) -> Turn:
        """Return the turn for export, with times after `zero_at`."""
        if self.ending is None:
            words = word_times.so_far(self.began, zero_at)
        else:
            words = word_times.delivered(self.delivery, self.began, zero_at)
        fell_silent_at = self.speech_ended_at
        return Turn(
            number=self.turn,
            ending=self.ending,
            start_s=self.opened_at - zero_at,
            said=self.said,
            said_end_s=None if fell_silent_at is None else fell_silent_at - zero_at,
            typed=self.typed,
            reply=self.reply,
            heard=self.heard,
            words=words,
            metrics=self._metrics(),
            private=self.private,
            voice=self.voice,
            rate=self.rate,
            language=self.language,
        )

    def _metrics(self) -> TurnMetrics:
        return TurnMetrics(
            end_ms=self._after_speech(self.end_detected_at),
            transcript_ms=self._after_speech(self.transcript_at),
            first_token_ms=self._after_speech(self.first_token_at),
            first_word_ms=self._after_speech(self.first_word_at),
            first_audio_ms=self._after_speech(self.first_audio_at),
            heard_ms=self._after_speech(self.heard_at),
            speech_ms=self.delivery.speech_ms or None,
            underruns=self.delivery.underruns,
            discarded=self.discarded,
        )

    def _after_speech(self, at: float | None) -> float | None:
        """Return the time after speech in ms; 0 for steps done before the user had finished."""
        if at is None or self.speech_ended_at is None:
            return None
        return max(0.0, at - self.speech_ended_at) * 1000


def as_messages(turn: TurnRecord | Turn, confidence: float = 1.0) -> tuple[Message, ...]:
    """Return the messages of a turn for the language model, with the transcript's confidence; also
    for a reply that was interrupted before its first word.
    """
    said = Message(
        Role.USER,
        turn.said,
        confidence=confidence,
        private=turn.private,
        language=turn.language,
    )
    messages = [said] if turn.said else []
    cut = turn.ending is not None and turn.ending.interrupted
    unheard = cut and turn.said and turn.ending is not Ending.SUPERSEDED
    if turn.ending is not None and (turn.heard or unheard):
        interrupted = turn.ending is not Ending.COMPLETE
        messages.append(Message(Role.ASSISTANT, turn.heard, interrupted, turn.private))
    return tuple(messages)
