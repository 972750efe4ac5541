"""The Realtime interface, measured from outside by voicebench (PyPI, Apache-2.0): how soon it
answers, whether it stops when somebody interrupts, whether a cough stops it.

The scenario has the five turns of voicebench's own example, with flite's voices and coughs made of
noise in place of its test signals: a neural detector does not take those for speech. Sessions
differ in their voices and coughs. The agents have their sessions in turn, for the machine is
quicker at one time than at another; the tool's mock, whose answers take no time to compute, shows
what the tool and the machine add. The first session of an agent is not counted: models are loaded
then.

    pip install voicebench
    rubato serve                                            in another shell
    python -m tests.benchmarks.voicebench_realtime          eight sessions an agent, ten minutes
    python -m tests.benchmarks.voicebench_realtime --sessions 3 --url ws://127.0.0.1:8795/v1/realtime
"""

import argparse
import asyncio
import base64
import json
import sys
import wave
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from voicebench import audio as voicebench_audio
from voicebench.adapters import AgentAudio, AgentClear, Transcript
from voicebench.adapters.websocket import WebSocketAdapter
from voicebench.bench import run_benchmark
from voicebench.metrics import summarize
from voicebench.report import build_report, render_console
from voicebench.scenario import parse_scenario

from engine.audio.base import Pcm
from tests.simulation import people
from tests.simulation.room import RATE as SPEECH_RATE

URL = "ws://127.0.0.1:8790/v1/realtime"
RATE = 24_000  # Hz, both ways
LEVEL_DB = -20.0  # as voicebench's own signals
TURNS = ("server_vad", "semantic_vad")
AGENTS = ("mock", *TURNS)
ADAPTER = "tests.benchmarks.voicebench_realtime:RealtimeAdapter"
# A reply's pause between two sentences is not its end: the longest that Rubato makes is 0.5 s.
AGENT_SILENCE_MS = 700
MOCK = {"response_ms": 2500, "barge_in_min_ms": 250, "response_delay_ms": 350}  # as in its example
# Spoken, and what voicebench expects. Every reply but the last is longer than what interrupts it.
SAID: tuple[dict[str, Any], ...] = (
    {"id": "opening", "text": "what time is it"},
    {"id": "question", "text": "what can you do", "start": ("agent_speech_end", 400)},
    {
        "id": "barge-in",
        "text": "wait what can you do with timers",
        "start": ("agent_speech_start", 900),
        "expect": "stop",
    },
    {"id": "cough", "start": ("agent_speech_start", 600), "expect": "ignore"},
    {"id": "confirm", "text": "thank you very much", "start": ("agent_speech_end", 500)},
)


class RealtimeAdapter(WebSocketAdapter):  # type: ignore[misc]
    """voicebench's WebSocket adapter in the events of the Realtime interface."""

    name = "rubato-realtime"

    def __init__(self, url: str = URL, turns: str = TURNS[0], **options: Any) -> None:
        super().__init__(url=url, **options)
        self._turns = turns

    async def connect(self) -> None:
        await super().connect()
        heard = {"turn_detection": {"type": self._turns}, "transcription": {}}
        session = {"type": "realtime", "audio": {"input": heard}}
        await self._ws.send(json.dumps({"type": "session.update", "session": session}))

    def encode_audio(self, pcm: Pcm) -> str:
        sound = voicebench_audio.resample(pcm, self.session.sample_rate, RATE)
        audio = base64.b64encode(voicebench_audio.to_pcm16(sound)).decode()
        return json.dumps({"type": "input_audio_buffer.append", "audio": audio})

    def handle_text(self, message: str, now: float) -> None:
        """As OpenAI's clients: drop the rest of the reply when the server hears speech."""
        event = json.loads(message)
        match event["type"]:
            case "response.output_audio.delta":
                pcm = voicebench_audio.from_pcm16(base64.b64decode(event["delta"]))
                rate = self.session.sample_rate
                self.emit(AgentAudio(voicebench_audio.resample(pcm, RATE, rate), now))
            case "input_audio_buffer.speech_started":
                self.emit(AgentClear(now))
            case "conversation.item.input_audio_transcription.completed":
                self.emit(Transcript("user", event["transcript"], now))
            case "error":
                self.receive_error = RuntimeError(event["error"]["message"])

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "turn_detection": self._turns}


def scenario(folder: Path, number: int) -> Any:
    """The five turns of session `number`, their sound in `folder`."""
    coughs = [sound for sound in people.noises() if sound.name.startswith("cough")]
    turns = []
    for place, said in enumerate(SAID):
        voice = people.VOICES[(place + number) % len(people.VOICES)]
        cough = coughs[number % len(coughs)]
        file = folder / f"{number} {said['id']}.wav"
        _write(file, (people.spoken(said["text"], voice) if "text" in said else cough).pcm)
        after, delay_ms = said.get("start", ("session_start", 500))
        start = {"after": after, "delay_ms": delay_ms}
        turns.append({**said, "audio": {"file": file.name}, "start": start})
    agent = {"min_silence_ms": AGENT_SILENCE_MS}
    described = {"name": "rubato-realtime", "sample_rate": RATE, "turns": turns}
    return parse_scenario({**described, "vad": {"agent": agent}}, base_dir=folder)


def _write(file: Path, pcm: Pcm) -> None:
    """A WAV file at voicebench's level."""
    loud = pcm[np.abs(pcm) > np.abs(pcm).max() / 100]
    louder = pcm * (10 ** (LEVEL_DB / 20) / np.sqrt(np.mean(loud**2)))
    with wave.open(str(file), "wb") as written:
        written.setnchannels(1)
        written.setsampwidth(2)
        written.setframerate(SPEECH_RATE)
        written.writeframes(voicebench_audio.to_pcm16(louder.astype(np.float32)))


def session(agent: str, script: Any, url: str) -> Any:
    """One session of an agent, on the real clock."""
    if agent == "mock":
        return asyncio.run(run_benchmark(script, adapter=agent, options=MOCK, realtime=True))
    return asyncio.run(run_benchmark(script, adapter=ADAPTER, options={"url": url, "turns": agent}))


def _show(agent: str, results: list[Any]) -> None:
    """voicebench's own report on all sessions, and every turn."""
    sessions = [result.sessions[0] for result in results]
    records = [result.records[0] for result in results]
    report = build_report(records, sessions, summarize(sessions), [])
    sys.stdout.write(f"\n== {agent}\n{render_console(report, sessions)}\n")
    for number, one in enumerate(sessions):
        for turn in one.turns:
            shown = (turn.response_latency_ms, turn.ttfa_ms, turn.stop_latency_ms, turn.transcript)
            sys.stdout.write(f"{number} {turn.id}: {shown}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description="The Realtime interface, by voicebench.")
    parser.add_argument("--url", default=URL)
    parser.add_argument("--agents", nargs="+", choices=AGENTS, default=AGENTS)
    parser.add_argument("--sessions", type=int, default=8)
    given = parser.parse_args()
    results: dict[str, list[Any]] = {agent: [] for agent in given.agents}
    with TemporaryDirectory() as folder:
        for number in range(given.sessions + 1):
            for agent, found in results.items():
                found.append(session(agent, scenario(Path(folder), number), given.url))
    for agent, found in results.items():
        _show(agent, found[1:])


if __name__ == "__main__":
    main()
