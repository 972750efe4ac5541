"""What the conductor knows of the voice, and what the preview of voices lets the ears know."""

from typing import Any, cast

from engine.messages.events import VoicesChanged
from engine.messages.voices import Comparing
from engine.runtime.host.port import ConductorPort
from engine.runtime.host.status import Status
from engine.runtime.host.voice_preview import VoicePreview
from engine.settings import Settings


def test_the_voice_before_is_the_last_one_of_another_name() -> None:
    status = Status()
    for selected in ("Anna", "Clara", "Clara"):
        status.voices_known(VoicesChanged(("Anna", "Bruno", "Clara"), selected))
    assert (status.voice, status.voice_before) == ("Clara", "Anna")


def never(*_: Any) -> Any:
    raise AssertionError("nobody asks for this")


def test_while_systems_are_compared_aloud_nothing_is_heard_as_said_to_the_assistant() -> None:
    heard: list[bool] = []
    port = ConductorPort(
        never, never, never, lambda: heard.append(preview.hearing), Settings, cast(Any, never)
    )
    preview = VoicePreview(cast(Any, None), Status(), port)
    preview.take(Comparing(True))
    preview.take(Comparing(False))
    assert heard == [True, False]
    assert not preview.hearing
