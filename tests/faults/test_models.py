"""Models that are missing or half there, and servers that fail."""

import socket
from dataclasses import replace

import pytest

from engine import api
from engine.api import Part, Ready, Settings
from engine.runtime.factories import standard_factories
from engine.settings import LanguageModelSettings, RecogniserSettings, SpeechSettings
from tests.engine.llm.scripted_server import begin_events, event, fails, says
from tests.faults.whole import Devices, Whole, whole


def failure(engine: Whole, part: Part, *, instead: str) -> api.Failed:
    """Return the one failure of a part, with a hint, in whose place another one works."""
    (failed,) = engine.failed(part)
    assert failed.hint
    assert [event.name for event in engine.of(Ready) if event.part is part][-1] == instead
    assert engine.works()
    return failed


@pytest.mark.slow
@pytest.mark.parametrize("there", ["nothing", "half"])
def test_without_the_whisper_model_sphinx_listens(there, tmp_path):
    model = tmp_path / "whisper"
    if there == "half":  # as a fetch that was broken off leaves it
        model.mkdir()
        (model / "config.json").write_text("{}")
        (model / "model.bin").write_bytes(b"\x06\x00\x00\x00half")
    settings = Settings(recogniser=RecogniserSettings(engine="whisper", model=str(model)))
    factories = standard_factories()
    factories = replace(Devices().in_place_of(factories), recogniser=factories.recogniser)
    with whole(settings, factories=factories) as engine:
        assert failure(engine, Part.RECOGNISER, instead="sphinx").message.endswith(".")


@pytest.mark.parametrize("there", ["nothing", "half"])
def test_without_the_language_model_the_skills_answer(there, tmp_path):
    pytest.importorskip("llama_cpp")
    model = tmp_path / "model.gguf"
    if there == "half":
        model.write_bytes(b"GGUF\x03\x00\x00\x00\x10\x00")
    settings = Settings(language_model=LanguageModelSettings(engine="llama", model=str(model)))
    with whole(settings) as engine:
        assert model.name in failure(engine, Part.LANGUAGE_MODEL, instead="skills").message


@pytest.mark.slow
def test_without_its_files_the_neural_voice_leaves_speaking_to_the_formant_voice(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    settings = Settings(speech=SpeechSettings(engine="voxtream2"))
    with whole(settings) as engine:
        failure(engine, Part.SYNTHESISER, instead="espeak")


WHO, AND, WHEN = "Who wrote Hamlet?", "And Macbeth?", "And when?"  # no skill understands these


def served_at(address: str) -> api.Settings:
    model = LanguageModelSettings(engine="server", model="m", address=address)
    return api.Settings(language_model=model)


def breaks_off(handler) -> None:
    """Two words, then the connection is gone."""
    begin_events(handler)
    event(handler, {"content": "William Shakespeare "})
    handler.connection.shutdown(socket.SHUT_RDWR)


def test_a_fault_of_the_server_is_told_and_the_next_turn_is_answered(server):
    server.script = [says("A playwright."), fails(500), says("In sixteen hundred and six.")]
    with whole(served_at(server.address)) as engine:
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


def test_the_words_that_came_before_the_server_hung_up_are_heard_and_kept(server):
    server.script = [breaks_off, says("Yes.")]
    with whole(served_at(server.address)) as engine:
        broken = engine.ask(WHO)
        assert (broken.ending, broken.heard) == (api.Ending.FAILED, "William Shakespeare")
        assert engine.ask(AND).ending is api.Ending.COMPLETE
    kept = [message["content"] for message in server.requests[-1]["messages"]]
    assert any("William Shakespeare" in text for text in kept)


def test_a_model_that_thinks_can_be_stopped_and_its_thoughts_are_neither_said_nor_kept(server):
    def thinks(handler) -> None:
        begin_events(handler)
        try:
            for _ in range(20_000):
                event(handler, {"reasoning_content": "Hm. "})
        except OSError:  # nobody listens any more
            server.gone.set()

    server.script = [thinks, says("Yes."), says("No.")]
    with whole(served_at(server.address)) as engine:
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


def test_a_server_that_stalls_does_not_keep_the_engine_from_stopping(server):
    server.script = [lambda handler: server.released.wait(60)]
    with whole(served_at(server.address)) as engine:
        engine.post(api.SendText(WHO))
        engine.wait(lambda: server.requests)
    assert engine.of(api.TurnEnded)[0].ending is api.Ending.INTERRUPTED_BY_STOP
