"""What the conductor knows of the voice."""

from engine.messages.events import VoicesChanged
from engine.runtime.host.status import Status


def test_the_voice_before_is_the_last_one_of_another_name() -> None:
    status = Status()
    voices = ("Anna", "Bruno", "Clara")

    for selected in ("Anna", "Clara", "Clara"):
        status.voices_known(VoicesChanged(voices, selected))

    assert (status.voice, status.voice_before) == ("Clara", "Anna")
