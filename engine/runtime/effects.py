"""Carry out the decisions of the turn rules: orders to the workers, entries in the log, events.

Invariant: runs on the conductor's thread only, and makes no decision about the floor.
"""

import time
from dataclasses import replace
from typing import assert_never

from engine.asr.base import Transcript
from engine.export.conversation import Conversation
from engine.languages import ENGLISH, SPOKEN
from engine.llm.base import Message, Role
from engine.llm.servers.address import asks_another_computer
from engine.llm.skills.languages.commands import may_be_english
from engine.llm.skills.speech_wishes import may_become_speech_wish, speech_wish
from engine.machine import collect_all
from engine.messages.events import KEYBOARD, Heard, PhaseChanged, UseWindow
from engine.messages.reading import OpenDocument
from engine.messages.words import Ending, Phase
from engine.runtime.host.actions import Actions
from engine.runtime.host.port import ConductorPort
from engine.runtime.host.reading import Reading
from engine.runtime.threads import Workers
from engine.runtime.turn import floor as orders
from engine.runtime.turn.facts import (
    ActionAsked,
    InterimTranscript,
    Peeked,
    ReadingAsked,
    Transcribed,
)
from engine.runtime.turn.log import TurnLog
from engine.runtime.turn.replies import Replies
from engine.runtime.workers.language_model_worker import GetReady, Rest
from engine.runtime.workers.voice.orders import GetVoiceReady
from engine.settings import AUTO
from engine.text.barge_in_words import halts, lets_go_on
from engine.text.language_choice import language_of


class Effects:
    """Acts for the conductor."""

    def __init__(
        self, workers: Workers, log: TurnLog, actions: Actions, port: ConductorPort
    ) -> None:
        self._workers = workers
        self._log = log
        self._actions = actions
        self._emit = port.emit
        self._attend = port.attend
        self._settings = port.settings
        self.replies = Replies(
            workers, lambda: port.settings().speech.pacing, lambda: self._log.language
        )
        self.reading = Reading(workers, log, self.replies, port)
        self.private_texts = set[str]()  # texts that are read out but stay on this computer

    def prepare(self, interim: InterimTranscript) -> None:
        """Use the pause: prepare the reply to the transcript so far, without an event. A server on
        another computer is asked only after the utterance, because each request may cost money. A
        wish about the interrupted reply gets no reply of its own.
        """
        text, confidence = interim.transcript.text, interim.transcript.confidence
        if self._log.cut_by(interim.turn) is not None and (
            may_become_speech_wish(text) or speech_wish(text) is not None
        ):
            return
        if text and not asks_another_computer(self._settings().language_model):
            language = self._language(interim.transcript)
            said = Message(Role.USER, text, confidence=confidence, language=language)
            asked = (*self._log.history, *self.reading.context(interim.turn), said)
            self.replies.begin(interim.turn, asked=asked, aloud=False)

    def drop_prepared(self, turn: int) -> None:
        """The user continues speaking: drop the prepared reply."""
        self._log.record(turn).discarded += self.replies.drop()

    def begin_anew(self, past: Conversation | None = None, *, private: bool = False) -> None:
        """Start another conversation: that of the `past`, a `private` or a new one."""
        self._actions.begin(private=private)
        self.reading.private = private
        self._log.begin(past)
        self.follow_language()
        self._workers.language_model.post(GetReady(self._log.history))

    def carry_out(self, order: orders.TurnOrder) -> None:
        if isinstance(order, orders.UtteranceOrder):
            self._note(order)
            self._workers.ears.post(order)
            return
        match order:
            case orders.Answer(turn, said):
                self._answer(turn, said)
            case orders.ReadOut():
                self._read_out(order)
            case orders.Pause(turn):
                self.replies.pause(turn)
            case orders.Resume(turn, wish):
                self._actions.apply_spoken_wish(wish)
                if not self.reading.resume(turn, wish):
                    self._workers.speaker.post(order)
            case orders.Hold(turn):
                self.replies.end(turn, Ending.SUPERSEDED)
                self._actions.undo(turn)
            case orders.EndTurn():
                self._end_turn(order)
            case PhaseChanged(_, phase):
                self._emit(order)
                self._attend()
                self.use_quiet(phase)
            case _:
                assert_never(order)

    def _read_out(self, order: orders.ReadOut) -> None:
        turn, replayed = order.turn, order.replayed
        if isinstance(replayed, ReadingAsked):
            self.reading.start(turn)
            return
        record = self._log.record(turn)
        record.speech_ended_at, record.replayed = time.monotonic(), replayed
        record.private = record.private or order.text in self.private_texts
        self.replies.begin(turn, text=order.text)

    def _end_turn(self, order: orders.EndTurn) -> None:
        turn = order.turn
        if order.again:
            self._log.rejoin(turn)
        record, reply = self._log.record(turn), self.replies.find(turn)
        record.unfinished = reply is not None and bool(reply.asked) and not reply.written
        record.delivery = self.replies.end(turn, order.ending)
        self._emit(self._log.end(turn, order.ending))
        self.reading.turn_ended(turn, order.ending)

    def _note(self, order: orders.UtteranceOrder) -> None:
        """Update the log and the actions for an utterance order."""
        match order:
            case orders.OpenUtterance(turn):
                self._log.record(turn)
            case orders.JoinUtterance(before):
                self._log.rejoin(before)
                self._actions.undo(before)
            case orders.CloseUtterance(turn, ended_at=ended_at):
                record, now = self._log.record(turn), time.monotonic()
                record.times["end"] = now
                record.speech_ended_at = now if ended_at is None else ended_at
            case orders.DropUtterance(turn, overlapping=True):
                self._log.drop(turn)
            case orders.DropUtterance():
                self.replies.drop()

    def transcribed(self, fact: Transcribed, *, held: bool) -> Transcribed:
        """Record the words of a turn, which may be over; return the fact. `held`: the turn before
        waits for them.
        """
        turn, said = fact.turn, fact.transcript
        if self._log.find(turn) is None:  # late
            if self._log.say_late(turn, said.text) and said.text:
                self._emit(heard_event(turn, said))
        elif held and self._actions.apply_spoken_wish(said.text):
            fact = replace(fact, wish=True)  # the reply that it came before follows
        self._log.record_fact(fact)
        return fact

    def with_wish(self, fact: Peeked | Transcribed, *, rings: bool) -> Peeked | Transcribed:
        """Return the fact, with the mark that its words concern what `rings`, or the reading."""
        text = fact.text if isinstance(fact, Peeked) else fact.transcript.text
        wish = (rings and self._actions.silences_ring(text)) or self.reading.is_wish(text)
        return replace(fact, wish=fact.wish or wish)

    def act(self, asked: ActionAsked, turn: int) -> None:
        """Apply an action if it is of the running turn. A request to quit is not saved, and the
        name of a file stays on this computer.
        """
        if asked.turn != turn:
            return
        self._actions.apply(asked.action, asked.turn)
        if asked.action == UseWindow("quit"):
            self._log.omit(asked.turn)
        elif isinstance(asked.action, OpenDocument):
            self._log.record(turn).private = True

    def use_quiet(self, phase: Phase) -> None:
        """Clean up after a start; while the floor is free, prepare the model for the next turn."""
        collect_all()
        idle = phase is Phase.IDLE
        self._workers.language_model.post(GetReady(self._log.history) if idle else Rest())

    def _answer(self, turn: int, said: Transcript) -> None:
        language = self._language(said)
        record = self._log.say(turn, said.text, said.confidence, language)
        self._workers.speaker.post(GetVoiceReady(language))
        if record.speech_ended_at is None:
            record.speech_ended_at = time.monotonic()
            record.typed = said.recogniser == KEYBOARD
        self._emit(heard_event(turn, said))
        if self.reading.answer(turn, said.text):
            return
        if self.reading.cut_by_voice(turn) and self._actions.apply_spoken_wish(said.text, turn):
            self.reading.start(turn)
            return
        cut, stops = self._log.cut_by(turn), halts(said.text)
        reply = self.replies.find(cut.turn) if cut else None
        unsaid = cut.unsaid if cut else ""
        left = unsaid or (reply is not None and not reply.written)
        if left and self._actions.apply_spoken_wish(said.text, turn) and not stops:
            assert cut is not None
            self._log.goes_on(turn)  # the wish says how to continue
            rest_of = (reply, len(cut.reply) - len(unsaid)) if reply else None
            self.replies.begin(turn, text=unsaid, rest_of=rest_of)
        elif unsaid and stops:
            self.replies.begin(turn, text="")  # the wish was silence
        elif lets_go_on(said.text) and self._log.left_off(turn):
            self._log.goes_on(turn)
            rest, asked = self._log.to_be_continued(turn)
            self.replies.begin(turn, text=rest, asked=asked)
        else:
            *before, question = self._log.history
            asked = (*before, *self.reading.context(turn), question)
            self.replies.begin(turn, asked=asked)

    def follow_language(self) -> None:
        """Prepare the voice of the conversation's language, before a question is known."""
        chosen = self._settings().speech.language
        language = self._log.language if chosen == AUTO else chosen
        self._workers.speaker.post(GetVoiceReady(language))

    def _language(self, said: Transcript) -> str:
        """The language of a question: the chosen one, the one that was heard, or that of its words.
        English instead of one that no voice speaks.
        """
        chosen = self._settings().speech.language
        if chosen != AUTO:
            return chosen
        if said.recogniser == KEYBOARD:
            return language_of(said.text, self._log.language, tuple(SPOKEN))
        if may_be_english(said.text):  # "piano": no recogniser knows its language
            return self._log.language
        return said.language if said.language in SPOKEN else ENGLISH


def heard_event(turn: int, said: Transcript) -> Heard:
    """Return the event for the user's words."""
    return Heard(turn, said.text, said.confidence, said.recogniser)
