"""A conversation in several languages, with the whole engine on fakes."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from engine import api
from engine.languages import ENGLISH
from engine.settings import AudioSettings, Settings, SpeechSettings
from engine.tts.base import LANGUAGE, Voice
from tests.engine.runtime.test_conductor import Host, hosting
from tests.help.fakes.parts import FakeLanguageModel, FakeParts, FakeVoiceModel

QUESTION, ANSWER = "¿Cuál es la capital de Francia?", "La capital de Francia es París."


class Polyglot(FakeVoiceModel):
    """Ada and Bela speak English, Dora and Alex Spanish."""

    def voices(self) -> tuple[Voice, ...]:
        spanish = {LANGUAGE: "es"}
        dora, alex = (Voice(name, "fake", metadata=spanish) for name in ("Dora", "Alex"))
        return (*super().voices(), dora, alex)


@contextmanager
def talking(*deltas: str, **speech: str) -> Iterator[Host]:
    quiet = Settings(audio=AudioSettings(hands_free=False), speech=SpeechSettings(**speech))
    parts = FakeParts(model=FakeLanguageModel(*deltas), voice=Polyglot())
    with hosting(parts, quiet) as host:
        host.wait(lambda: host.of(api.VoicesChanged))
        yield host


@pytest.fixture(autouse=True)
def _english_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGUAGE", "en")


def languages(host: Host) -> list[str]:
    return [message.language for message in host.parts.model.histories[-1]]


def test_a_spanish_question_is_answered_by_a_spanish_voice() -> None:
    with talking("La ", "capital ", "de Francia ", "es París.") as host:
        ended = host.ask(QUESTION)
        assert (ended.ending, ended.reply) == (api.Ending.COMPLETE, ANSWER)
        assert ended.spoken.split()[0] == "La"
        assert host.parts.voice.spoke == ["Dora"]
        assert languages(host) == ["es"]


def test_english_is_spoken_by_the_chosen_voice_as_before() -> None:
    with talking("The capital is Paris.", voice="Bela") as host:
        host.ask("what is the capital of France")
        assert host.parts.voice.spoke == ["Bela"]
        assert languages(host) == [ENGLISH]


def test_the_voice_that_is_shown_is_that_of_the_conversations_language(monkeypatch) -> None:
    monkeypatch.setenv("LANGUAGE", "es_ES:es")

    def shown() -> str:
        return host.of(api.VoicesChanged)[-1].selected

    with talking(ANSWER) as host:
        host.wait(lambda: shown() == "Dora")
        host.ask("and what is the capital of Italy")
        host.wait(lambda: shown() == "Ada")
        host.post(api.ChangeSetting("speech.language", "es"))
        host.wait(lambda: shown() == "Dora")
        host.post(api.ChangeSetting("speech.language", "auto"))
        host.wait(lambda: shown() == "Ada")
        host.post(api.NewConversation())
        host.wait(lambda: shown() == "Dora")
        host.ask(QUESTION)
        assert host.engine._conductor.state().voice == "Ada"  # the skills' voice, which is English


def test_an_answer_in_another_language_than_the_question_is_spoken_in_its_own() -> None:
    with talking("Of course, the capital is Paris.") as host:
        host.ask(QUESTION)
        assert host.parts.voice.spoke == ["Ada"]


def test_the_language_that_a_person_heard_counts_more_than_its_words() -> None:
    with talking(ANSWER) as host:
        host.parts.recogniser.text, host.parts.recogniser.detected = "Radio Madrid", "es"
        host.post(api.PressTalk())
        host.post(api.ReleaseTalk())
        host.ended(1)
        assert languages(host) == ["es"]


def test_a_word_of_english_that_is_a_command_elsewhere_is_in_the_conversations_language() -> None:
    with talking(ANSWER) as host:
        host.parts.recogniser.text, host.parts.recogniser.detected = "Piano.", "it"
        for turn, language in ((1, ENGLISH), (3, "es")):
            host.post(api.PressTalk())
            host.post(api.ReleaseTalk())
            host.ended(turn)
            assert languages(host)[-1] == language
            host.ask(QUESTION)


def test_a_short_question_is_in_the_language_of_the_one_before() -> None:
    with talking(ANSWER) as host:
        host.ask(QUESTION)
        host.ask("¿Roma?")
        assert languages(host)[-1] == "es"
        host.ask("and what is the capital of Italy")
        assert languages(host)[-1] == ENGLISH


def test_a_chosen_language_is_kept() -> None:
    with talking("The capital is Paris.", language="es") as host:
        host.ask("what is the capital of France")
        assert languages(host) == ["es"]
        assert host.parts.voice.spoke == ["Dora"]


def test_the_rest_of_an_interrupted_answer_is_spoken_in_its_language() -> None:
    with talking(
        " ".join(["Una", "casa", "pequeña", "junto", "al", "río.", *["Más"] * 30])
    ) as host:
        host.post(api.SendText("Cuéntame una historia, por favor"))
        host.wait(lambda: len(host.of(api.WordHeard)) >= 2, playing=400)
        host.post(api.StopReply())
        host.ended(1)
        host.ask("continúa")
        assert host.parts.voice.spoke == ["Dora", "Dora"]


def test_a_kept_conversation_keeps_its_languages(tmp_path) -> None:
    with talking(ANSWER) as host:
        host.ask(QUESTION)
        host.post(api.Export(tmp_path / "talk.json"))
        host.wait(lambda: (tmp_path / "talk.json").exists())
    assert '"language": "es"' in (tmp_path / "talk.json").read_text("utf-8")
