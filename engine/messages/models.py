"""What is said about models: a list of all that can be used, and how a fetch goes.

Invariant: sizes are megabytes of 10**6 bytes and told before anything is fetched; a name is all a
host needs to give an order.
"""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Origin(StrEnum):
    """Where a model comes from."""

    BUILT_IN = "built in"  # with the program
    LISTED = "listed"  # can be fetched
    ADDED = "added"  # a file or folder of the person's own; it stays where it is
    MADE = "made on this machine"  # trained here, by a command that the program names
    SERVER = "server"  # run by another program on this machine


class Presence(StrEnum):
    """How much of a model is there."""

    MISSING = "missing"
    PARTIAL = "partial"
    COMPLETE = "complete"


class Activity(StrEnum):
    """What is being done with a model."""

    WAITING = "waiting"
    FETCHING = "fetching"
    VERIFYING = "verifying"


@dataclass(frozen=True)
class ModelEntry:
    """One model. `folder` is where it lies: a folder, a file, or a server's address.

    `megabytes` is the size of what is fetched or lies there, with what it needs besides, 0 where
    nobody says; `memory_mb` about what it takes while it runs, 0 where that is not known; `fits`
    whether this machine has that. `measured` is what is known of its speed here. `obstacle` says
    why it cannot be used now; empty = it can be. `notice` is to be known before it is fetched.
    """

    name: str
    title: str
    kind: str  # 'recogniser', 'language model', 'voice', or a part of a voice
    origin: Origin
    state: Presence
    megabytes: int = 0
    megabytes_here: int = 0
    memory_mb: int = 0
    fits: bool = True
    licence: str = "not known here"
    attribution: str = ""
    folder: str = ""
    measured: str = ""
    in_use: bool = False
    obstacle: str = ""
    notice: str = ""


@dataclass(frozen=True)
class Recommendation:
    """What fits this machine: `names` are fetched where they are missing (`megabytes` in all), and
    used. `text` lists them with their sizes, `warning` says what will be in the way.
    """

    names: tuple[str, ...] = ()
    megabytes: int = 0
    text: str = ""
    warning: str = ""
    in_use: bool = False  # all of it already


# ------------------------------------------------------------------ commands


@dataclass(frozen=True)
class ListModels:
    """Tell which models there are; with `servers` also those of servers on this machine."""

    servers: bool = False


@dataclass(frozen=True)
class FetchModels:
    """Fetch models one after the other, going on where they were left; with `use` each is used as
    soon as it is there.
    """

    names: tuple[str, ...]
    use: bool = False


@dataclass(frozen=True)
class FetchRecommended:
    """Fetch and use what is recommended for this machine."""


@dataclass(frozen=True)
class PauseFetch:
    """Stop fetching or verifying a model; what is there stays. An empty name means all."""

    name: str = ""


@dataclass(frozen=True)
class VerifyModel:
    """Compare every file with its hash."""

    name: str


@dataclass(frozen=True)
class RemoveModel:
    """Delete a fetched model, or forget an added one, whose files stay. Refused while in use."""

    name: str


@dataclass(frozen=True)
class UseModel:
    """Listen, think or speak with this model from now on."""

    name: str


@dataclass(frozen=True)
class AddModel:
    """Make a GGUF file, a Whisper folder or a folder of GGUF files known; they stay in place."""

    path: Path


ModelCommand = (
    ListModels
    | FetchModels
    | FetchRecommended
    | PauseFetch
    | VerifyModel
    | RemoveModel
    | UseModel
    | AddModel
)


# -------------------------------------------------------------------- events


@dataclass(frozen=True)
class ModelsListed:
    """All models; `machine` describes this one in a phrase."""

    entries: tuple[ModelEntry, ...]
    recommendation: Recommendation
    machine: str


@dataclass(frozen=True)
class ModelProgress:
    """`total_bytes` counts what the model needs besides, too; 0 = not known yet."""

    name: str
    activity: Activity
    done_bytes: int = 0
    total_bytes: int = 0


@dataclass(frozen=True)
class ModelSettled:
    """Nothing is being done with the model any more; `text` says what came of it."""

    name: str
    text: str
    failed: bool = False


ModelEvent = ModelsListed | ModelProgress | ModelSettled
