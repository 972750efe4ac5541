"""A language-model server that is down, stalls, hangs up or talks nonsense, met by the whole
engine: a sentence for the person, the conversation kept, and the next turn answered.
"""

import socket
from collections.abc import Iterator

import pytest

from engine import api
from engine.settings import LanguageModelSettings
from tests.engine.llm.scripted_server import ScriptedServer, begin_events, event, fails, says
from tests.faults.whole import whole

WHO, AND, WHEN = "Who wrote Hamlet?", "And Macbeth?", "And when?"  # no skill understands these


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    scripted = ScriptedServer()
    yield scripted
    scripted.stop()


def settings(address: str) -> api.Settings:
    model = LanguageModelSettings(engine="server", model="m", address=address)
    return api.Settings(language_model=model)


def breaks_off(handler) -> None:
    """Two words, then the connection is gone."""
    begin_events(handler)
    event(handler, {"content": "William Shakespeare "})
    handler.connection.shutdown(socket.SHUT_RDWR)


def test_a_fault_of_the_server_is_told_and_the_next_turn_is_answered(
    server: ScriptedServer,
) -> None:
    server.script = [says("A playwright."), fails(500), says("In sixteen hundred and six.")]
    with whole(settings(server.address)) as engine:
        assert engine.ask(WHO).ending is api.Ending.COMPLETE
        broken = engine.ask(AND)
        assert broken.ending is api.Ending.FAILED
        (failed,) = engine.failed(api.Part.LANGUAGE_MODEL)
        assert failed.turn == broken.turn
        assert failed.message.endswith(".")
        assert failed.hint
        assert engine.works()  # the skills need no server
        assert engine.ask(WHEN).heard == "In sixteen hundred and six."
    kept = " | ".join(message["content"] for message in server.requests[-1]["messages"])
    assert kept.endswith(WHEN)
    assert kept.index(WHO) < kept.index("A playwright.") < kept.index(AND)


def test_the_words_that_came_before_the_server_hung_up_are_heard_and_kept(
    server: ScriptedServer,
) -> None:
    server.script = [breaks_off, says("Yes.")]
    with whole(settings(server.address)) as engine:
        broken = engine.ask(WHO)
        assert (broken.ending, broken.heard) == (api.Ending.FAILED, "William Shakespeare")
        assert engine.ask(AND).ending is api.Ending.COMPLETE
    kept = [message["content"] for message in server.requests[-1]["messages"]]
    assert any("William Shakespeare" in text for text in kept)


def test_a_model_that_thinks_can_be_stopped_and_its_thoughts_are_neither_said_nor_kept(
    server: ScriptedServer,
) -> None:
    def thinks(handler) -> None:
        begin_events(handler)
        try:
            for _ in range(20_000):
                event(handler, {"reasoning_content": "Hm. "})
        except OSError:  # nobody listens any more
            server.gone.set()

    server.script = [thinks, says("Yes."), says("No.")]
    with whole(settings(server.address)) as engine:
        engine.post(api.SendText(WHO))
        engine.wait(lambda: engine.of(api.Thought))
        engine.post(api.StopReply())
        assert engine.ended(1).ending is api.Ending.INTERRUPTED_BY_STOP
        assert engine.ask(AND).heard == "Yes."
        assert engine.ask(WHEN).heard == "No."
        assert server.gone.is_set()  # it was left, not waited for
        assert engine.failed() == []
        assert "Hm" not in "".join(delta.text for delta in engine.of(api.ReplyDelta))
    assert "Hm" not in str(server.requests[-1]["messages"])


def test_a_server_that_stalls_does_not_keep_the_engine_from_stopping(
    server: ScriptedServer,
) -> None:
    server.script = [lambda handler: server.released.wait(60)]
    with whole(settings(server.address)) as engine:
        engine.post(api.SendText(WHO))
        engine.wait(lambda: server.requests)
    assert engine.of(api.TurnEnded)[0].ending is api.Ending.INTERRUPTED_BY_STOP
