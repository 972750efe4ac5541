"""Devices that fail again as soon as they are opened again."""

from engine.messages.commands import PressTalk, ReleaseTalk, SendText
from engine.messages.events import Failed
from engine.messages.words import Ending, Part
from tests.engine.runtime.test_conductor import Host, hosting
from tests.fakes import WORD_SAMPLES, FakeLanguageModel, FakeParts, HandLoudspeaker, HandMicrophone


class Frozen(HandLoudspeaker):
    """Opens well, takes a little, and is gone."""

    def write(self, pcm):
        taken = super().write(pcm)
        self.gone = self.gone or self.samples_written > WORD_SAMPLES
        return taken


class FrozenParts(FakeParts):
    """Every loudspeaker and microphone that is opened fails soon, until `works` is set."""

    works = False

    def _loudspeaker(self, name):
        self.loudspeakers[""] = HandLoudspeaker("well") if self.works else Frozen("frozen")
        return self.loudspeakers[""]

    def _microphone(self, name):
        self.microphones[""] = HandMicrophone("frozen")
        self.microphones[""].gone = not self.works
        return self.microphones[""]


def faults(host: Host, part: Part) -> list[Failed]:
    return [event for event in host.of(Failed) if event.part is part]


def test_a_loudspeaker_that_stays_frozen_ends_the_reply_and_is_tried_again() -> None:
    parts = FrozenParts(model=FakeLanguageModel("one two three four five six seven eight"))
    with hosting(parts) as host:
        host.post(SendText("count"))
        ended = host.ended(1, playing=800)
        assert ended.ending is Ending.DEVICE_LOST
        assert 0 < len(ended.heard) < len(ended.reply)
        assert len(faults(host, Part.LOUDSPEAKER)) == 2
        parts.works = True
        host.post(SendText("count"))
        assert host.ended(2).ending is Ending.COMPLETE
        assert parts.loudspeakers[""].samples_played == 8 * WORD_SAMPLES


def test_a_microphone_that_stays_frozen_is_given_up_until_the_person_talks() -> None:
    parts = FrozenParts()
    with hosting(parts) as host:
        host.wait(lambda: len(faults(host, Part.MICROPHONE)) == 2)
        host.ask("anything")
        assert len(faults(host, Part.MICROPHONE)) == 2
        parts.works = True
        host.post(PressTalk())
        host.post(ReleaseTalk())
        assert host.ended(2).said == "hello there"
