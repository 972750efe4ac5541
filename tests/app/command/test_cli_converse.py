"""`rubato converse` shows the turns while the conversation goes on."""

from collections.abc import Callable
from typing import Any

from app.__main__ import main
from engine import api
from engine.api import Ending, Event, TurnEnded
from engine.messages.events import TurnMetrics


def test_a_turn_is_printed_when_it_ends_however_the_conversation_does(monkeypatch, capsys):
    said, reply = "what time is it", "It's noon."

    def converse(settings: Any, *, show: Callable[[Event], None], **options: Any) -> None:
        show(TurnEnded(1, Ending.SUPERSEDED, "", "", "", ""))  # part of the next one
        show(TurnEnded(2, Ending.COMPLETE, said, reply, reply, reply, TurnMetrics(heard_ms=310)))
        raise KeyboardInterrupt

    monkeypatch.setattr(api, "converse", converse)
    assert main(["converse"]) == 130
    assert capsys.readouterr().out.splitlines() == [
        "you:    what time is it",
        "rubato: It's noon.",
        "        ms after the end of speech: heard 310",
    ]
