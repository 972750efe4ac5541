"""Clients of OpenAI and of MCP, with a server that is started as people start it."""

import asyncio
import base64
import json
import os
import subprocess
import sys
import wave
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
import soundfile
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from engine.serve.service import SAMPLE_RATE
from tests.engine.serve.served import asked
from tests.help.process.fresh_python import ROOT

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

TEXT = "The boat left the harbour at ten past seven."
SETTINGS = '[speech]\nengine = "espeak"\n[recogniser]\nengine = "sphinx"\n'


@pytest.fixture(autouse=True)
def runner() -> Iterator[asyncio.Runner]:
    """One a test: the clients use its threads."""
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("rubato")
    (folder / "settings.toml").write_text(SETTINGS, encoding="utf-8")
    return {**os.environ, "RUBATO_CONFIG": str(folder), "RUBATO_DATA": str(folder)}


@pytest.fixture(scope="module")
def address(environment: dict[str, str]) -> Iterator[str]:
    command = [sys.executable, "-m", "app", "serve", "--port", "0", "--json"]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stderr is not None
        try:
            for line in server.stderr:
                if line.startswith('{"address"'):
                    yield json.loads(line)["address"] + "/v1"
                    break
        finally:
            server.terminate()


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("asked") / "question.wav"
    soundfile.write(path, asked("What time is it?"), SAMPLE_RATE, subtype="PCM_16")
    return path


def client_of(address: str) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(
        base_url=address,
        api_key="none",
        http_client=openai.DefaultAsyncHttpxClient(trust_env=False),
    )


async def test_openais_client_speaks(address: str) -> None:
    async with client_of(address) as client:
        assert "tts-1" in [model.id async for model in client.models.list()]
        speech = client.audio.speech
        for form in ("mp3", "opus", "aac", "flac", "wav", "pcm"):
            answer = await speech.create(
                model="tts-1", voice="Alan", input=TEXT, response_format=form
            )
            assert len(answer.content) > 4_000
        async with speech.with_streaming_response.create(
            model="gpt-4o-mini-tts", voice="Alan", input=TEXT, stream_format="sse"
        ) as answer:
            events = [json.loads(line[6:])["type"] async for line in answer.iter_lines() if line]
        assert (events[0], events[-1]) == ("speech.audio.delta", "speech.audio.done")
        with pytest.raises(openai.BadRequestError, match="no voice called 'alloy'"):
            await speech.create(model="tts-1", voice="alloy", input=TEXT)


async def test_openais_client_transcribes(address: str, recording: Path) -> None:
    async with client_of(address) as client:
        create, content = client.audio.transcriptions.create, recording.read_bytes()
        for form in ("json", "text", "srt", "verbose_json", "vtt"):
            heard: Any = await create(
                model="whisper-1", file=("a.wav", content), response_format=form
            )
            assert "what" in (heard if isinstance(heard, str) else heard.text)
        stream = await create(model="gpt-4o-transcribe", file=("a.wav", content), stream=True)
        assert [event.type async for event in stream][-1] == "transcript.text.done"


async def test_openais_client_holds_a_conversation(address: str, recording: Path) -> None:
    kinds: list[str] = []
    sound = b""
    with wave.open(str(recording)) as file:
        question = file.readframes(file.getnframes())
    async with (
        client_of(address) as client,
        client.realtime.connect(
            model="rubato", websocket_connection_options={"proxy": None}
        ) as link,
    ):

        async def until(kind: str) -> Any:
            nonlocal sound
            async for event in link:
                kinds.append(event.type)
                if event.type == "response.output_audio.delta":
                    sound += base64.b64decode(event.delta)
                if event.type == kind:
                    return event
            raise ConnectionError("the server hung up")

        audio = {"input": {"transcription": {"model": "whisper-1"}}}
        await link.session.update(session={"type": "realtime", "audio": audio})
        for at in range(0, len(question), 4800):
            part = base64.b64encode(question[at : at + 4800]).decode()
            await link.input_audio_buffer.append(audio=part)
        item = (await until("response.done")).response.output[0]
        place = {"item_id": item.id, "content_index": 0}
        await link.conversation.item.truncate(**place, audio_end_ms=300)
        await until("conversation.item.truncated")
        await link.conversation.item.retrieve(item_id=item.id)
        heard = (await until("conversation.item.retrieved")).item.content[0].transcript
    said = item.content[0].transcript
    assert len(sound) > SAMPLE_RATE
    assert said.startswith(heard)
    assert len(heard) < len(said)
    assert "conversation.item.input_audio_transcription.completed" in kinds


async def test_mcps_client_over_standard_streams(environment: dict[str, str]) -> None:
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "app", "serve", "--mcp"], cwd=ROOT, env=environment
    )
    async with Client(stdio_client(server)) as client:
        assert "speak" in [tool.name for tool in (await client.list_tools()).tools]
        voices = (await client.call_tool("list_voices", {})).content[0].text  # type: ignore[union-attr]
    assert voices.startswith("Alan\n")
