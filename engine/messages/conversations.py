"""Messages about saved conversations."""

from dataclasses import dataclass
from pathlib import Path

from engine.messages.words import Ending

# ------------------------------------------------------------------ commands


@dataclass(frozen=True)
class ListConversations:
    """List saved conversations, newest first; with `search` those that contain each of its words,
    or words that begin like them. Answered by ConversationsListed.
    """

    search: str = ""


@dataclass(frozen=True)
class OpenConversation:
    """Continue a saved conversation; answered by ConversationOpened."""

    conversation: int


@dataclass(frozen=True)
class RenameConversation:
    """Rename a conversation; an empty title becomes its subject, as at first."""

    conversation: int
    title: str


@dataclass(frozen=True)
class RemoveConversations:
    """Delete conversations for good; () = the current one. A new one begins if the current one is
    deleted.
    """

    conversations: tuple[int, ...]


@dataclass(frozen=True)
class ExportConversations:
    """Write all saved conversations to one file; its suffix selects .txt, .md or .json."""

    path: Path


@dataclass(frozen=True)
class Replay:
    """Play a reply of this conversation again, from the word at character `start` of its text, with
    the current voice and rate. This is not a turn.
    """

    turn: int
    start: int


# -------------------------------------------------------------------- events


@dataclass(frozen=True)
class KeptConversation:
    """A line of the list. Times are seconds since 1970; `excerpt` shows the search's match."""

    id: int
    title: str
    began: float
    last: float
    turns: int
    excerpt: str = ""


@dataclass(frozen=True)
class PastTurn:
    """A turn of an opened conversation. Its number is negative: new turns continue the engine's own
    count. `ending` None: the program ended during the turn.
    """

    turn: int
    ending: Ending | None
    said: str
    reply: str
    heard: str


@dataclass(frozen=True)
class ConversationsListed:
    """The result of `search`; `more`: there are older conversations. `current` is the running
    conversation, None = nothing of it is saved yet.
    """

    search: str
    conversations: tuple[KeptConversation, ...]
    more: bool
    current: int | None


@dataclass(frozen=True)
class ConversationsChanged:
    """The result of ListConversations has changed."""


@dataclass(frozen=True)
class ConversationOpened:
    """Another conversation continues: a saved one with its `turns`, or (None) a new one. `private`:
    it is not saved.
    """

    conversation: int | None
    private: bool = False
    turns: tuple[PastTurn, ...] = ()


@dataclass(frozen=True)
class ConversationCut:
    """This turn and all later ones left the conversation: its question was edited."""

    turn: int


@dataclass(frozen=True)
class WordReplayed:
    """The word at [start, end) of an earlier reply is being replayed now."""

    turn: int
    start: int
    end: int


@dataclass(frozen=True)
class ReplayEnded:
    """The replay of that reply has ended."""

    turn: int


HistoryCommand = (
    ListConversations
    | OpenConversation
    | RenameConversation
    | RemoveConversations
    | ExportConversations
)
