"""The record of one turn: what was said, answered and heard, and when.

Invariant: the times of its words never decrease, and a word ends no later than the next one begins.
Without a loudspeaker words can only be read, and have no times.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from engine.languages import ENGLISH
from engine.llm.base import Message, Role
from engine.messages.conversations import HeardWord, Turn, TurnMetrics
from engine.messages.events import TurnEnded
from engine.messages.words import Ending
from engine.runtime.turn.facts import Delivery, ReplayAsked, WordBegan
from engine.text.word import Word


def so_far(onsets: Sequence[WordBegan], zero_at: float) -> tuple[HeardWord, ...]:
    """Return a running reply's words, in seconds after `zero_at`; the last has no length yet."""
    starts = _starts(onsets)
    return tuple(
        _heard(each.word, start - zero_at, end - zero_at)
        for each, start, end in zip(onsets, starts, [*starts[1:], *starts[-1:]], strict=True)
    )


def delivered(
    delivery: Delivery, onsets: Sequence[WordBegan], zero_at: float
) -> tuple[HeardWord, ...]:
    """Return the words that reached the ear, in seconds after `zero_at`.

    A word lasts as long as its samples; a pause of an empty ring belongs to no word. The last word
    before a cut may not have been reported; it follows the one before it.
    """
    marks_ms = (*delivery.onsets_ms, delivery.speech_ms)
    lengths_s = [(end - start) / 1000 for start, end in pairwise(marks_ms)]
    words: list[HeardWord] = []
    starts = _starts(onsets)
    end_at = starts[0] if starts else zero_at
    for number, (word, length_s) in enumerate(zip(delivery.words, lengths_s, strict=True)):
        start_at = starts[number] if number < len(starts) else end_at
        end_at = min([start_at + length_s, *starts[number + 1 : number + 2]])
        words.append(_heard(word, start_at - zero_at, end_at - zero_at))
    return tuple(words)


def _starts(onsets: Sequence[WordBegan]) -> list[float]:
    """Make the times ascend: a device that plays in bursts may report a word too early."""
    return list(accumulate((each.at for each in onsets), max))


def _heard(word: Word, start_s: float, end_s: float) -> HeardWord:
    return HeardWord(word.text, word.start, word.end, start_s, end_s)


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
    times: dict[str, float] = field(default_factory=dict)  # of other steps, named as in TurnMetrics
    discarded: int = 0  # replies prepared in pauses after which the user continued

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
        for step in ("first_token", "first_word", "first_audio", "heard"):
            self.times.pop(step, None)

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
            words = so_far(self.began, zero_at)
        else:
            words = delivered(self.delivery, self.began, zero_at)
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
            **{f"{step}_ms": self._after_speech_ms(at) for step, at in self.times.items()},
            speech_ms=self.delivery.speech_ms or None,
            underruns=self.delivery.underruns,
            discarded=self.discarded,
        )

    def _after_speech_ms(self, at: float) -> float | None:
        """Return the time after speech; 0 for steps done before the user had finished."""
        if self.speech_ended_at is None:
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
