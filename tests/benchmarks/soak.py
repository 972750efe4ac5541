"""A long conversation on a virtual sound card: does anything stutter, leak, heat up or mishear?

    python -m tests.benchmarks.soak [--minutes 10] [--idle-s 60] [--json]
                                    [--voice kokoro] [--recogniser whisper]

The engine runs in a child process on real devices that exist only for the soak (PortAudio on a
PulseAudio of its own), with what a fresh installation has: sphinx, skills, the built-in voice,
hands-free; or with what was fetched and is named. The parent asks aloud, one question after
another, moves the rate while replies are spoken, and measures the child from outside. Targets: no
underrun, no overrun, every turn right, at most 500 MB resident (900 with what was fetched) and
flat, at most 3 % of a core when idle.
"""

import argparse
import json
import os
import queue
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from engine.settings_file import data_folder
from tests.end_to_end.program import ROOT, own_environment
from tests.end_to_end.spoken import write_questions
from tests.help.machine.virtual_audio import VirtualAudio, virtual_audio

QUESTIONS = {
    "what time is it": r"It's \d+:\d\d [AP]M\.",
    "convert ten miles to kilometers": r"10 miles is about 16\.09 kilometres\.",
    "what can you do": r"I can tell the time .*",
    "set a timer for ninety minutes": r".*[Tt]imer set for .*",  # none rings during the soak
    "speak slower": r"(Speaking slower|I can't speak any slower)\.",
    "what is twelve times seven": r".*\b84\b.*",
    "spell necessary": r"N.*Y\.?",
    "speak faster": r"(Speaking faster|I can't speak any faster)\.",
    "how many days until christmas": r"\d+ days? until Christmas\.|That's today\.",
    "repeat after me hello world": r"hello world\.?",
}
LOADING_S = 60.0
SETTLE_S = 5.0  # after loading, before anything is measured
TURN_S = 60.0  # by then a turn is over or something is wrong
PAUSE_S = 1.5  # between the end of a reply and the next question
RATE_S = 0.8  # between two moves of the slider
MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Report:
    """What came of it. Times in ms after the end of speech are medians over the turns."""

    minutes: float
    turns: int
    wrong: list[str]
    underruns: int
    overruns: int
    faults: list[str]
    alsa_messages: list[str]  # ALSA's own, for example when a stream is opened
    rate_moves: int
    loaded_mb: float
    first_mb: float  # mean of the first tenth of the turns after loading
    last_mb: float  # and of the last
    highest_mb: float
    idle_cpu_percent: float  # of one core
    busy_cpu_percent: float
    transcript_ms: float
    heard_ms: float
    largest_mb: float  # that is right
    load_average: float = field(default_factory=lambda: os.getloadavg()[0])

    def misses(self) -> list[str]:
        """Targets that were not met."""
        found = {
            "a turn was wrong": bool(self.wrong),
            "a loudspeaker ran dry": self.underruns > 0,
            "a microphone ran over": self.overruns > 0,
            "a fault was told": bool(self.faults),
            f"more than {self.largest_mb:.0f} MB": self.highest_mb > self.largest_mb,
            "memory grows": self.last_mb > 1.03 * self.first_mb + 5,
            "more than 3 % of a core when idle": self.idle_cpu_percent > 3,
        }
        return [target for target, missed in found.items() if missed]


@dataclass(frozen=True)
class Parts:
    """As the settings name them; 'auto' is what a fresh installation has."""

    voice: str = "auto"
    recogniser: str = "auto"

    @property
    def fetched(self) -> bool:
        return self != Parts()


# ----------------------------------------------------------------------- in the child


def host(parts: Parts) -> None:
    """The engine without a window: events go out as JSON lines, rates come in as lines."""
    from engine.api import (
        ChangeSetting,
        Engine,
        Event,
        Failed,
        PhaseChanged,
        Ready,
        Settings,
        TurnEnded,
    )
    from engine.settings import RecogniserSettings, SpeechSettings

    sys.setswitchinterval(0.001)  # as app.__main__ does

    def tell(event: Event) -> None:
        if isinstance(event, Failed | PhaseChanged | Ready | TurnEnded):
            told = {"kind": type(event).__name__, **asdict(event)}
            sys.stdout.write(json.dumps(told, default=lambda value: value.value) + "\n")
            sys.stdout.flush()

    settings = Settings(
        speech=SpeechSettings(parts.voice), recogniser=RecogniserSettings(parts.recogniser)
    )
    engine = Engine(settings, tell)
    engine.start()
    for line in sys.stdin:
        engine.post(ChangeSetting("speech.rate", float(line)))
    microphone: Any = engine._conductor._workers.ears._input._microphone
    overruns = microphone.overruns if microphone else 0
    engine.stop()
    sys.stdout.write(json.dumps({"kind": "End", "overruns": overruns}) + "\n")


# ---------------------------------------------------------------------- in the parent


class Assistant:
    """The child: what it says, and what it costs."""

    def __init__(self, folder: Path, parts: Parts) -> None:
        environment = own_environment(folder)
        if parts.fetched:
            own_models = Path(environment["RUBATO_DATA"], "models")
            own_models.parent.mkdir(exist_ok=True)
            own_models.symlink_to(data_folder() / "models")
        self._log = folder / "stderr.log"
        self._child = subprocess.Popen(
            [
                *(sys.executable, "-m", "tests.benchmarks.soak", "--host"),
                *("--voice", parts.voice, "--recogniser", parts.recogniser),
            ],
            cwd=ROOT,
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log.open("w"),
            text=True,
        )
        self._process = psutil.Process(self._child.pid)
        self._events: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, name="soak-reader")
        self._reader.start()
        self.faults: list[str] = []

    def _read(self) -> None:
        assert self._child.stdout is not None
        for line in self._child.stdout:
            self._events.put(json.loads(line))

    def wait_for(self, seconds: float, **wanted: object) -> dict[str, Any]:
        """The next event with these values."""
        deadline = time.monotonic() + seconds
        while True:
            event = self._events.get(timeout=max(0.01, deadline - time.monotonic()))
            if event["kind"] == "Failed":
                self.faults.append(event["message"])
            if all(event.get(key) == value for key, value in wanted.items()):
                return event

    def wait_ready(self) -> None:
        """Until all five parts have loaded."""
        missing = {"microphone", "loudspeaker", "recogniser", "language model", "synthesiser"}
        while missing:
            missing.discard(self.wait_for(LOADING_S, kind="Ready")["part"])

    def set_rate(self, rate: float) -> None:
        assert self._child.stdin is not None
        self._child.stdin.write(f"{rate}\n")
        self._child.stdin.flush()

    @property
    def log(self) -> list[str]:
        """What it wrote on standard error; ALSA tells there of its own underruns."""
        return self._log.read_text(errors="replace").splitlines()

    @property
    def megabytes(self) -> float:
        return float(self._process.memory_info().rss) / MEGABYTE

    @property
    def cpu_s(self) -> float:
        times = self._process.cpu_times()
        return float(times.user + times.system)

    def end(self) -> int:
        """Stop it; how often its microphone ran over."""
        assert self._child.stdin is not None
        self._child.stdin.close()
        overruns: int = self.wait_for(30, kind="End")["overruns"]
        self._child.wait(timeout=30)
        self._reader.join()
        return overruns

    def kill(self) -> None:
        self._child.kill()
        self._child.wait()
        self._reader.join()


class Soak:
    """Asks, listens and counts."""

    def __init__(
        self, card: VirtualAudio, assistant: Assistant, folder: Path, parts: Parts
    ) -> None:
        self._card = card
        self._spelled = parts.recogniser == Parts.recogniser  # Whisper has marks, capitals, figures
        self._assistant = assistant
        self._wavs = {
            question: write_questions(folder / f"{number}.wav", question)
            for number, question in enumerate(QUESTIONS)
        }
        self._choose = random.Random(1)
        self.turns: list[dict[str, Any]] = []
        self.wrong: list[str] = []
        self.megabytes: list[float] = []
        self.rate_moves = 0

    def idle(self, seconds: float) -> float:
        """Per cent of a core while nobody speaks."""
        before = self._assistant.cpu_s
        time.sleep(seconds)
        return (self._assistant.cpu_s - before) / seconds * 100

    def converse(self, minutes: float) -> float:
        """Talk for so long; per cent of a core meanwhile."""
        began, before = time.monotonic(), self._assistant.cpu_s
        while time.monotonic() - began < minutes * 60:
            self._ask(list(QUESTIONS)[len(self.turns) % len(QUESTIONS)])
            self.megabytes.append(self._assistant.megabytes)
        return (self._assistant.cpu_s - before) / (time.monotonic() - began) * 100

    def _ask(self, question: str) -> None:
        self._card.speak(self._wavs[question])
        try:
            self._assistant.wait_for(TURN_S, kind="PhaseChanged", phase="speaking")
            turn = self._listen()
        except queue.Empty:
            self.wrong.append(f"{question!r}: no answer")
            self.turns.append({})
            return
        self.turns.append(turn)
        said, reply = turn["said"].replace("metres", "meters"), turn["reply"]
        misheard = self._spelled and said != question
        if misheard or not re.fullmatch(QUESTIONS[question], reply):
            self.wrong.append(f"{question!r} was heard as {said!r} and answered {reply!r}")
        time.sleep(PAUSE_S)

    def _listen(self) -> dict[str, Any]:
        """Until the turn is over, moving the slider."""
        deadline = time.monotonic() + TURN_S
        while time.monotonic() < deadline:
            try:
                return self._assistant.wait_for(RATE_S, kind="TurnEnded")
            except queue.Empty:
                self._assistant.set_rate(round(self._choose.uniform(2.0, 6.5), 1))
                self.rate_moves += 1
        raise queue.Empty

    def median_ms(self, stage: str) -> float:
        times = [turn["metrics"][stage] for turn in self.turns if turn]
        return round(float(np.median([at for at in times if at is not None])), 1)


def run(minutes: float, idle_s: float, parts: Parts) -> Report:
    with (
        tempfile.TemporaryDirectory(prefix="soak") as name,
        virtual_audio(Path(name) / "card") as card,
    ):
        assistant = Assistant(Path(name), parts)
        try:
            assistant.wait_ready()
            time.sleep(SETTLE_S)
            loaded_mb = assistant.megabytes
            soak = Soak(card, assistant, Path(name), parts)
            idle = soak.idle(idle_s)
            busy = soak.converse(minutes)
            overruns = assistant.end()
            log = assistant.log
        finally:
            assistant.kill()
    tenth = max(1, len(soak.megabytes) // 10)
    return Report(
        minutes=minutes,
        turns=len(soak.turns),
        wrong=soak.wrong,
        underruns=sum(turn["metrics"]["underruns"] for turn in soak.turns if turn),
        overruns=overruns,
        faults=assistant.faults,
        alsa_messages=[line for line in log if "ALSA" in line],
        rate_moves=soak.rate_moves,
        loaded_mb=round(loaded_mb, 1),
        # the first round of questions warms everything up
        first_mb=round(float(np.mean(soak.megabytes[len(QUESTIONS) :][:tenth] or [0])), 1),
        last_mb=round(float(np.mean(soak.megabytes[-tenth:])), 1),
        highest_mb=round(max(soak.megabytes), 1),
        idle_cpu_percent=round(idle, 2),
        busy_cpu_percent=round(busy, 2),
        transcript_ms=soak.median_ms("transcript_ms"),
        heard_ms=soak.median_ms("heard_ms"),
        largest_mb=900 if parts.fetched else 500,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--idle-s", type=float, default=60.0)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--voice", default=Parts.voice)
    parser.add_argument("--recogniser", default=Parts.recogniser)
    parser.add_argument("--host", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    parts = Parts(options.voice, options.recogniser)
    if options.host:
        host(parts)
        return 0
    report = run(options.minutes, options.idle_s, parts)
    if options.json:
        sys.stdout.write(json.dumps(asdict(report), indent=2) + "\n")
    else:
        for key, value in asdict(report).items():
            sys.stdout.write(f"{key:18} {value}\n")
    for missed in report.misses():
        sys.stderr.write(f"target missed: {missed}\n")
    return 1 if report.misses() else 0


if __name__ == "__main__":
    sys.exit(main())
