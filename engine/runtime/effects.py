"""Carry out requests about the conversation, and the decisions of the turn rules: orders to the
workers, entries in the log, events.

Invariant: runs on the conductor's thread only, and makes no decision about the floor. The history
writer handles the saved conversations.
"""

import time
from dataclasses import replace
from pathlib import Path
from typing import assert_never

from engine.asr.base import Transcript
from engine.characters import join_surrogates
from engine.errors import InvalidInput
from engine.export import check_suffix
from engine.history.subject import subject
from engine.languages import ENGLISH, SPOKEN
from engine.llm.base import Message, Role
from engine.llm.servers.address import asks_another_computer
from engine.llm.skills.control import may_become_speech_wish, speech_wish
from engine.llm.skills.languages.commands import may_be_english
from engine.machine import collect_all
from engine.messages.commands import NewConversation, SendText, Speak, StopReply
from engine.messages.conversations import ConversationCut, ConversationOpened, Replay
from engine.messages.events import KEYBOARD, Heard, Notice, PhaseChanged, UseWindow
from engine.messages.reading import OpenDocument
from engine.messages.words import Ending, Phase
from engine.runtime.host.actions import Actions
from engine.runtime.host.port import ConductorPort
from engine.runtime.host.reading import Reading
from engine.runtime.threads import Workers
from engine.runtime.turn import facts, orders
from engine.runtime.turn.floor import Floor
from engine.runtime.turn.log import TurnLog
from engine.runtime.turn.replies import Replies
from engine.runtime.workers.background import WriteConversation
from engine.runtime.workers.history_writer import STAYS_OFF, Change
from engine.runtime.workers.language_model_worker import GetReady, Rest
from engine.runtime.workers.voice.orders import GetVoiceReady
from engine.settings import AUTO
from engine.text.barge_in_words import halts, lets_go_on
from engine.text.language_choice import language_of
from engine.text.speakable import check_length

LONGEST_TEXT = 20_000  # characters; a longer text is a mistake


class Effects:
    """Acts for the conductor."""

    def __init__(
        self, workers: Workers, log: TurnLog, actions: Actions, port: ConductorPort
    ) -> None:
        self._workers = workers
        self._log = log
        self._actions = actions
        self._emit, self._decide = port.emit, port.decide
        self._attend = port.attend
        self._settings = port.settings
        self.replies = Replies(
            workers, lambda: port.settings().speech.pacing, lambda: self._log.language
        )
        self.reading = Reading(workers, log, self.replies, port)
        self.private_texts = set[str]()  # texts that are read out but stay on this computer

    # ---------------------------------------------------------------------- requests

    def ask(self, command: SendText, floor: Floor) -> None:
        """Begin a turn with a typed question. During a reply it may be a wish about its sound."""
        command = replace(command, text=_usable(command.text))
        if not command.text:
            return
        if command.instead_of is not None:
            self._ask_instead(command, command.instead_of)
        elif floor.phase is not Phase.SPEAKING or not self._actions.apply_spoken_wish(command.text):
            self._decide(command)

    def _ask_instead(self, command: SendText, turn: int) -> None:
        """Remove this turn and all later ones from the conversation, and ask this instead."""
        self._decide(StopReply())
        cut = self._log.cut(turn)
        if cut.turns:
            self._emit(ConversationCut(turn))
        self._decide(command)
        for each in cut.turns:  # afterwards, so that the conversation is never empty
            self._workers.history_writer.keep(cut.began, each)

    def speak(self, command: Speak) -> None:
        """Read a text out."""
        if text := _usable(command.text):
            if command.private:
                self.private_texts.add(text)
            self._decide(replace(command, text=text))

    def replay(self, asked: Replay, floor: Floor) -> None:
        """Replay a reply unless somebody speaks. InvalidInput if no text follows that position."""
        text = self._log.reply_from(asked.turn, asked.start)
        if not text.strip() or asked.start < 0:
            raise InvalidInput("There is no reply to replay there.", hint="Choose a word.")
        if floor.phase is Phase.IDLE or self._log.replays(floor.turn):
            self._decide(facts.ReplayAsked(text, asked.turn, asked.start))
        else:
            self._emit(Notice.of("Wait until the reply ends, or press Esc."))

    def export(self, path: Path) -> None:
        """Let a worker write the conversation and report the result."""
        check_suffix(path)
        self._workers.background.post(WriteConversation(self._log.conversation(), path))

    def switch(self, to: Change) -> None:
        """End the current turn and switch to another conversation."""
        read = to if isinstance(to, facts.ConversationRead) else None
        private = isinstance(to, NewConversation) and to.private
        self._decide(StopReply())
        self._actions.begin(private=private)
        self.reading.private = private
        self._log.begin(read.kept if read else None, titled=private or read is not None)
        self.follow_language()
        self._workers.language_model.post(self._readiness)
        self._workers.history_writer.post(to)
        if read is None:
            self._emit(ConversationOpened(None, private))
            self._emit(Notice.of("A private conversation." if private else "A new conversation."))
        else:
            self._emit(ConversationOpened(read.conversation, turns=read.kept.turns))

    def pass_on_title(self, titled: facts.Titled) -> None:
        """Let the title be saved, and request none again for this conversation."""
        self._log.titled = self._log.titled or titled.began == self._log.began
        self._workers.history_writer.post(titled)

    # --------------------------------------------------------------------- decisions

    def prepare(self, interim: facts.InterimTranscript) -> None:
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

    def carry_out(self, order: orders.OtherOrder) -> None:
        if isinstance(order, orders.UtteranceOrder):
            self._note(order)
            self._workers.ears.post(order)
            return
        match order:
            case orders.ReadOut():
                self._read_out(order)
            case orders.Pause(turn):
                if reply := self.replies.find(turn):
                    reply.pause()
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
        if isinstance(replayed, facts.ReadingAsked):
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

    def transcribed(self, fact: facts.Transcribed, *, held: bool) -> facts.Transcribed:
        """Record the words of a turn, which may be over; return the fact. `held`: the turn before
        waits for them.
        """
        turn, said = fact.turn, fact.transcript
        if self._log.find(turn) is None:  # late
            if self._log.say_late(turn, said.text) and said.text:
                self._emit(Heard(turn, said.text, said.confidence, said.recogniser))
        elif held and self._actions.apply_spoken_wish(said.text):
            fact = replace(fact, wish=True)  # the reply that it came before follows
        self._log.record_fact(fact)
        return fact

    def with_wish(
        self, fact: facts.Peeked | facts.Transcribed, *, rings: bool
    ) -> facts.Peeked | facts.Transcribed:
        """Return the fact, with the mark that its words concern what `rings`, or the reading."""
        text = fact.text if isinstance(fact, facts.Peeked) else fact.transcript.text
        wish = (rings and self._actions.silences_ring(text)) or self.reading.is_wish(text)
        return replace(fact, wish=fact.wish or wish)

    def act(self, asked: facts.ActionAsked, turn: int) -> None:
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
        self._workers.language_model.post(self._readiness if idle else Rest())

    @property
    def _readiness(self) -> GetReady:
        """The language model's order: a title only for a saved talk with a subject, by a local
        model.
        """
        log, settings, title = self._log, self._settings(), None
        is_saved = settings.history.keep not in STAYS_OFF and not log.titled
        if is_saved and not asks_another_computer(settings.language_model):
            said = [each.text for each in log.history if each.role is Role.USER]
            title = log.began if subject(said) else None
        return GetReady(log.history, title)

    def answer(self, turn: int, said: Transcript) -> None:
        language = self._language(said)
        record = self._log.say(turn, said.text, said.confidence, language)
        self._workers.speaker.post(GetVoiceReady(language))
        if record.speech_ended_at is None:
            record.speech_ended_at = time.monotonic()
            record.typed = said.recogniser == KEYBOARD
        self._emit(Heard(turn, said.text, said.confidence, said.recogniser))
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


def _usable(text: str) -> str:
    """Return a text of the host without outer spaces and lone surrogates. InvalidInput if it is too
    long.
    """
    text = join_surrogates(text.strip())
    check_length(text, LONGEST_TEXT)
    return text
