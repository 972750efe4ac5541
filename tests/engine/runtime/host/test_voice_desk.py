"""What the desk of voices lets the ears know."""

from typing import Any, cast

from engine.messages.voices import Comparing
from engine.runtime.host.port import ConductorPort
from engine.runtime.host.status import Status
from engine.runtime.host.voice_desk import VoiceDesk
from engine.settings import Settings


def never(*_: Any) -> Any:
    raise AssertionError("nobody asks for this")


def test_while_systems_are_compared_aloud_nothing_is_heard_as_said_to_the_assistant() -> None:
    heard: list[bool] = []
    port = ConductorPort(
        never, never, never, lambda: heard.append(desk.hearing), Settings, cast(Any, never)
    )
    desk = VoiceDesk(cast(Any, None), Status(), port)
    desk.take(Comparing(True))
    desk.take(Comparing(False))
    assert heard == [True, False]
    assert not desk.hearing
