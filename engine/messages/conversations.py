"""What a host and the engine say to each other about conversations that were kept."""

from dataclasses import dataclass
from pathlib import Path

from engine.messages.words import Ending

# ------------------------------------------------------------------ commands


@dataclass(frozen=True)
class ListConversations:
    """List what was kept, newest first; with `search` what has each of its words, or words that
    begin like them, in it. Answered by ConversationsListed.
    """

    search: str = ""


@dataclass(frozen=True)
class OpenConversation:
    """Go on with a conversation that was kept; answered by ConversationOpened."""

    conversation: int


@dataclass(frozen=True)
class RenameConversation:
    """An empty title: it is called after its subject, as at first."""

    conversation: int
    title: str


@dataclass(frozen=True)
class RemoveConversations:
    """Delete them for good; none named: the present one. Where that is among them, a new one
    begins.
    """

    conversations: tuple[int, ...]


@dataclass(frozen=True)
class ExportConversations:
    """Write all that was kept into one file; its suffix says how: .txt, .md or .json."""

    path: Path


@dataclass(frozen=True)
class Replay:
    """Let a reply of this conversation be heard again, from the word at character `start` of its
    text on, in today's voice and at today's pace. It makes no turn.
    """

    turn: int
    start: int


# -------------------------------------------------------------------- events


@dataclass(frozen=True)
class KeptConversation:
    """A line of the list. Times are seconds since 1970; `excerpt` is where the search found it."""

    id: int
    title: str
    began: float
    last: float
    turns: int
    excerpt: str = ""


@dataclass(frozen=True)
class PastTurn:
    """A turn of a conversation that was opened. Its number is below zero: turns to come count on
    from where the engine is. `ending` None: the program ended in the middle of it.
    """

    turn: int
    ending: Ending | None
    said: str
    reply: str
    heard: str


@dataclass(frozen=True)
class ConversationsListed:
    """What was asked for with `search`; `more`: there are others, older than these. `current` is
    the conversation that goes on, None = nothing of it was kept so far.
    """

    search: str
    conversations: tuple[KeptConversation, ...]
    more: bool
    current: int | None


@dataclass(frozen=True)
class ConversationsChanged:
    """What ListConversations would give is another now."""


@dataclass(frozen=True)
class ConversationOpened:
    """Another conversation goes on from now on: a kept one with its `turns`, or (None) a new one.
    `private`: nothing of it is kept.
    """

    conversation: int | None
    private: bool = False
    turns: tuple[PastTurn, ...] = ()


@dataclass(frozen=True)
class ConversationCut:
    """This turn, and all after it, left the conversation: its question is asked anew."""

    turn: int


@dataclass(frozen=True)
class WordReplayed:
    """The word at [start, end) of the reply of an earlier turn is heard again now."""

    turn: int
    start: int
    end: int


@dataclass(frozen=True)
class ReplayEnded:
    """No more of that reply is heard again."""

    turn: int


HistoryCommand = (
    ListConversations
    | OpenConversation
    | RenameConversation
    | RemoveConversations
    | ExportConversations
)
