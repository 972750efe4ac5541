"""OpenAI's own client: speaks, transcribes, and holds a conversation by voice.

    python openai_python.py BASE_URL QUESTION.wav

Prints what came as JSON.
"""

import asyncio
import base64
import json
import sys
import wave
from pathlib import Path
from typing import Any

import openai

TEXT = "The boat left the harbour at ten past seven."


async def speak(client: openai.AsyncOpenAI) -> dict[str, Any]:
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


async def transcribe(client: openai.AsyncOpenAI, question: Path) -> dict[str, Any]:
    texts = {}
    for form in ("json", "text", "srt", "verbose_json", "vtt"):
        with question.open("rb") as file:
            heard = await client.audio.transcriptions.create(
                model="whisper-1", file=file, response_format=form
            )
        texts[form] = heard if isinstance(heard, str) else heard.text
    with question.open("rb") as file:
        stream = await client.audio.transcriptions.create(
            model="gpt-4o-transcribe", file=file, stream=True
        )
        texts["stream"] = [event.type async for event in stream][-1]
    return texts


async def converse(client: openai.AsyncOpenAI, question: bytes) -> dict[str, Any]:
    kinds: list[str] = []
    sound = b""
    async with client.realtime.connect(model="rubato") as link:
        await link.session.update(
            session={
                "type": "realtime",
                "audio": {"input": {"transcription": {"model": "whisper-1"}}},
            }
        )
        for at in range(0, len(question), 4800):
            audio = base64.b64encode(question[at : at + 4800]).decode()
            await link.input_audio_buffer.append(audio=audio)
        async for event in link:
            kinds.append(event.type)
            if event.type == "response.output_audio.delta":
                sound += base64.b64decode(event.delta)
            if event.type == "response.done":
                said = event.response.output[0].content[0].transcript
                break
        key = event.response.output[0].id
        await link.conversation.item.truncate(item_id=key, content_index=0, audio_end_ms=300)
        async for event in link:
            if event.type == "conversation.item.truncated":
                break
        await link.conversation.item.retrieve(item_id=key)
        async for event in link:
            if event.type == "conversation.item.retrieved":
                heard = event.item.content[0].transcript
                break
    return {"kinds": kinds, "bytes": len(sound), "said": said, "heard": heard}


async def main() -> None:
    base, question = sys.argv[1], Path(sys.argv[2])
    with wave.open(str(question)) as file:
        pcm = file.readframes(file.getnframes())
    async with openai.AsyncOpenAI(base_url=base, api_key="none") as client:
        models = [model.id async for model in client.models.list()]
        found = {
            "models": models,
            "speech": await speak(client),
            "texts": await transcribe(client, question),
            "realtime": await converse(client, pcm),
        }
    print(json.dumps(found))  # noqa: T201 - its result


asyncio.run(main())
