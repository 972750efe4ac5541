"""What rings, in a whole engine on fakes: it is announced, sounds, and can be silenced."""

import pytest

from engine import api
from engine.llm.base import StartTimer
from engine.runtime.turn.facts import EchoCancelled
from tests.engine.runtime.test_conductor import Host, hosting
from tests.help.fakes.parts import FakeLanguageModel, FakeParts

TEXT = "Your tea timer is finally done by now."
TEA = StartTimer(0.05, "tea", TEXT)
LONG = " ".join(["word"] * 200)


def ringing(*deltas: object) -> FakeParts:
    return FakeParts(model=FakeLanguageModel(TEA, *deltas))


def begin(host: Host) -> None:
    """The timer is set, has rung, and its text is being said."""
    host.post(api.SendText("timer"))
    host.wait(lambda: bool(host.of(api.TimerRang)), playing=800)
    host.wait(lambda: spoken(host, TEXT[:9]), playing=800)


def spoken(host: Host, text: str) -> bool:
    said = "".join(each.text for each in host.of(api.ReplyDelta))
    words = [each for each in host.of(api.WordHeard) if each.turn > 1]
    return text in said and len(words) >= 2


def timers(host: Host) -> tuple[api.TimerSet, ...]:
    return host.of(api.TimersChanged)[-1].timers


def test_a_text_that_was_interrupted_is_said_again_afterwards():
    with hosting(ringing("Set.")) as host:
        begin(host)
        host.parts.model.deltas = ("It is noon.",)
        host.post(api.SendText("what time is it"))
        assert host.ended(2).ending is api.Ending.INTERRUPTED_BY_TEXT
        assert host.ended(3).reply == "It is noon."
        again = host.ended(4)
        assert (again.reply, again.ending) == (TEXT, api.Ending.COMPLETE)
        assert [each.rang_at is not None for each in timers(host)] == [True]


@pytest.mark.parametrize(
    ("command", "rung"),
    [
        (api.StopReply(by_escape=True), []),
        (api.SendText("stop"), []),
        (api.CancelTimers((1,)), []),
        (api.SendText("five more minutes"), [None]),
        (api.ExtendTimers((1,), 300.0), [None]),
    ],
)
def test_what_rings_is_silenced_and_its_text_is_not_said_again(command, rung):
    with hosting(ringing("Set.")) as host:
        begin(host)
        host.post(command)
        by_escape = isinstance(command, api.StopReply)
        assert host.ended(2).ending is (
            api.Ending.INTERRUPTED_BY_ESCAPE if by_escape else api.Ending.INTERRUPTED_BY_STOP
        )
        host.wait(lambda: [each.rang_at for each in timers(host)] == rung)
        host.parts.model.deltas = ("Hello.",)
        assert (host.ask("hi").turn, len(host.of(api.TurnEnded))) == (3, 3)
        assert not host.engine._conductor._ringing.sounds


@pytest.mark.parametrize("command", [api.StopReply(by_escape=True), api.SendText("I'm up")])
def test_a_reply_goes_on_when_what_rings_over_it_is_dismissed(command):
    with hosting(ringing(LONG)) as host:
        host.post(api.SendText("timer"))
        host.wait(lambda: host.of(api.TimerRang) and host.of(api.WordHeard), playing=800)
        host.post(command)
        host.wait(lambda: timers(host) == ())
        ended = host.ended(1, playing=8_000)
        assert (ended.ending, ended.heard) == (api.Ending.COMPLETE, LONG)
        assert len(host.of(api.TurnEnded)) == 1


@pytest.mark.parametrize(("said", "rung"), [("Stop!", []), ("Five more minutes, please.", [None])])
def test_what_is_said_into_a_reply_silences_what_rings_and_the_reply_goes_on(said, rung):
    parts = ringing(LONG)
    parts.recogniser.text = said
    with hosting(parts, api.Settings()) as host:
        host.happen(EchoCancelled(True))
        host.post(api.SendText("timer"))
        host.wait(lambda: host.of(api.TimerRang) and host.of(api.WordHeard), playing=800)
        host.say_something()
        host.wait(lambda: [each.rang_at for each in timers(host)] == rung)
        ended = host.ended(1, playing=8_000)
        assert (ended.ending, ended.heard) == (api.Ending.COMPLETE, LONG)
        assert len(host.of(api.TurnEnded)) == 1
