"""A device that fails again as soon as it is opened again."""

from engine import api
from tests.engine.runtime.test_conductor import hosting
from tests.fakes import FakeParts, HandMicrophone


class FrozenParts(FakeParts):
    """Every microphone that is opened fails soon, until `works` is set."""

    works = False

    def _microphone(self, name):
        self.microphones[""] = HandMicrophone("frozen")
        self.microphones[""].gone = not self.works
        return self.microphones[""]


def test_a_microphone_that_stays_frozen_is_given_up_until_the_person_talks() -> None:
    parts = FrozenParts()
    with hosting(parts) as host:
        host.wait(lambda: len(host.failed(api.Part.MICROPHONE)) == 2)
        host.ask("anything")
        assert len(host.failed(api.Part.MICROPHONE)) == 2
        parts.works = True
        host.post(api.PressTalk())
        host.post(api.ReleaseTalk())
        assert host.ended(2).said == "hello there"
