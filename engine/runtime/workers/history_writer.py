"""Save conversations to a file: each turn once its question is known, and when it ends.

Invariant: no thread waits for this one. A failed write (another instance writes, the disk is full)
is kept in memory and retried; that is reported once. A damaged file is renamed, and the current
conversation begins the new one. Nothing of a private conversation reaches the file.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeVar, assert_never

from engine.errors import HistoryError
from engine.history.faults import Damaged, set_aside
from engine.history.store import LISTED, Place, Store, write_all
from engine.messages.commands import NewConversation
from engine.messages.conversations import (
    ConversationsChanged,
    ConversationsListed,
    ExportConversations,
    HistoryCommand,
    KeptConversation,
    ListConversations,
    OpenConversation,
    RemoveConversations,
    RenameConversation,
    Turn,
)
from engine.messages.events import Failed, Notice
from engine.runtime.turn.facts import ConversationRead, Titled
from engine.runtime.workers.voice.orders import PREVIEW
from engine.runtime.workers.worker import Actor, Tell
from engine.settings import HistorySettings
from engine.translatable import Translatable

T = TypeVar("T")

KEPT_S = 30 * 86_400.0  # for the setting '30 days'
RETRY_S = 10.0  # after a failed write; SQLite itself waits for another instance's write
STAYS_OFF = ("ask", "never")  # nothing is written


@dataclass(frozen=True)
class KeepTurn:
    """A turn of the conversation that `began` then, as known `at` a time since 1970."""

    began: datetime
    turn: Turn
    at: float


Change = NewConversation | ConversationRead  # another conversation continues
HistoryOrder = HistorySettings | KeepTurn | Titled | Change | HistoryCommand


@dataclass
class _Notes:
    """The state of one conversation."""

    turns: dict[int, KeepTurn] = field(default_factory=dict)  # by number
    places: dict[int, Place] = field(default_factory=dict)  # of written turns
    unwritten: dict[int, None] = field(default_factory=dict)  # numbers, in order
    last: Place | None = None  # in the file; None = nothing is written
    title: str = ""  # the language model's, until it is written
    gone: bool = False  # deleted, and so are its later turns

    @property
    def id(self) -> int | None:
        return None if self.last is None else self.last.conversation

    @property
    def state(self) -> tuple[Place | None, int, str]:
        """Changes when the list of conversations does."""
        return self.last, len(self.places), self.title

    def delete(self) -> None:
        self.gone = True
        self.turns, self.unwritten = {}, {}

    def add_turn(self, order: KeepTurn) -> None:
        number = order.turn.number
        if not self.gone and (order.turn.said or order.turn.reply or number in self.turns):
            self.turns[number] = order
            self.unwritten[number] = None

    def write_next(self, store: Store) -> None:
        """Write the first unwritten turn, if there is one (the file may have been replaced)."""
        number = next(iter(self.unwritten), None)
        if number is None:
            return
        order, place = self.turns[number], self.places.get(number)
        if order.turn.said or order.turn.reply:
            if place is None and self.last is not None:
                place = replace(self.last, row=0)
            self.last = self.places[number] = store.keep(order.turn, order.began, order.at, place)
        else:  # its words turned out to belong to another turn
            del self.turns[number]
            if place is not None:
                store.drop(place)
                del self.places[number]
        del self.unwritten[number]


class HistoryWriter(Actor[HistoryOrder]):
    """Owns the file at `path`; None = nothing can be saved."""

    def __init__(
        self,
        path: Path | None,
        tell: Tell,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        """`clock` is the engine's, in seconds; `now` is in seconds since 1970."""
        super().__init__("history writer", tell)
        self._path = path
        self._clock = clock
        self._now = now
        self._store: Store | None = None  # None = not open
        self._keep = "ask"
        self._private = False
        self._present = _Notes()
        self._earlier: list[_Notes] = []  # with unwritten turns
        self._failed = False  # the last write, which was reported
        self._retry_at = 0.0

    def keep(self, began: datetime, turn: Turn) -> None:
        """See KeepTurn."""
        self.post(KeepTurn(began, turn, self._now()))

    def _release(self) -> None:
        """Close the file, after a last attempt to write."""
        self._retry_at = 0.0
        self._worker.guarded(self._write_all)
        self._close()

    # ------------------------------------------------------------------ orders

    def _handle(self, order: HistoryOrder) -> None:
        match order:
            case HistorySettings(keep):
                self._keep = keep
                self._forget_old()
                self._write_all()
            case KeepTurn():
                if not self._private and self._path is not None and self._keep != "never":
                    self._present.add_turn(order)
                self._write_all()
            case Titled(began, title):
                for notes in (*self._earlier, self._present):
                    if any(each.began == began for each in notes.turns.values()):
                        notes.title = title
                self._write_all()
            case NewConversation() | ConversationRead():
                self._begin(order)
            case _ if self._path is None:
                raise HistoryError("No conversations are kept here.", hint="The window keeps them.")
            case _:
                self._serve(order)

    def _begin(self, change: Change) -> None:
        self._private = isinstance(change, NewConversation) and change.private
        if self._present.unwritten:
            self._earlier.append(self._present)
        self._present = _Notes()
        if isinstance(change, ConversationRead):
            began, turns = change.kept.began, change.kept.turns
            places = (Place(change.conversation, row) for row in change.rows)
            self._present = _Notes(
                {
                    turn.number: KeepTurn(began, turn, began.timestamp() + turn.start_s)
                    for turn in turns
                },
                dict(zip((turn.number for turn in turns), places, strict=False)),
                last=Place(change.conversation, 0),
            )
        self._forget_old()
        self._tell(ConversationsChanged())

    def _serve(self, command: HistoryCommand) -> None:
        match command:
            case ListConversations(search):
                self._list(search)
            case OpenConversation(conversation):
                if self._present.id != conversation:
                    kept, rows = self._with_file(
                        lambda store: (store.read(conversation), store.rows(conversation))
                    )
                    # the past of a running conversation, whose turns count from 1
                    first = PREVIEW - len(kept.turns)  # that one number below zero is taken
                    turns = [replace(each, number=n) for n, each in enumerate(kept.turns, first)]
                    kept = replace(kept, turns=tuple(turns))
                    self._tell(ConversationRead(conversation, kept, rows))
            case RenameConversation(conversation, title):
                self._with_file(lambda store: store.rename(conversation, title))
                self._tell(ConversationsChanged())
            case RemoveConversations(conversations):
                self._remove(conversations)
            case ExportConversations(path):
                count = self._with_file(lambda store: write_all(store, path))
                self._tell(
                    Notice.of("{count} conversations are in {path}.", count=count, path=path)
                )
            case _:
                assert_never(command)

    def _list(self, search: str) -> None:
        found: tuple[KeptConversation, ...] = ()
        if self._is_there:
            found = self._with_file(lambda store: store.listing(search, LISTED + 1))
        more = len(found) > LISTED
        self._tell(ConversationsListed(search, found[:LISTED], more, self._present.id))

    def _remove(self, conversations: tuple[int, ...]) -> None:
        present = self._present
        named = conversations or (() if present.id is None else (present.id,))
        count = self._with_file(lambda store: store.remove(named)) if named else 0
        if not conversations or present.id in named:
            present.delete()
            self._tell(NewConversation())
        if not named:  # nothing of the present one was kept
            return
        one, several = (
            Translatable("1 conversation was deleted."),
            Translatable("{count} conversations were deleted.", count=count),
        )
        self._tell(Notice(one if count == 1 else several))
        self._tell(ConversationsChanged())

    # ----------------------------------------------------------------- the file

    @property
    def _is_there(self) -> bool:
        """Whether there is a file; listing does not create one."""
        return self._path is not None and self._path.exists()

    def _opened(self) -> Store:
        """Return the open file at the path: another instance may have renamed ours."""
        assert self._path is not None
        if self._store is not None and not self._store.is_in_place:
            self._close()
            self._write_anew()
        if self._store is None:
            self._store = Store(self._path)
            self._store.check()
        return self._store

    def _close(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None

    def _with_file(self, work: Callable[[Store], T]) -> T:
        """Do this with the file, or with a new one if it is damaged."""
        try:
            return work(self._opened())
        except Damaged as fault:
            self._set_aside(fault)
            return work(self._opened())

    def _set_aside(self, fault: Damaged) -> None:
        assert self._path is not None
        file = fault.file if self._store is None else self._store.file
        self._close()
        kept = set_aside(self._path, file)
        if kept:
            hint = Translatable(
                "The file was renamed to {file}; new conversations go to a new file.",
                file=kept,
            )
            self._tell(Failed(fault.code, fault.message, hint))
        self._write_anew()
        self._tell(ConversationsChanged())

    def _write_anew(self) -> None:
        """Write everything again, to another file."""
        for notes in (*self._earlier, self._present):
            notes.last, notes.places = None, {}
            notes.unwritten = dict.fromkeys(notes.turns)

    def _write_all(self) -> None:
        """Write all unwritten turns; those that fail stay unwritten."""
        if self._keep == "never":
            self._earlier.clear()
            self._present.unwritten.clear()
        if self._keep in STAYS_OFF or self._clock() < self._retry_at:
            return
        before = self._present.state
        try:
            self._write()
        except HistoryError as error:
            self._retry_at = self._clock() + RETRY_S
            if not self._failed:
                self._tell(Failed.of(error))
            self._failed = True
            return
        if self._failed:
            self._failed = False
            self._tell(Notice.of("Conversations are kept again; nothing was lost."))
        if self._present.state != before:
            self._tell(ConversationsChanged())

    def _write(self) -> None:
        for notes in (*self._earlier, self._present):
            while notes.unwritten:
                self._with_file(notes.write_next)
            if notes.title and notes.id is not None:
                self._with_file(partial(Store.suggest, conversation=notes.id, title=notes.title))
                notes.title = ""
        self._earlier.clear()

    def _forget_old(self) -> None:
        """Delete conversations that are older than the setting."""
        if self._keep == "30 days" and self._is_there:
            before = self._now() - KEPT_S
            besides = self._present.id
            if self._with_file(lambda store: store.remove_before(before, besides)):
                self._tell(ConversationsChanged())

    def _tick(self) -> float | None:
        self._write_all()
        return max(0.05, self._retry_at - self._clock()) if self._failed else None
