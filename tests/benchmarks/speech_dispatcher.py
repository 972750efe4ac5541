"""How soon a client of the real speech-dispatcher hears Rubato, and how soon it is silent.

    python -m tests.benchmarks.speech_dispatcher [MODULE]

Needs speech-dispatcher and pulseaudio. Times are from the client's request to sound at the monitor
of a null sink (or to its end), so they include the daemon and the sound server. The voice is that
of the settings ($RUBATO_CONFIG, $RUBATO_DATA). MODULE is `rubato`, or another one to compare with.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from engine.settings_file import config_folder, data_folder
from tests.engine.serve.doors.speech_dispatcher.real_daemon import Client, real_daemon
from tests.help.machine.virtual_audio import SPEAKER, VirtualAudio, virtual_audio

_LOUD = 60  # of 32,768
_ROUNDS = range(16)
_SENTENCES = (
    "The weather tomorrow will be cloudy, with some rain in the evening.",
    "You have three new messages from the mailing list.",
    "Press the escape key to close this window, or press enter to continue.",
    "She walked slowly along the river until the sun went down.",
)


class Ear(threading.Thread):
    """Notes when the loudspeaker is loud."""

    def __init__(self, card: VirtualAudio) -> None:
        super().__init__(name="ear", daemon=True)
        command = ["parec", f"--device={SPEAKER}.monitor", "--rate=44100", "--channels=1"]
        command += ["--format=s16le", "--latency-msec=5"]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, env={**os.environ, **card.env}
        )
        self.loud: deque[float] = deque(maxlen=10_000)
        self.start()

    def run(self) -> None:
        assert self.process.stdout is not None
        while block := os.read(self.process.stdout.fileno(), 882):
            samples = np.frombuffer(block[: len(block) // 2 * 2], "<i2")
            if np.abs(samples.astype(int)).max(initial=0) > _LOUD:
                self.loud.append(time.perf_counter())

    def wait_for_silence(self) -> None:
        time.sleep(0.3)
        while self.loud and time.perf_counter() - self.loud[-1] < 0.5:
            time.sleep(0.05)

    def first_since(self, since: float) -> float:
        while not (self.loud and self.loud[-1] >= since):
            assert time.perf_counter() < since + 10, "nothing was heard"
            time.sleep(0.001)
        return next(at for at in self.loud if at >= since) - since

    def last_since(self, since: float) -> float:
        self.wait_for_silence()
        return max((at - since for at in self.loud if at >= since), default=0.0)


def report(name: str, times: list[float]) -> None:
    ms = sorted(1000 * each for each in times)
    line = f"{name:18} median {statistics.median(ms):4.0f} ms, most {ms[-1]:4.0f}, of {len(ms)}"
    sys.stdout.write(line + "\n")


def time_to_sound(ear: Ear, client: Client, say: Callable[[], object]) -> float:
    ear.wait_for_silence()
    begun = time.perf_counter()
    say()
    taken = ear.first_since(begun)
    client.ask("CANCEL SELF")
    return taken


def main() -> None:
    module = sys.argv[1] if len(sys.argv) > 1 else "rubato"
    os.environ["RUBATO_CONFIG"], os.environ["RUBATO_DATA"] = (
        str(config_folder()),
        str(data_folder()),
    )
    with tempfile.TemporaryDirectory(prefix="card") as folder, virtual_audio(Path(folder)) as card:
        os.environ["HOME"] = folder
        with real_daemon(card) as client:
            ear = Ear(card)
            client.ask(f"SET SELF OUTPUT_MODULE {module}")
            client.ask("SET SELF LANGUAGE en-US")
            measure(ear, client)
            ear.process.terminate()


def measure(ear: Ear, client: Client) -> None:
    time_to_sound(ear, client, lambda: client.speak(_SENTENCES[0]))
    time.sleep(15)  # the voice is loading
    keys = {"character": "CHAR b", "key": "KEY shift_a"}
    cases: list[tuple[str, Callable[[], object]]]
    cases = [(name, partial(client.ask, line)) for name, line in keys.items() for _ in _ROUNDS]
    cases += [("label", partial(client.speak, "File menu")) for _ in _ROUNDS]
    cases += [("sentence", partial(client.speak, _SENTENCES[number % 4])) for number in _ROUNDS]
    found: dict[str, list[float]] = {}
    for name, say in cases:
        found.setdefault(name, []).append(time_to_sound(ear, client, say))
    for name, each in found.items():
        report(name, each)
    times = []
    for number in _ROUNDS:
        ear.wait_for_silence()
        begun = time.perf_counter()
        client.speak(" ".join(_SENTENCES))
        ear.first_since(begun)
        time.sleep(0.5 + number / 20)
        begun = time.perf_counter()
        client.ask("CANCEL SELF")
        times.append(ear.last_since(begun))
    report("cancel to silence", times)


if __name__ == "__main__":
    main()
