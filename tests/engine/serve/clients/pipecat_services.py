"""Pipecat's services for OpenAI: speech and a recording.

python pipecat_services.py BASE_URL QUESTION.wav
"""

import asyncio
import json
import sys

from pipecat.frames.frames import ErrorFrame, TranscriptionFrame, TTSAudioRawFrame, TTSSpeakFrame
from pipecat.services.openai.stt import OpenAISTTService
from pipecat.services.openai.tts import VALID_VOICES, OpenAITTSService
from pipecat.tests.utils import run_test

TEXT = "The boat left the harbour at ten past seven."
PATIENCE_S = 120.0  # for a loaded machine


async def main() -> None:
    base, question = sys.argv[1], sys.argv[2]
    VALID_VOICES["Alan"] = "Alan"  # it lets only OpenAI's own names through
    tts = OpenAITTSService(
        api_key="none",
        base_url=base,
        settings=OpenAITTSService.Settings(voice="Alan", model="tts-1"),
    )
    # Within a pipeline, which tells it the sample rate.
    spoken, back = await run_test(
        tts, frames_to_send=[TTSSpeakFrame(TEXT)], start_timeout=PATIENCE_S
    )
    sound = sum(len(frame.audio) for frame in spoken if isinstance(frame, TTSAudioRawFrame))
    faults = [frame.error for frame in back if isinstance(frame, ErrorFrame)]
    stt = OpenAISTTService(
        api_key="none", base_url=base, settings=OpenAISTTService.Settings(model="whisper-1")
    )
    with open(question, "rb") as file:  # noqa: PTH123 - a name from the command line
        recording = file.read()
    heard = [f.text async for f in stt.run_stt(recording) if isinstance(f, TranscriptionFrame)]
    print(json.dumps({"bytes": sound, "faults": faults, "heard": heard}))  # noqa: T201


asyncio.run(main())
