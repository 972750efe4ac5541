"""Typed questions and texts; new and saved conversations; replay of a reply; export to a file.

Invariant: runs on the conductor's thread; the history writer handles the saved files.
"""

from dataclasses import replace
from pathlib import Path

from engine.characters import join_surrogates
from engine.errors import InvalidInput
from engine.export.documents import check_suffix, write
from engine.messages.commands import Export, NewConversation, SendText, Speak, StopReply
from engine.messages.conversations import (
    ConversationCut,
    ConversationOpened,
    HistoryCommand,
    Replay,
)
from engine.messages.events import Notice
from engine.messages.words import Phase
from engine.runtime.effects import Effects
from engine.runtime.host.actions import Actions
from engine.runtime.host.port import ConductorPort
from engine.runtime.threads import Workers
from engine.runtime.turn.facts import ConversationGone, ConversationRead, ReplayAsked
from engine.runtime.turn.floor import Floor
from engine.runtime.turn.log import TurnLog
from engine.runtime.workers.background import WriteConversation
from engine.runtime.workers.history_writer import Change

LONGEST_TEXT = 20_000  # characters; a longer text is a mistake
Asked = SendText | Speak | Change | Replay | Export | HistoryCommand


class Conversations:
    """Acts for the conductor."""

    def __init__(
        self,
        workers: Workers,
        log: TurnLog,
        effects: Effects,
        actions: Actions,
        port: ConductorPort,
    ) -> None:
        self._actions = actions
        self._workers = workers
        self._log = log
        self._effects = effects
        self._emit = port.emit
        self._decide = port.decide

    def on(self, asked: Asked, floor: Floor) -> None:
        """Act on a request. InvalidInput if that is impossible."""
        match asked:
            case SendText():
                self._ask(asked, floor)
            case Speak():
                self._speak(asked)
            case NewConversation() | ConversationRead() | ConversationGone():
                self._change(asked)
            case Replay():
                self._replay(asked, floor)
            case Export():
                self._export(asked)
            case _:
                self._workers.history_writer.post(asked)

    def _ask(self, command: SendText, floor: Floor) -> None:
        """Begin a turn with a typed question. During a reply it may be a wish about its sound."""
        command = replace(command, text=_usable(command.text))
        if not command.text:
            return
        if command.instead_of is not None:
            self._ask_instead(command, command.instead_of)
        elif floor.phase is not Phase.SPEAKING or not self._actions.apply_spoken_wish(command.text):
            self._decide(command)

    def _speak(self, command: Speak) -> None:
        """Read a text out."""
        if text := _usable(command.text):
            if command.private:
                self._effects.private_texts.add(text)
            self._decide(replace(command, text=text))

    def _ask_instead(self, command: SendText, turn: int) -> None:
        """Remove this turn and all later ones from the conversation, and ask this instead."""
        self._decide(StopReply())
        cut = self._log.cut(turn)
        if cut.turns:
            self._emit(ConversationCut(turn))
        self._decide(command)
        for each in cut.turns:  # afterwards, so that the conversation is never empty
            self._workers.history_writer.keep(cut.began, each)

    def write_now(self, path: Path) -> None:
        """Write the conversation on the calling thread, after the workers have stopped.
        InvalidInput as in write().
        """
        write(self._log.conversation(), path)

    def _export(self, command: Export) -> None:
        """Let a worker write the conversation and report the result."""
        check_suffix(command.path)
        self._workers.background.post(WriteConversation(self._log.conversation(), command.path))

    def _change(self, to: Change) -> None:
        """End the current turn and switch to another conversation."""
        read = to if isinstance(to, ConversationRead) else None
        private = isinstance(to, NewConversation) and to.private
        self._decide(StopReply())
        self._effects.begin_anew(read.kept if read else None, private=private)
        self._workers.history_writer.post(to)
        if read is None:
            self._emit(ConversationOpened(None, private))
            self._emit(Notice.of("A private conversation." if private else "A new conversation."))
        else:
            self._emit(ConversationOpened(read.conversation, turns=read.kept.turns))

    def _replay(self, asked: Replay, floor: Floor) -> None:
        """Replay a reply unless somebody speaks. InvalidInput if no text follows that position."""
        text = self._log.reply_from(asked.turn, asked.start)
        if not text.strip() or asked.start < 0:
            raise InvalidInput("There is no reply to replay there.", hint="Choose a word.")
        if floor.phase is Phase.IDLE or self._log.replays(floor.turn):
            self._decide(ReplayAsked(text, asked.turn, asked.start))
        else:
            self._emit(Notice.of("Wait until the reply ends, or press Esc."))


def _usable(text: str) -> str:
    """Return a text of the host without outer spaces and lone surrogates. InvalidInput if it is too
    long.
    """
    text = join_surrogates(text.strip())
    if len(text) > LONGEST_TEXT:
        raise InvalidInput(
            "That text has {count} characters; at most {most} are allowed.",
            hint="Send it in parts.",
            count=len(text),
            most=LONGEST_TEXT,
        )
    return text
