"""The clients that people have, each as its own documentation has it.

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
PATIENCE_S = 120.0  # for a loaded machine


def samples(file: str) -> tuple[bytes, int]:
    """And their rate."""
    with wave.open(file) as sound:
        return sound.readframes(sound.getnframes()), sound.getframerate()


# ------------------------------------------------------------------------------ OpenAI's own client


async def openai_python(base: str, question: str) -> dict[str, Any]:
    """Speaks, transcribes, and holds a conversation by voice."""
    import openai

    async with openai.AsyncOpenAI(base_url=base, api_key="none") as client:
        return {
            "models": [model.id async for model in client.models.list()],
            "speech": await speak(client),
            "texts": await transcribe(client, Path(question)),
            "realtime": await converse(client, samples(question)[0]),
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


async def converse(client: Any, question: bytes) -> dict[str, Any]:
    kinds: list[str] = []
    sound = b""
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


# ------------------------------------------------------------------------------------ other clients


async def openai_agents(base: str, question: str) -> dict[str, Any]:
    """One that holds a conversation over the Realtime interface, interrupted once."""
    from agents.realtime import RealtimeAgent, RealtimeRunner

    # A microphone goes on: the end of a turn is told by silence.
    pcm = samples(question)[0] + bytes(3 * 48_000)
    model_config = {
        "api_key": "none",
        "url": f"{base.replace('http', 'ws', 1)}/realtime?model=rubato",
        "initial_model_settings": {
            "voice": "Alan",  # it would ask for one of OpenAI's
            "turn_detection": {"type": "semantic_vad"},
        },
    }
    runner = RealtimeRunner(starting_agent=RealtimeAgent(name="rubato", instructions="Be brief."))
    kinds: list[str] = []
    sound = 0
    async with await runner.run(model_config=model_config) as session:
        await session.send_message("what time is it")
        asked = False
        async for event in session:
            kinds.append(event.type)
            if event.type == "audio":
                sound += len(event.audio.data)
                if not asked:  # speak into the answer
                    asked = True
                    for at in range(0, len(pcm), 4800):
                        await session.send_audio(pcm[at : at + 4800])
            if event.type == "error":
                kinds.append(str(event.error))
                break
            if kinds.count("audio_interrupted") and kinds.count("agent_end") >= 2:
                break
    return {"kinds": sorted(set(kinds)), "bytes": sound}


async def livekit_plugin(base: str, question: str) -> dict[str, Any]:
    """Speech as it streams it, and a recording as it sends it."""
    from livekit import rtc
    from livekit.agents.utils import http_context
    from livekit.plugins import openai

    found: dict[str, Any] = {}
    async with http_context.open():
        for model in ("tts-1", "gpt-4o-mini-tts"):
            tts = openai.TTS(model=model, voice="Alan", base_url=base, api_key="none")
            async with tts.synthesize(TEXT) as stream:
                count = 0
                async for event in stream:
                    count += event.frame.samples_per_channel
            found[model] = count / tts.sample_rate
            await tts.aclose()
        pcm, rate = samples(question)
        stt = openai.STT(model="whisper-1", base_url=base, api_key="none")
        event = await stt.recognize(buffer=rtc.AudioFrame(pcm, rate, 1, len(pcm) // 2))
        found["heard"] = event.alternatives[0].text
    return found


async def pipecat_services(base: str, question: str) -> dict[str, Any]:
    """Within a pipeline, which tells them the sample rate."""
    from pipecat.frames.frames import (
        ErrorFrame,
        TranscriptionFrame,
        TTSAudioRawFrame,
        TTSSpeakFrame,
    )
    from pipecat.services.openai.stt import OpenAISTTService
    from pipecat.services.openai.tts import VALID_VOICES, OpenAITTSService
    from pipecat.tests.utils import run_test

    VALID_VOICES["Alan"] = "Alan"  # it lets only OpenAI's own names through
    voice, ears = OpenAITTSService.Settings(voice="Alan", model="tts-1"), OpenAISTTService.Settings
    spoken, back = await run_test(
        OpenAITTSService(api_key="none", base_url=base, settings=voice),
        frames_to_send=[TTSSpeakFrame(TEXT)],
        start_timeout=PATIENCE_S,
    )
    sound = sum(len(frame.audio) for frame in spoken if isinstance(frame, TTSAudioRawFrame))
    faults = [frame.error for frame in back if isinstance(frame, ErrorFrame)]
    stt = OpenAISTTService(api_key="none", base_url=base, settings=ears(model="whisper-1"))
    recording = stt.run_stt(Path(question).read_bytes())
    heard = [frame.text async for frame in recording if isinstance(frame, TranscriptionFrame)]
    return {"bytes": sound, "faults": faults, "heard": heard}


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


async def voice_mode_client(base: str) -> dict[str, Any]:
    """Speech, as it asks for it and decodes it."""
    os.environ["HOME"] = os.environ["RUBATO_DATA"]  # where it writes what it does
    os.environ["VOICEMODE_TTS_BASE_URLS"] = base
    os.environ["VOICEMODE_VOICES"] = "Alan"  # it lets only names through that it knows
    os.environ["OPENAI_API_KEY"] = "none"
    from voice_mode.simple_failover import simple_tts_synthesize

    said, pcm, rate, _, config = await simple_tts_synthesize(TEXT, voice="Alan", model="tts-1")
    found = {"said": said, "rate": rate, "bytes": 0 if pcm is None else pcm.nbytes}
    return {**found, "fault": None if said else str(config)}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(globals()[sys.argv[1]](*sys.argv[2:]))))  # noqa: T201 - its result
