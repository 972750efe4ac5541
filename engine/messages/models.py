"""Messages about models: the list of all usable ones, and the progress of a fetch.

Invariant: sizes are megabytes of 10**6 bytes and known before a fetch; a command needs only a name.
"""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Origin(StrEnum):
    """Source of a model."""

    BUILT_IN = "built in"  # with the program
    LISTED = "listed"  # can be fetched
    ADDED = "added"  # a file or folder of the user, used in place
    MADE = "made on this machine"  # trained here, by a command that the program names
    SERVER = "server"  # run by another program on this machine


class ModelKind(StrEnum):
    """The kinds that can be chosen; every other kind is a part of a voice."""

    RECOGNISER = "recogniser"
    LANGUAGE_MODEL = "language model"
    VOICE = "voice"


class Presence(StrEnum):
    """How much of a model is on this machine."""

    MISSING = "missing"
    PARTIAL = "partial"
    COMPLETE = "complete"


class Activity(StrEnum):
    """Work in progress on a model."""

    WAITING = "waiting"
    FETCHING = "fetching"
    VERIFYING = "verifying"


@dataclass(frozen=True)
class ModelEntry:
    """One model. `folder` is its location: a folder, a file, or a server's address.

    `megabytes` is its size on disk with everything it needs, 0 if unknown; `memory_mb` its
    approximate memory while it runs, 0 if unknown; `fits`: this machine has enough memory.
    `measured` describes its speed here. `obstacle` says why it cannot be used now; empty = it can.
    `notice` is shown before a fetch.
    """

    name: str
    title: str
    kind: str  # see ModelKind
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
    """The models that fit this machine. `names` are fetched where missing (`megabytes` in all) and
    used. `text` lists them with their sizes, `warning` names obstacles.
    """

    names: tuple[str, ...] = ()
    megabytes: int = 0
    text: str = ""
    warning: str = ""
    in_use: bool = False  # all of it already


# ------------------------------------------------------------------ commands


@dataclass(frozen=True)
class ListModels:
    """Request ModelsListed; `servers`: include the models of servers on this machine."""

    servers: bool = False


@dataclass(frozen=True)
class FetchModels:
    """Fetch models one after the other, resuming partial ones; with `use` each is used once it is
    complete.
    """

    names: tuple[str, ...]
    use: bool = False


@dataclass(frozen=True)
class FetchRecommended:
    """Fetch and use the models recommended for this machine."""


@dataclass(frozen=True)
class PauseFetch:
    """Stop fetching or verifying a model; its files stay. An empty name means all."""

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
    """Use this model from now on."""

    name: str


@dataclass(frozen=True)
class AddModel:
    """Add a GGUF file, a Whisper folder or a folder of GGUF files to the list, in place."""

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
    """All models; `machine` describes this machine in a phrase."""

    entries: tuple[ModelEntry, ...]
    recommendation: Recommendation
    machine: str


@dataclass(frozen=True)
class ModelProgress:
    """`total_bytes` includes everything the model needs; 0 = not known yet."""

    name: str
    activity: Activity
    done_bytes: int = 0
    total_bytes: int = 0


@dataclass(frozen=True)
class ModelSettled:
    """Work on a model has ended; `text` describes the result."""

    name: str
    text: str
    failed: bool = False


ModelEvent = ModelsListed | ModelProgress | ModelSettled
