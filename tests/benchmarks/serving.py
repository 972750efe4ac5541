"""How late the server makes speech, door by door, beside the same engine without one.

Run: python -m tests.benchmarks.serving [ENGINE]
ENGINE: a synthesiser, default starter (Rubato's own). Prints milliseconds from the first word to
the first sound (the median of TIMES), from a new rate to the sound that has it, for a listener who
began with the first sound, and how often two listeners at once ran dry.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
from websockets.asyncio.client import connect

import engine  # noqa: F401 - before numpy, as the program does
from engine.serve.service import SAMPLE_RATE
from engine.settings import SpeechSettings
from engine.text.paced import PacedText
from engine.tts.base import TtsModel
from engine.tts.registry import load

TIMES = 15
TEXT = "The boat left the harbour at ten past seven in the morning, and nobody saw it again."
LONG = " ".join([TEXT] * 3)


def alone_ms(model: TtsModel) -> float:
    """The engine without a server: the rules of the text and the voice."""
    began = time.perf_counter()
    with model.open(model.voices()[0], seed=7) as session:
        text = PacedText(pacing=True)
        for growth in (text.push(TEXT), text.end()):
            for word in growth.words:
                session.push_word(word.text, word.pace)
        session.end_input()
        session.step()
        return (time.perf_counter() - began) * 1000


async def over_http_ms(port: int) -> float:
    body = {"input": TEXT, "response_format": "pcm"}
    async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
        await client.get(f"http://127.0.0.1:{port}/v1/models")  # the connection is there
        began = time.perf_counter()
        address = f"http://127.0.0.1:{port}/v1/audio/speech"
        async with client.stream("POST", address, json=body) as answer:
            async for _ in answer.aiter_bytes():
                return (time.perf_counter() - began) * 1000
    raise AssertionError("no sound")


async def over_stream_ms(port: int) -> float:
    async with connect(f"ws://127.0.0.1:{port}/v1/audio/speech/stream", proxy=None) as link:
        began = time.perf_counter()
        await link.send(json.dumps({"type": "input.text", "text": TEXT}))
        await link.send(json.dumps({"type": "input.done"}))
        while not isinstance(await link.recv(), bytes):
            pass
        return (time.perf_counter() - began) * 1000


async def over_realtime_ms(port: int) -> float:
    async with connect(f"ws://127.0.0.1:{port}/v1/realtime", proxy=None) as link:
        content = [{"type": "input_text", "text": "what time is it"}]
        item = {"type": "message", "role": "user", "content": content}
        await link.send(json.dumps({"type": "conversation.item.create", "item": item}))
        await link.send(json.dumps({"type": "response.create"}))
        began = 0.0
        while True:
            kind = json.loads(await link.recv())["type"]
            if kind == "response.output_audio_transcript.delta":
                began = began or time.perf_counter()
            if kind == "response.output_audio.delta":
                return (time.perf_counter() - began) * 1000


class Listener:
    """Plays from the first sound on; knows when it ran dry."""

    def __init__(self) -> None:
        self.began_at = 0.0
        self.made_ms = 0.0
        self.dry = 0

    def hear(self, sound: bytes) -> None:
        now = time.perf_counter()
        self.began_at = self.began_at or now
        if (late_ms := self.heard_ms - self.made_ms) > 0 and self.made_ms:
            self.dry += 1
            self.began_at += late_ms / 1000
        self.made_ms += len(sound) / 2 / SAMPLE_RATE * 1000

    @property
    def heard_ms(self) -> float:
        return (time.perf_counter() - self.began_at) * 1000


async def listen(port: int, *, rate_after_ms: float | None = None) -> tuple[Listener, float]:
    """Hear LONG; how long after the wish for another rate its sound was heard."""
    listener, delay_ms, asked_ms = Listener(), 0.0, 0.0
    async with connect(f"ws://127.0.0.1:{port}/v1/audio/speech/stream", proxy=None) as link:
        await link.send(json.dumps({"type": "input.text", "text": LONG}))
        await link.send(json.dumps({"type": "input.done"}))
        async for message in link:
            if isinstance(message, bytes):
                listener.hear(message)
                if rate_after_ms and not asked_ms and listener.heard_ms > rate_after_ms:
                    asked_ms = listener.heard_ms
                    await link.send(json.dumps({"type": "session.update", "rate": 6.5}))
                continue
            kind = json.loads(message)["type"]
            if kind == "session.updated":
                delay_ms = listener.made_ms - asked_ms  # what comes next has the new rate
            if kind == "session.done":
                return listener, delay_ms
    raise AssertionError("it broke off")


@contextmanager
def serving(name: str) -> Iterator[int]:
    """The port of a server of its own process, as people start it: one that shares a process with
    its client makes that wait for every step of the voice.
    """
    with TemporaryDirectory() as folder:
        (Path(folder) / "settings.toml").write_text(f'[speech]\nengine = "{name}"\n')
        own = {"RUBATO_CONFIG": folder, "RUBATO_DATA": folder, "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "app", "serve", "--port", "0", "--json"]
        with subprocess.Popen(
            command, env={**os.environ, **own}, stderr=subprocess.PIPE, text=True
        ) as server:
            assert server.stderr is not None
            try:
                address = next(line for line in server.stderr if line.startswith('{"address"'))
                yield int(json.loads(address)["address"].rpartition(":")[2])
            finally:
                server.terminate()


async def measure(model: TtsModel, port: int) -> dict[str, float]:
    doors: dict[str, Callable[[int], Awaitable[float]]] = {
        "POST /v1/audio/speech": over_http_ms,
        "WS /v1/audio/speech/stream": over_stream_ms,
        "WS /v1/realtime": over_realtime_ms,
    }
    times: dict[str, list[float]] = {"without a server": [], **{door: [] for door in doors}}
    for _ in range(TIMES):  # in turn: the machine is quicker at one time than at another
        for name, measured in times.items():
            await asyncio.sleep(0.5)  # the step that was begun for the last one ends
            measured.append(await doors[name](port) if name in doors else alone_ms(model))
    found = {name: statistics.median(measured) for name, measured in times.items()}
    _, found["new rate to its sound"] = await listen(port, rate_after_ms=3000)
    both = await asyncio.gather(*(listen(port) for _ in range(2)))
    found["two listeners ran dry"] = sum(heard.dry for heard, _ in both)
    return found


def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else "starter"
    model = load(SpeechSettings(engine=name), lambda phrase, share: None)
    model.warm(model.voices()[0])
    with serving(name) as port:
        found = asyncio.run(measure(model, port))
    model.close()
    for what, value in found.items():
        unit = "times" if "dry" in what else "ms"
        sys.stdout.write(f"{what:28} {value:7.1f} {unit}\n")


if __name__ == "__main__":
    main()
