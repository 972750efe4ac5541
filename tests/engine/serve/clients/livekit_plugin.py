"""LiveKit's plugin for OpenAI: speech as it streams it, and a recording as it sends it.

python livekit_plugin.py BASE_URL QUESTION.wav
"""

import asyncio
import json
import sys
import wave

from livekit import rtc
from livekit.agents.utils import http_context
from livekit.plugins import openai

TEXT = "The boat left the harbour at ten past seven."


async def main() -> None:
    base, question = sys.argv[1], sys.argv[2]
    found = {}
    async with http_context.open():
        for model in ("tts-1", "gpt-4o-mini-tts"):
            tts = openai.TTS(model=model, voice="Alan", base_url=base, api_key="none")
            async with tts.synthesize(TEXT) as stream:
                samples = 0
                async for event in stream:
                    samples += event.frame.samples_per_channel
            found[model] = samples / tts.sample_rate
            await tts.aclose()
        with wave.open(question) as file:
            pcm, rate = file.readframes(file.getnframes()), file.getframerate()
        stt = openai.STT(model="whisper-1", base_url=base, api_key="none")
        frame = rtc.AudioFrame(pcm, rate, 1, len(pcm) // 2)
        event = await stt.recognize(buffer=frame)
        found["heard"] = event.alternatives[0].text
    print(json.dumps(found))  # noqa: T201 - its result


asyncio.run(main())
