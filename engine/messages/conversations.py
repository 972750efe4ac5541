"""Turns of a conversation, and messages about saved conversations."""

from dataclasses import dataclass, field
from pathlib import Path

from engine.languages import ENGLISH
from engine.messages.words import Ending

# ------------------------------------------------------------------ turns


@dataclass(frozen=True)
class TurnMetrics:
    """The times of a turn's steps: milliseconds after the end of the user's speech (or after the
    text was sent). 0 = the step was done in advance, None = it did not happen.
    """

    end_ms: float | None = None  # the end of the speech was detected
    transcript_ms: float | None = None
    first_token_ms: float | None = None
    first_word_ms: float | None = None
    first_audio_ms: float | None = None  # first samples written to the loudspeaker's ring
    heard_ms: float | None = None  # the first samples are audible
    speech_ms: float | None = None  # how much of the reply was heard
    underruns: int = 0
    discarded: int = 0  # unheard replies, prepared in pauses after which the user spoke on


@dataclass(frozen=True)
class HeardWord:
    """A spoken word of a reply; [start, end) is its span in the reply's text. Several spoken words
    may share one span ("$5" is spoken "five dollars").
    """

    text: str
    start: int
    end: int
    start_s: float
    end_s: float


@dataclass(frozen=True)
class Turn:
    """One turn of a conversation: `reply` is the text as written, `heard` the part of it that was
    heard. Times are seconds after the conversation began. `words`: those that the loudspeaker began
    to play. The number of a turn of an opened conversation is negative: new turns continue the
    engine's own count.
    """

    number: int
    ending: Ending | None  # None = it goes on, or the program ended during it
    start_s: float
    said: str = ""
    said_end_s: float | None = None  # None = still speaking
    typed: bool = False
    reply: str = ""
    heard: str = ""
    words: tuple[HeardWord, ...] = ()
    metrics: TurnMetrics = field(default_factory=TurnMetrics)
    private: bool = False  # part of the reply stays on this computer
    voice: str = ""  # of the reply
    rate: float | None = None  # target in SPS; None = the voice's own pace
    language: str = ENGLISH  # of the question: its code

    @property
    def unheard(self) -> str:
        """The unheard rest of the reply, on one line; empty if all was heard."""
        return " ".join(self.reply[len(self.heard) :].split())

    @property
    def replied_s(self) -> float:
        """The time when the reply was first heard, or would have been."""
        if self.words:
            return self.words[0].start_s
        return self.start_s if self.said_end_s is None else self.said_end_s


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
    """The list of saved conversations has changed; a host may send ListConversations again."""


@dataclass(frozen=True)
class ConversationOpened:
    """Another conversation continues: a saved one with its `turns`, or (None) a new one. `private`:
    it is not saved.
    """

    conversation: int | None
    private: bool = False
    turns: tuple[Turn, ...] = ()


@dataclass(frozen=True)
class ConversationCut:
    """This turn and all later ones were removed, because the user edited the question of this
    turn.
    """

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
