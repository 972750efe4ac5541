"""What the preview of voices lets the ears know."""

from typing import Any, cast

from engine.messages.voices import Comparing
from engine.runtime.host.port import ConductorPort
from engine.runtime.host.status import Status
from engine.runtime.host.voice_preview import VoicePreview
from engine.settings import Settings


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
