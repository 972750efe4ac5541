"""Interruptions of the real voice: whatever the moment, what was heard is what is remembered."""

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.api import SayOptions, SendText, Settings, StopReply, TurnEnded, say
from engine.audio.devices.file_device import FileLoudspeaker
from engine.messages.words import Ending
from engine.runtime.factories import standard_factories
from engine.runtime.turn.edges import Edges
from tests.faults.whole import RATE, Devices, Whole, whole
from tests.help.fakes.parts import FORMANT, FakeLanguageModel
from tests.help.fakes.stepped_clock import SteppedClock

WORDS = "seven quiet rivers run along the old stone road to the harbour in the morning"
REPEAT, AGAIN = f"repeat after me {WORDS}", "say that again"
FADE_S = 0.03  # what is left to play after a cut
EDGE_S = 0.05  # how far the count of samples and the word times may be apart


class CountedCuts(FileLoudspeaker):
    """Tells how many replies were cut: until then a frame of one that was stopped may follow."""

    cuts = 0

    def cut(self, *, fade_ms: int = 10) -> None:
        super().cut(fade_ms=fade_ms)
        self.cuts += 1


class Stepped:
    """A loudspeaker that plays when told, and what the words of WORDS sound like on it."""

    def __init__(self, folder: Path) -> None:
        self.clock = SteppedClock()
        self.loudspeaker = CountedCuts(None, RATE, clock=self.clock)
        said = say(WORDS, FORMANT, SayOptions(out=folder / "alone.wav"))
        self.starts_s = [word.start_s for word in said.words]
        self.length_s = said.audio_s

    def whole(self) -> Devices:
        return Devices(loudspeaker=self.loudspeaker)

    def play(self, engine: Whole, until_s: float, already: int) -> None:
        """Let the loudspeaker play to `until_s` of a reply that began at sample `already`."""
        until = already + int(until_s * RATE)
        while (left := until - self.loudspeaker.samples_played) > 0:
            engine.wait(self.queued)
            self.clock.advance(min(left, self.queued()) / RATE)

    def drain(self, engine: Whole, cuts: int) -> int:
        """Wait for the last of `cuts` replies to be cut; returns the samples played until now."""
        engine.wait(lambda: self.loudspeaker.cuts == cuts)
        self.clock.advance(FADE_S)
        return self.loudspeaker.samples_played

    def queued(self) -> int:
        return self.loudspeaker.samples_written - self.loudspeaker.samples_played


@pytest.mark.parametrize("moments", [25, pytest.param(100, marks=pytest.mark.long)])
def test_at_many_moments_history_keeps_exactly_the_words_heard(moments, tmp_path):
    stepped = Stepped(tmp_path)
    choose = random.Random(20)
    factories = stepped.whole().in_place_of(standard_factories())
    with whole(factories=factories) as engine:
        for turn in range(1, 2 * moments, 2):
            already = stepped.drain(engine, turn - 1)
            engine.post(SendText(REPEAT))
            moment_s = choose.uniform(0.05, stepped.length_s - 0.4)
            stepped.play(engine, moment_s, already)
            engine.post(StopReply())
            ended = engine.ended(turn)
            heard_s = (stepped.loudspeaker.samples_played - already) / RATE
            count = len(ended.heard.split())
            assert ended.ending is Ending.INTERRUPTED_BY_STOP
            assert ended.heard == " ".join(WORDS.split()[:count])
            assert (ended.metrics.speech_ms or 0) / 1000 == pytest.approx(heard_s, abs=EDGE_S)
            least = sum(start < heard_s - EDGE_S for start in stepped.starts_s)
            most = sum(start < heard_s + EDGE_S for start in stepped.starts_s)
            assert least <= count <= most
            # What is remembered is what is said again.
            stepped.drain(engine, turn)
            engine.post(SendText(AGAIN))
            engine.wait(stepped.queued)
            engine.post(StopReply())
            assert engine.ended(turn + 1).reply == ended.heard


@pytest.mark.parametrize("rate", [None, 3.0, 6.5])
def test_the_same_words_give_the_same_samples_however_they_arrive(rate, monkeypatch):
    """I9 through the whole engine: deltas of any size, the loudspeaker plays as fast as it can.
    Without fades: they stand where the loudspeaker ran out of samples, which depends on time.
    """
    monkeypatch.setattr(Edges, "fade", lambda edges: None)
    monkeypatch.setattr(Edges, "joined", lambda edges, pcm, *, dry: pcm)
    text = "It is 25 past 10, and the parcel weighs 3.5 kg. " + WORDS + "."
    replies = [(text,), tuple(text), tuple(pieces(text, random.Random(4)))]
    heard = [heard_of(deltas, rate) for deltas in replies]
    assert len(heard[0]) > 3 * RATE
    for other in heard[1:]:
        np.testing.assert_array_equal(other, heard[0])


def pieces(text: str, choose: random.Random) -> list[str]:
    cuts = sorted(choose.sample(range(1, len(text)), 12))
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def heard_of(deltas: tuple[str, ...], rate: float | None) -> np.ndarray:
    """What leaves the loudspeaker for a reply of these deltas, pauses for want of words apart."""
    clock = SteppedClock()
    loudspeaker = FileLoudspeaker(None, RATE, clock=clock)
    factories = Devices(loudspeaker=loudspeaker).in_place_of(standard_factories())
    factories = replace(
        factories, language_model=lambda settings, progress: FakeLanguageModel(*deltas)
    )
    settings = Settings()
    settings = replace(settings, speech=replace(settings.speech, rate=rate))

    def play() -> bool:
        """Exactly what is there, so that no silence is recorded."""
        clock.advance((loudspeaker.samples_written - loudspeaker.samples_played) / RATE)
        return bool(engine.of(TurnEnded))

    with whole(settings, factories=factories) as engine:
        engine.post(SendText("go on"))
        engine.wait(play)
        assert engine.of(TurnEnded)[0].ending is Ending.COMPLETE
    return loudspeaker.recorded()
