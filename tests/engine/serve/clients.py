"""Clients of OpenAI and of MCP, each as its own documentation has it.

    python clients.py NAME BASE_URL_OR_ROOT [QUESTION.wav]

Prints what came as JSON. Each imports its library itself: that of another need not be there.
"""

import asyncio
import base64
import json
import os
import sys
import wave
from pathlib import Path
from typing import Any

TEXT = "The boat left the harbour at ten past seven."


async def openai_python(base: str, question: str) -> dict[str, Any]:
    """Speaks, transcribes, and holds a conversation by voice."""
    import openai

    async with openai.AsyncOpenAI(base_url=base, api_key="none") as client:
        return {
            "models": [model.id async for model in client.models.list()],
            "speech": await speak(client),
            "texts": await transcribe(client, Path(question)),
            "realtime": await converse(client, Path(question)),
        }


async def speak(client: Any) -> dict[str, Any]:
    import openai

    speech = client.audio.speech
    sizes = {}
    for form in ("mp3", "opus", "aac", "flac", "wav", "pcm"):
        answer = await speech.create(model="tts-1", voice="Alan", input=TEXT, response_format=form)
        sizes[form] = len(answer.content)
    async with speech.with_streaming_response.create(
        model="gpt-4o-mini-tts", voice="Alan", input=TEXT, stream_format="sse"
    ) as answer:
        events = [json.loads(line[6:])["type"] async for line in answer.iter_lines() if line]
    try:
        await speech.create(model="tts-1", voice="alloy", input=TEXT)
    except openai.BadRequestError as error:
        refusal = str(error)
    return {"sizes": sizes, "events": [events[0], events[-1]], "refusal": refusal}


async def transcribe(client: Any, question: Path) -> dict[str, Any]:
    transcriptions, texts = client.audio.transcriptions, {}
    for form in ("json", "text", "srt", "verbose_json", "vtt"):
        with question.open("rb") as file:
            heard = await transcriptions.create(model="whisper-1", file=file, response_format=form)
        texts[form] = heard if isinstance(heard, str) else heard.text
    with question.open("rb") as file:
        stream = await transcriptions.create(model="gpt-4o-transcribe", file=file, stream=True)
        texts["stream"] = [event.type async for event in stream][-1]
    return texts


async def converse(client: Any, file: Path) -> dict[str, Any]:
    kinds: list[str] = []
    sound = b""
    with wave.open(str(file)) as recording:
        question = recording.readframes(recording.getnframes())
    async with client.realtime.connect(model="rubato") as link:

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
    return {"kinds": kinds, "bytes": len(sound), "said": said, "heard": heard}


async def mcp_client(root: str) -> dict[str, Any]:
    """Over standard streams."""
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    arguments = ["-m", "app", "serve", "--mcp"]
    parameters = StdioServerParameters(
        command=sys.executable, args=arguments, cwd=root, env=dict(os.environ)
    )
    async with Client(stdio_client(parameters)) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        voices = (await client.call_tool("list_voices", {})).content[0].text
    return {"tools": tools, "voices": voices}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(globals()[sys.argv[1]](*sys.argv[2:]))))  # noqa: T201 - its result
