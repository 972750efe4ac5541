"""What those who act for the conductor may ask of it.

Invariant: for its own thread only.
"""

from collections.abc import Callable
from dataclasses import dataclass

from engine.llm.base import Situation
from engine.messages.commands import Command
from engine.messages.events import Event
from engine.runtime.turn.rules import Deciding
from engine.settings import Settings, Value


@dataclass(frozen=True)
class ConductorPort:
    """`emit` tells the host, `change` changes a setting (InvalidInput when it may not be so),
    `decide` puts a fact to the turn rules, `attend` tells the ears what to listen for now;
    `settings` are those in force, `situation` is what a skill may know; `post` queues a command as
    a host would.
    """

    emit: Callable[[Event], None]
    change: Callable[[str, Value], None]
    decide: Callable[[Deciding], None]
    attend: Callable[[], None]
    settings: Callable[[], Settings]
    situation: Callable[[], Situation]
    post: Callable[[Command], None]
