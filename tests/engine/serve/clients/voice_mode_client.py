"""VoiceMode: speech, as it asks for it and decodes it.

python voice_mode_client.py BASE_URL
"""

import asyncio
import json
import os
import sys

os.environ["HOME"] = os.environ["RUBATO_DATA"]  # where it writes what it does
os.environ["VOICEMODE_TTS_BASE_URLS"] = sys.argv[1]
os.environ["VOICEMODE_VOICES"] = "Alan"  # it lets only names through that it knows
os.environ["OPENAI_API_KEY"] = "none"

from voice_mode.simple_failover import simple_tts_synthesize


async def main() -> None:
    text = "The boat left the harbour at ten past seven."
    said, samples, rate, _, config = await simple_tts_synthesize(text, voice="Alan", model="tts-1")
    found = {"said": said, "rate": rate, "bytes": 0 if samples is None else samples.nbytes}
    print(json.dumps({**found, "fault": None if said else str(config)}))  # noqa: T201 - its result


asyncio.run(main())
