"""A conversation over /v1/realtime, event by event."""

import asyncio
import base64
import json
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest
from openai.types.realtime import RealtimeServerEvent
from pydantic import TypeAdapter
from websockets.asyncio.client import ClientConnection, connect

from engine.asr.base import SAMPLE_RATE as EAR_RATE
from engine.audio import vad
from engine.audio.pcm import Pcm
from engine.errors import TimedOut
from engine.llm.base import ChangeRate, Role
from engine.llm.history import ChatMessage
from engine.llm.tools.toolbox import ToolCall, ToolSchema
from engine.runtime.turn.waiting import Patience
from engine.serve.doors.encoding import pcm16
from engine.serve.doors.microphone import SLICE, ClientMicrophone
from engine.serve.service import SAMPLE_RATE
from engine.settings import SLOWEST
from tests.engine.serve.served import ANSWERS, HeldClock, HeldRecogniser, Served, serving
from tests.help.fakes.parts import FakeLanguageModel, FakeParts
from tests.help.fakes.tts import OWN_RATE

LONG = "go " * 60
SERVER_EVENT: TypeAdapter[Any] = TypeAdapter(RealtimeServerEvent)  # as OpenAI's clients read them


class CallingModel(FakeLanguageModel):
    """Calls the first function that it is told of, and says what that gave."""

    def complete(
        self, messages: list[ChatMessage], tools: tuple[ToolSchema, ...] = ()
    ) -> Iterator[str | ToolCall]:
        self.chats = [*getattr(self, "chats", []), messages]
        if messages[-1]["role"] == "tool":
            yield f"It gave {messages[-1]['content']}."
        else:
            yield ToolCall("call_1", tools[0]["function"]["name"], '{"city": "Oslo"}')


def until_first_pause(sound: Pcm) -> Pcm:
    """The beginning of what is said, with one pause: its end."""
    microphone = ClientMicrophone()
    microphone.listen(Patience.of("balanced"))
    for at in range(0, len(sound), SLICE):
        for event in microphone.push(sound[at : at + SLICE]):
            if isinstance(event, vad.SpeechPaused):
                return sound[: event.sample * SAMPLE_RATE // EAR_RATE]
    raise AssertionError("there is no pause in it")


def said(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


class Talk:
    """A client that notes all it is told."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.told: list[dict[str, Any]] = []

    async def tell(self, kind: str, **fields: Any) -> None:
        await self.socket.send(json.dumps({"type": kind, **fields}))

    async def until(self, kind: str) -> dict[str, Any]:
        while True:
            text = await self.socket.recv()
            SERVER_EVENT.validate_json(text)
            event: dict[str, Any] = json.loads(text)
            self.told.append(event)
            if event["type"] == kind:
                return event

    async def ask(self, text: str) -> None:
        await self.tell("conversation.item.create", item=said(text))
        await self.tell("response.create")

    async def answered(self, text: str) -> dict[str, Any]:
        """Ask this; the response when it is done."""
        await self.ask(text)
        return await self.response()

    async def response(self) -> dict[str, Any]:
        return dict((await self.until("response.done"))["response"])

    async def error(self) -> dict[str, Any]:
        return dict((await self.until("error"))["error"])

    async def hear(self, pcm: Pcm) -> None:
        for at in range(0, len(pcm), 4800):
            sound = base64.b64encode(pcm16(pcm[at : at + 4800])).decode()
            await self.tell("input_audio_buffer.append", audio=sound)

    def kinds(self) -> list[str]:
        return [event["type"] for event in self.told]

    def sound_ms(self) -> float:
        deltas = [e["delta"] for e in self.told if e["type"] == "response.output_audio.delta"]
        return sum(len(base64.b64decode(each)) for each in deltas) / 2 / SAMPLE_RATE * 1000


ANSWER = ("Good day ", "to you.")


@pytest.fixture(scope="module")
def parts() -> FakeParts:
    return FakeParts(model=CallingModel(*ANSWER))


@pytest.fixture(autouse=True)
def answer(parts: FakeParts) -> None:
    """Each test may let the language model say something else."""
    parts.model.deltas = ANSWER


@asynccontextmanager
async def talking(served: Served, **configuration: Any) -> AsyncIterator[Talk]:
    address = f"ws://127.0.0.1:{served.port}/v1/realtime?model=rubato"
    async with connect(address, proxy=None) as socket:
        talk = Talk(socket)
        await talk.until("session.created")
        if configuration:
            await talk.tell("session.update", session=configuration)
            await talk.until("session.updated")
        yield talk


def output(**fields: Any) -> dict[str, Any]:
    return {"audio": {"output": {"lead_ms": 60_000, **fields}}}


def heard(**fields: Any) -> dict[str, Any]:
    return {"audio": {**output()["audio"], "input": fields}}


async def test_a_spoken_answer_comes_in_the_order_that_clients_know(served: Served) -> None:
    async with talking(served, **output()) as talk:
        done = await talk.answered("hello")
        assert done["status"] == "completed"
        kinds = list(dict.fromkeys(talk.kinds()))
        assert kinds == [
            "session.created",
            "session.updated",
            "conversation.item.added",
            "conversation.item.done",
            "response.created",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_audio_transcript.delta",
            "response.output_audio.delta",
            "response.output_audio.done",
            "response.output_audio_transcript.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.done",
        ]
        item = done["output"][0]
        assert item["content"] == [{"type": "output_audio", "transcript": "Good day to you."}]
        assert talk.sound_ms() == pytest.approx(4 * 1000 / OWN_RATE, abs=100)


async def test_an_answer_can_be_written_only(served: Served) -> None:
    async with talking(served, output_modalities=["text"]) as talk:
        await talk.ask("hello")
        done = await talk.until("response.output_text.done")
        assert done["text"] == "Good day to you."
        await talk.until("response.done")
        assert talk.sound_ms() == 0


async def test_what_is_said_is_heard_understood_and_answered(served: Served, question: Pcm) -> None:
    async with talking(served, **heard(transcription={"model": "whisper-1"})) as talk:
        await talk.hear(question)
        assert (await talk.response())["status"] == "completed"
        kinds = [kind for kind in talk.kinds() if kind.startswith(("input", "conversation.item.i"))]
        assert kinds == [
            "input_audio_buffer.speech_started",
            "input_audio_buffer.speech_stopped",
            "input_audio_buffer.committed",
            "conversation.item.input_audio_transcription.delta",
            "conversation.item.input_audio_transcription.completed",
        ]
        started, stopped = (e for e in talk.told if "_buffer.speech_st" in e["type"])
        assert (
            0 <= started["audio_start_ms"] < stopped["audio_end_ms"] <= 1000 * len(question) / 24000
        )


@pytest.mark.parametrize("eagerness", ["low", "auto", "high"])
async def test_a_turn_can_end_by_its_words(served: Served, question: Pcm, eagerness: str) -> None:
    turns = {"type": "semantic_vad", "eagerness": eagerness}
    async with talking(served, **heard(turn_detection=turns)) as talk:
        await talk.hear(question)
        await talk.hear(np.zeros(3 * SAMPLE_RATE, np.float32))
        await talk.until("response.done")


@pytest.mark.parametrize("kind", ["server_vad", "semantic_vad"])
async def test_a_turn_is_transcribed_once(parts: FakeParts, question: Pcm, kind: str) -> None:
    parts.recogniser = recogniser = HeldRecogniser(let=True)
    turns = heard(turn_detection={"type": kind})
    async with serving(parts=parts) as served, talking(served, **turns) as talk:
        await talk.hear(until_first_pause(question))
        await talk.hear(np.zeros(3 * SAMPLE_RATE, np.float32))
        await talk.until("response.done")
    assert recogniser.opened == 1


async def test_a_client_may_say_itself_when_it_has_spoken(served: Served, question: Pcm) -> None:
    async with talking(served, **heard(turn_detection=None)) as talk:
        await talk.hear(question)
        await talk.tell("input_audio_buffer.commit")
        await talk.tell("response.create")
        await talk.until("response.done")
        assert "input_audio_buffer.speech_started" not in talk.kinds()
        await talk.tell("input_audio_buffer.commit")
        assert "too short" in (await talk.error())["message"]


async def test_who_speaks_into_an_answer_ends_it(
    served: Served, parts: FakeParts, question: Pcm
) -> None:
    async with talking(served) as talk:
        parts.model.deltas = (LONG,)
        await talk.ask("hello")
        await talk.until("response.output_audio.delta")
        parts.model.deltas = ANSWER  # of the next one
        await talk.hear(question)
        done = await talk.response()
        details = done["status_details"]
        assert (details["type"], details["reason"]) == ("cancelled", "turn_detected")
        assert done["output"][0]["status"] == "incomplete"
        assert (await talk.response())["status"] == "completed"


async def test_the_history_holds_the_words_that_were_heard(
    served: Served, parts: FakeParts
) -> None:
    async with talking(served, **output()) as talk:
        parts.model.deltas = ("one two three four five six seven eight.",)
        key = (await talk.answered("count"))["output"][0]["id"]
        place = {"item_id": key, "content_index": 0}
        await talk.tell("conversation.item.truncate", **place, audio_end_ms=99_000)
        assert "ms" in (await talk.error())["message"]
        at_ms = round(3.5 * 1000 / OWN_RATE)
        await talk.tell("conversation.item.truncate", **place, audio_end_ms=at_ms)
        assert (await talk.until("conversation.item.truncated"))["audio_end_ms"] == at_ms
        await talk.tell("conversation.item.retrieve", item_id=key)
        item = (await talk.until("conversation.item.retrieved"))["item"]
        assert item["content"][0]["transcript"] == "one two three"
        await talk.answered("go on")
        heard = [m for m in parts.model.histories[-1] if m.role is Role.ASSISTANT]
        assert [(m.text, m.interrupted) for m in heard] == [("one two three", True)]


async def test_a_cancelled_answer_says_so_and_another_can_follow(
    served: Served, parts: FakeParts
) -> None:
    async with talking(served) as talk:
        parts.model.deltas = (LONG,)
        await talk.ask("hello")
        await talk.until("response.output_audio.delta")
        await talk.tell("response.create")
        assert (await talk.error())["code"] == "conversation_already_has_active_response"
        await talk.tell("response.cancel")
        assert (await talk.response())["status_details"]["reason"] == "client_cancelled"
        await talk.tell("response.cancel", event_id="mine")
        error = await talk.error()
        assert (error["event_id"], error["code"]) == ("mine", "response_cancel_not_active")


async def test_an_answer_that_is_cut_off_failed(served: Served, parts: FakeParts) -> None:
    async with talking(served) as talk:
        parts.model.deltas = (LONG,)
        await talk.ask("hello")
        await talk.until("response.output_audio.delta")
        (speech,) = served.service.speeches.values()
        speech.stop(TimedOut("Too late."))
        assert (await talk.response())["status_details"]["error"]["message"] == "Too late."


async def test_a_speed_acts_within_the_answer() -> None:
    """Which is spoken no further than its lead until the speed has come."""
    held, parts = HeldClock(), FakeParts(model=FakeLanguageModel("go " * 20))
    async with serving(parts=parts, clock=held.clock) as served, talking(served) as talk:
        await talk.ask("hello")
        await talk.until("response.output_audio.delta")
        await talk.tell("session.update", session={"audio": {"output": {"speed": 1.5}}})
        updated = await talk.until("session.updated")
        assert updated["session"]["audio"]["output"]["speed"] == 1.5
        held.go()
        await talk.until("response.done")
        assert talk.sound_ms() < 0.85 * 20 * 1000 / OWN_RATE


@pytest.mark.parametrize(
    ("wishes", "rate"),
    [([ChangeRate(to=7.0)], 7.0), ([ChangeRate(by=-30.0), ChangeRate(by=2.0)], SLOWEST + 2.0)],
)
async def test_a_wish_about_the_pace_acts_on_the_clients_speech(
    wishes: list[ChangeRate], rate: float, served: Served, parts: FakeParts
) -> None:
    async with talking(served, **output()) as talk:
        parts.model.deltas = (*wishes, "go " * 10)
        await talk.answered("faster")
        assert talk.sound_ms() == pytest.approx(10 * 1000 / rate, abs=100)


async def test_functions_of_the_client_are_called_and_their_results_told(
    served: Served, parts: FakeParts
) -> None:
    tool = {"type": "function", "name": "weather", "parameters": {"type": "object"}}
    async with talking(served, tools=[tool], **output()) as talk:
        await talk.ask("what is the weather in Oslo")
        done = await talk.until("response.function_call_arguments.done")
        assert (done["name"], json.loads(done["arguments"])) == ("weather", {"city": "Oslo"})
        await talk.until("response.done")
        result = {"type": "function_call_output", "call_id": done["call_id"], "output": "rain"}
        await talk.tell("conversation.item.create", item=result)
        await talk.tell("response.create")
        item = (await talk.response())["output"][0]
        assert item["content"][0]["transcript"] == "It gave rain."
        chat = parts.model.chats[-1]  # type: ignore[attr-defined]
        assert [message["role"] for message in chat[-3:]] == ["user", "assistant", "tool"]
        assert chat[-2]["tool_calls"][0]["id"] == chat[-1]["tool_call_id"]


@pytest.mark.parametrize(("kind", "fields", "word"), ANSWERS["realtime"])
async def test_a_wrong_event_is_told_and_the_session_lives(
    served: Served, kind: str, fields: dict[str, Any], word: str
) -> None:
    async with talking(served, **output()) as talk:
        await talk.tell(kind, event_id="e1", **fields)
        error = await talk.error()
        assert word in error["message"]
        assert error["event_id"] == "e1"
        assert (await talk.answered("hello"))["status"] == "completed"


# ------------------------------------------------------- responses beside the conversation


async def test_a_response_may_be_no_part_of_the_conversation_and_keeps_its_metadata(
    served: Served, parts: FakeParts
) -> None:
    async with talking(served, **output()) as talk:
        first = (await talk.answered("hello"))["output"][0]["id"]
        talk.told.clear()
        reference = {"type": "item_reference", "id": first}
        wanted = {"conversation": "none", "metadata": {"topic": "x"}, "output_modalities": ["text"]}
        items = [reference, said("is that kind?")]
        await talk.tell("response.create", response={**wanted, "input": items})
        done = await talk.response()
        assert done["metadata"] == {"topic": "x"}
        assert done["output"][0]["content"][0]["text"] == "Good day to you."
        assert not any(kind.startswith("conversation.item") for kind in talk.kinds())
        assert [m.text for m in parts.model.histories[-1]] == ["Good day to you.", "is that kind?"]
        await talk.tell("conversation.item.retrieve", item_id=done["output"][0]["id"])
        await talk.until("error")
        await talk.answered("go on")
        texts = [m.text for m in parts.model.histories[-1]]
        assert texts == ["hello", "Good day to you.", "go on"]


async def test_a_response_to_other_items_belongs_to_the_conversation(
    served: Served, parts: FakeParts
) -> None:
    async with talking(served, **output()) as talk:
        await talk.answered("hello")
        await talk.tell("response.create", response={"input": []})
        await talk.until("response.done")
        assert parts.model.histories[-1] == ()
        await talk.answered("go on")
        assert len(parts.model.histories[-1]) == 4


async def test_a_transcription_session_writes_down_and_answers_nothing(
    served: Served, question: Pcm
) -> None:
    for way in ("update", "address"):
        address = f"ws://127.0.0.1:{served.port}/v1/realtime?intent=transcription"
        async with connect(address, proxy=None) as socket:
            talk = Talk(socket)
            created = await talk.until("session.created")
            assert created["session"]["type"] == "transcription"
            if way == "update":
                await talk.tell("session.update", session={"type": "realtime"})
                await talk.tell("session.update", session={"type": "transcription"})
            await talk.hear(question)
            kind = "conversation.item.input_audio_transcription.completed"
            assert (await talk.until(kind))["transcript"] == "hello there"
            await talk.tell("response.create", event_id="e1")
            assert "does not answer" in (await talk.error())["message"]
            assert "response.created" not in talk.kinds()


async def test_sound_within_an_item_is_understood(
    served: Served, parts: FakeParts, question: Pcm
) -> None:
    sound = base64.b64encode(pcm16(question)).decode()
    content = [{"type": "input_text", "text": "Listen:"}, {"type": "input_audio", "audio": sound}]
    async with talking(served, **heard(transcription={})) as talk:
        item = {"type": "message", "role": "user", "content": content}
        await talk.tell("conversation.item.create", item=item)
        await talk.tell("response.create")
        await talk.until("response.done")
        assert parts.model.histories[-1][-1].text == "Listen: hello there"
        written = [e for e in talk.told if e["type"].endswith("transcription.completed")]
        assert [each["content_index"] for each in written] == [1]


async def test_one_detector_serves_all_clients_and_loads_off_the_event_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import onnxruntime

    real, loading = onnxruntime.InferenceSession, list[str]()

    def load(*given: Any, **named: Any) -> Any:
        loading.append(threading.current_thread().name)
        return real(*given, **named)

    monkeypatch.setattr(onnxruntime, "InferenceSession", load)
    vad._load_session.cache_clear()
    async with serving() as served, talking(served), talking(served):
        pass
    assert loading == ["voice of the server"]


async def test_a_client_waits_until_it_is_understood_and_is_answered_once(question: Pcm) -> None:
    recogniser = HeldRecogniser()
    parts = FakeParts(model=FakeLanguageModel(LONG), recogniser=recogniser)
    sound = base64.b64encode(pcm16(question)).decode()
    async with serving(parts=parts) as served, talking(served) as talk:
        try:
            await talk.tell("input_audio_buffer.append", audio=sound)
            await talk.until("input_audio_buffer.committed")
            await talk.tell("response.create")
        finally:
            recogniser.let.set()
        assert (await talk.error())["code"] == "conversation_already_has_active_response"
        if "response.created" not in talk.kinds():  # the refusal may overtake it
            await talk.until("response.created")
        assert talk.kinds().count("response.created") == 1


async def test_a_client_that_vanishes_leaves_nothing_behind(served: Served, question: Pcm) -> None:
    for say in (False, True):
        async with talking(served) as talk:
            await talk.hear(question[: SAMPLE_RATE // 2])
            if say:
                await talk.ask("hello")
                await talk.until("response.created")
            talk.socket.transport.abort()
    while served.service.speeches:
        await asyncio.sleep(0.005)
