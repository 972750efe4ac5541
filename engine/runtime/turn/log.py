"""Records of the turns, the history for the language model, and the conversation for export.

Invariant: the history contains only spoken and heard words, in the order of the turns. It is
derived from their records, so late facts cannot get into it out of order.
"""

import re
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import assert_never

from engine.export import Conversation
from engine.languages import ENGLISH, SPOKEN, of_system
from engine.llm.base import AssistantState, Message, Role, last_language
from engine.messages.conversations import ReplayEnded, Turn, WordReplayed
from engine.messages.events import ReplyDelta, ReplyRetracted, TurnEnded, WordHeard
from engine.messages.reading import PlaceReached
from engine.messages.words import Ending
from engine.runtime.turn import facts
from engine.runtime.turn.floor import reply_words
from engine.runtime.turn.places import PlacedWord
from engine.runtime.turn.record import TurnRecord, as_messages
from engine.text.barge_in_words import halts

Shown = ReplyDelta | ReplyRetracted | WordHeard | WordReplayed | PlaceReached  # events for the host
Keep = Callable[[datetime, Turn], None]  # a turn of the conversation that began then

CUT = (
    Ending.INTERRUPTED_BY_SPEECH,
    Ending.INTERRUPTED_BY_TALK_KEY,
    Ending.INTERRUPTED_BY_TEXT,
    Ending.INTERRUPTED_BY_ESCAPE,
    Ending.INTERRUPTED_BY_STOP,
)


class TurnLog:
    """The records of this conversation, and its saved past. `keep` gets each turn when its question
    is known and when it has ended; `state` gives the voice and the rate of a reply.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        *,
        keep: Keep = lambda began, turn: None,
        state: Callable[[], AssistantState] = lambda: AssistantState(None, 1.0, "", ()),
    ) -> None:
        self._clock = clock
        self._keep = keep
        self._state = state
        self._records: dict[int, TurnRecord] = {}  # in the order of their numbers
        self._past: tuple[Turn, ...] | None = None  # None = it began in this log
        self._zero_at: float | None = None  # when it began, on the clock; None = it has not
        self.began = _now()
        self.titled = False  # it needs no title, or has one

    @property
    def history(self) -> tuple[Message, ...]:
        """The messages of the conversation for the language model."""
        past = [each for turn in self._past or () for each in as_messages(turn)]
        present = [each for record in self._records.values() for each in record.messages()]
        return (*past, *present)

    @property
    def language(self) -> str:
        """The language of the last question; before the first one, that of the system if voices
        speak it.
        """
        system = of_system()
        usual = system if system in SPOKEN else ENGLISH
        return last_language(self.history) if self.history else usual

    def record(self, turn: int) -> TurnRecord:
        """Return the record of `turn`; create it if necessary."""
        if turn not in self._records:
            now = self._clock()
            if self._zero_at is None:
                self._zero_at, self.began = now, _now()
            self._records[turn] = TurnRecord(turn, now)
        return self._records[turn]

    def say(
        self, turn: int, said: str, confidence: float = 1.0, language: str = ENGLISH
    ) -> TurnRecord:
        """Record the user's words; return the record."""
        record = self.record(turn)
        record.said, record.confidence, record.language = said, confidence, language
        self._pass_on(record)
        return record

    def replays(self, turn: int) -> bool:
        """Return whether this turn only replays an earlier reply."""
        record = self._records.get(turn)
        return record is not None and record.replayed is not None

    def reply_from(self, turn: int, start: int) -> str:
        """Return the reply of a finished turn from a character on; empty if there is none."""
        record = self._records.get(turn)
        if record is not None:
            return record.reply[start:] if record.ending is not None else ""
        return next((each.reply[start:] for each in self._past or () if each.number == turn), "")

    def find(self, turn: int) -> TurnRecord | None:
        """Return the record of a running turn; None if it is over or never began."""
        record = self._records.get(turn)
        return record if record is not None and record.ending is None else None

    def record_fact(self, fact: facts.LoggedFact) -> Shown | None:
        """Record a fact about a turn; return the event for the host, None = nothing."""
        record = self.find(fact.turn)
        if record is None:
            return None
        match fact:
            case facts.ReplyGrew() if record.replayed is not None:
                pass
            case facts.WordBegan(_, word) if record.replayed is not None:
                record.began.append(fact)
                start = record.replayed.start
                return WordReplayed(record.replayed.of, word.start + start, word.end + start)
            case facts.Transcribed(at=at):
                record.times["transcript"] = at
            case facts.ReplyGrew(turn, text, at):
                record.reply += text
                record.private = record.private or fact.private
                record.times.setdefault("first_token", at)
                return ReplyDelta(turn, text)
            case ReplyRetracted():
                record.retract()
                return fact
            case facts.WordsReady(_, words, at):
                record.words.extend(words)
                record.times.setdefault("first_word", at)
            case facts.AudioQueued(at=at):
                record.times["first_audio"] = at
            case facts.ReplyAudible(at=at):
                record.times["heard"] = at
            case facts.WordBegan(turn, word):
                record.began.append(fact)
                if isinstance(word, PlacedWord):
                    return PlaceReached(word.place)
                return WordHeard(turn, word.start, word.end)
            case _:
                assert_never(fact)
        return None

    def reply_words(self, turn: int) -> frozenset[str]:
        """Return the words of this turn's reply that a microphone may hear now."""
        record = self.record(turn)
        return reply_words(word.text for word in record.words[: len(record.began) + 2])

    def drop(self, turn: int) -> None:
        """Forget a turn that never had the floor."""
        self._records.pop(turn, None)

    def say_late(self, turn: int, text: str) -> bool:
        """Record the user's words in a turn that ended before they were known. False if the turn is
        not part of this conversation.
        """
        record = self._records.get(turn)
        if record is None or record.rejoined:
            return False
        record.said = text
        self._pass_on(record)
        return True

    def cut_by(self, turn: int) -> TurnRecord | None:
        """Return the turn whose reply the user interrupted by speaking in this one."""
        before = next(reversed(self._earlier(turn)), None)
        return before if before and before.ending and before.ending.by_voice else None

    def was_reading(self, turn: int) -> bool:
        """Return whether the document was read until this turn."""
        return any(each.reads for each in self._earlier(turn)[-1:])

    def left_off(self, turn: int) -> str:
        """Return the unheard rest of the last reply, as far as it was written, however it was
        interrupted; empty if there is none.
        """
        cut = self._cut_before(turn)
        return cut.unsaid if cut else ""

    def to_be_continued(self, turn: int) -> tuple[str, tuple[Message, ...]]:
        """Return the unheard rest of the last reply, and the messages after which the language
        model writes what follows it; no messages if it wrote the reply to its end. Its last word
        may be incomplete, so the model writes that again.
        """
        cut = self._cut_before(turn)
        if cut is None or not cut.unfinished:
            return self.left_off(turn), ()
        rest, written = _complete_words(cut.unsaid), _complete_words(cut.reply)
        messages, heard = list(self.history), (Role.ASSISTANT, cut.heard)
        at = [number for number, each in enumerate(messages) if (each.role, each.text) == heard]
        messages[at[-1]] = replace(messages[at[-1]], text=written)
        return rest, tuple(messages)

    def _cut_before(self, turn: int) -> TurnRecord | None:
        """Return the record of the last reply if it was interrupted. Later requests for silence do
        not count as turns.
        """
        replies = [each for each in self._earlier(turn) if each.reply or not halts(each.said)]
        return replies[-1] if replies and replies[-1].ending in CUT else None

    def goes_on(self, turn: int) -> None:
        """The reply of this turn is the unheard rest of the last one."""
        replies = [each for each in self._earlier(turn) if each.reply]
        self.record(turn).private = bool(replies) and replies[-1].private

    def _earlier(self, turn: int) -> list[TurnRecord]:
        """Return the records before this turn's."""
        return [record for number, record in self._records.items() if number < turn]

    def rejoin(self, turn: int) -> None:
        """The words of this turn belong to the next one: remove them here."""
        self.record(turn).rejoined = True
        self.omit(turn)

    def omit(self, turn: int) -> None:
        """Remove the words of this turn, so that none are saved."""
        record = self.record(turn)
        record.said = record.reply = ""

    def end(self, turn: int, ending: Ending) -> TurnEnded | ReplayEnded:
        """Close the record; the heard part of the reply joins the history."""
        record = self.record(turn)
        if record.reply:
            now = self._state()
            record.voice, record.rate = now.speaking or now.voice, now.rate
        if record.reads:
            record.forget_words()
        ended = record.ended(ending)
        if record.replayed is not None:
            return ReplayEnded(record.replayed.of)
        self._pass_on(record)
        return ended

    def conversation(self) -> Conversation:
        """Return the conversation so far, including the current turn; time zero is the beginning of
        the first turn.
        """
        records = [
            each for each in self._records.values() if (each.said or each.reply) and not each.reads
        ]
        now = self._clock()
        beginnings = [each.opened_at for each in records]
        if self._past is not None and self._zero_at is not None:
            beginnings.append(self._zero_at)
        zero_at = min(beginnings, default=now)
        return Conversation(
            (_now() - timedelta(seconds=now - zero_at)).astimezone(),  # the offset may have changed
            (*(self._past or ()), *(record.exported(zero_at) for record in records)),
        )

    def cut(self, turn: int) -> Conversation:
        """Remove a turn and all later ones from the conversation; return them without words."""
        cut = [each for each in self._past or () if each.number >= turn]
        if self._past is not None:
            self._past = tuple(each for each in self._past if each.number < turn)
        numbers = [number for number in self._records if number >= turn]
        cut += [self._records.pop(number).exported(self._zero_at or 0.0) for number in numbers]
        return Conversation(self.began, tuple(replace(each, said="", reply="") for each in cut))

    def begin(self, past: Conversation | None = None, *, titled: bool = False) -> None:
        """Start another conversation, with the running turn if there is one: a new one, or the
        `past` one, which continues.
        """
        self.titled = titled
        self._records = {n: each for n, each in self._records.items() if each.ending is None}
        self._past = None if past is None else past.turns
        self._zero_at = min((each.opened_at for each in self._records.values()), default=None)
        self.began = _now()
        if past is not None:
            since_s = (self.began - past.began).total_seconds()
            end_s = max((turn.start_s for turn in past.turns), default=0.0)
            # A wall clock that was put back must not reverse the order.
            self._zero_at = self._clock() - max(since_s, end_s + 1.0)
            self.began = past.began

    def _pass_on(self, record: TurnRecord) -> None:
        if self._zero_at is not None:
            self._keep(self.began, record.exported(self._zero_at))


def _now() -> datetime:
    return datetime.now().astimezone()


def _complete_words(text: str) -> str:
    """Return a text up to its last space or end of a line."""
    return re.sub(r"\S+\Z", "", text)
