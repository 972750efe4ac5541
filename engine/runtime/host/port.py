"""The conductor's functions for its helpers.

Invariant: only for the conductor's own thread.
"""

from collections.abc import Callable
from dataclasses import dataclass

from engine.llm.base import AssistantState
from engine.messages.commands import Command
from engine.messages.events import Event
from engine.runtime.turn.rules import Deciding
from engine.settings import Settings, Value


@dataclass(frozen=True)
class ConductorPort:
    """`emit` sends an event to the host. `change` changes a setting (InvalidInput if not allowed).
    `decide` passes a fact to the turn rules, `attend` updates the ears. `settings` returns those in
    force, `state` what the skills may see. `receive` handles a message like those of the host.
    """

    emit: Callable[[Event], None]
    change: Callable[[str, Value], None]
    decide: Callable[[Deciding], None]
    attend: Callable[[], None]
    settings: Callable[[], Settings]
    state: Callable[[], AssistantState]
    receive: Callable[[Command | Event], None]
