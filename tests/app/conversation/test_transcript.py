"""Events become exchanges."""

import pytest

from app.conversation.transcript import Transcript
from engine import api


def ended(turn: int, ending: api.Ending, *, said: str = "", reply: str = "", heard: str = ""):
    return api.TurnEnded(turn, ending, said, reply, heard, reply)


def told(*events) -> Transcript:
    transcript = Transcript()
    for event in events:
        transcript.on_event(event)
    return transcript


def test_thoughts_are_shown_apart_until_the_reply_begins():
    transcript = told(
        api.Heard(1, "a", 1.0, "keyboard"), api.Thought(1, "First,\n"), api.Thought(1, "what?")
    )
    exchange = transcript.exchanges[0]
    assert (exchange.reply, exchange.caption) == ("", "thinking · …First, what?")
    transcript.on_event(api.Thought(1, "x" * 10_000))
    assert len(exchange.caption) < 150
    transcript.on_event(api.ReplyDelta(1, "It is ten."))
    assert (exchange.reply, exchange.caption) == ("It is ten.", "")


def test_events_after_the_end_of_a_turn_or_of_a_cleared_conversation_are_dropped():
    end = ended(1, api.Ending.INTERRUPTED_BY_ESCAPE, said="a", reply="It is", heard="It")
    transcript = told(api.Heard(1, "a", 1.0, "keyboard"), api.ReplyDelta(1, "It is"), end)
    for late in (api.ReplyDelta(1, " ten."), api.WordHeard(1, 3, 5), api.Thought(1, "late")):
        assert transcript.on_event(late) is None
    assert transcript.exchanges[0].reply == "It is"
    transcript.clear()
    assert transcript.on_event(api.ReplyDelta(1, "late")) is None
    assert transcript.on_event(api.ReplyDelta(2, "new")) is not None


def test_of_the_reply_to_a_typed_turn_nothing_is_marked_as_unheard():
    transcript = told(
        api.Heard(1, "a", 1.0, "keyboard"), api.ReplyDelta(1, "It is"), api.WordHeard(1, 0, 2)
    )
    assert transcript.exchanges[0].unheard is None
    outside = told(api.ReplyDelta(1, "ten"), api.WordHeard(1, 2, 9))
    assert outside.exchanges[0].word is None  # of the reply
    end = ended(1, api.Ending.INTERRUPTED_BY_TEXT, said="a", reply="It is ten.", heard="It is")
    exchange = transcript.on_event(end)
    assert (exchange.unheard, exchange.heard_end) == (None, 5)


@pytest.mark.parametrize("ending", [each for each in api.Ending if each.interrupted])
def test_every_interruption_is_shown_with_its_cause(ending):
    heard = ended(1, ending, said="a", reply="It is ten.", heard="It is")
    assert told(heard).exchanges[0].caption.startswith("interrupted · ")
    unheard = ended(1, ending, said="a")
    assert told(unheard).exchanges[0].caption.startswith("stopped · ")
    broken = ended(1, api.Ending.FAILED, said="a", reply="It is", heard="It")
    assert told(broken).exchanges[0].caption.startswith("interrupted")
    silent = ended(1, api.Ending.FAILED, said="a")
    assert told(silent).exchanges[0].caption.startswith("no answer")
