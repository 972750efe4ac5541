"""OpenAI's agents: one that holds a conversation over the Realtime interface, interrupted once.

python openai_agents.py BASE_URL QUESTION.wav
"""

import asyncio
import json
import sys
import wave

from agents.realtime import RealtimeAgent, RealtimeRunner


async def main() -> None:
    base, question = sys.argv[1].replace("http", "ws", 1), sys.argv[2]
    with wave.open(question) as file:
        pcm = file.readframes(file.getnframes())
    pcm += bytes(3 * 48_000)  # a microphone goes on: the end of a turn is told by silence
    agent = RealtimeAgent(name="rubato", instructions="Be brief.")
    model_config = {
        "api_key": "none",
        "url": f"{base}/realtime?model=rubato",
        "initial_model_settings": {
            "voice": "Alan",  # it would ask for one of OpenAI's
            "turn_detection": {"type": "semantic_vad"},
        },
    }
    runner = RealtimeRunner(starting_agent=agent)
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
    print(json.dumps({"kinds": sorted(set(kinds)), "bytes": sound}))  # noqa: T201 - its result


asyncio.run(main())
