"""What the whole program costs while nobody speaks: window, tray icon, engine and open microphone.

    xvfb-run --auto-servernum python -m tests.benchmarks.idle [--seconds 60] [--rounds 3]

A fresh installation runs on a virtual sound card (PulseAudio), with openbox and trayer where they
are installed, first shown and then hidden to the tray. Target: at most 3 % of a core; resident
memory is printed beside it. Measured from outside as processor time, so that other work on the
machine counts only as far as it takes caches and clock away.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shutil import which

import psutil

from tests.end_to_end.program import ROOT
from tests.help.machine.virtual_audio import VirtualAudio, virtual_audio

COMPANIONS = (["openbox"], ["trayer", "--width", "10", "--height", "24"])
LOADING_S = 120.0
STILL_S = 65.0  # until the orb no longer breathes
QUIET = 0.2  # of a core: parts that load take a whole one
MEGABYTE = 1 << 20


@contextmanager
def running(command: list[str], env: dict[str, str], cwd: Path = ROOT) -> Iterator[psutil.Process]:
    """A process that is ended when the context is left."""
    silent = subprocess.DEVNULL
    with subprocess.Popen(command, env=env, cwd=cwd, stdout=silent, stderr=silent) as child:
        try:
            yield psutil.Process(child.pid)
        finally:
            child.terminate()


def load(process: psutil.Process, seconds: float) -> float:
    """Cores the process used in the next `seconds`."""
    before = process.cpu_times()
    began = time.monotonic()
    time.sleep(seconds)
    after = process.cpu_times()
    used = after.user + after.system - before.user - before.system
    return float(used / (time.monotonic() - began))


def settle(process: psutil.Process) -> None:
    """Until all parts have loaded: some seconds in a row with little to do."""
    deadline = time.monotonic() + LOADING_S
    calm = 0
    while calm < 3:
        calm = calm + 1 if load(process, 2.0) < QUIET else 0
        if time.monotonic() > deadline:
            raise SystemExit("The program does not come to rest.")


def environment(folder: Path, card: VirtualAudio) -> dict[str, str]:
    """Settings and models of nobody, past the first start, and the virtual card."""
    settings = folder / "config" / "settings.toml"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text("[window]\nfirst_start = 5\n", encoding="utf-8")
    own = {"RUBATO_CONFIG": "config", "RUBATO_DATA": "data", "XDG_CACHE_HOME": "cache"}
    places = {name: str(folder / place) for name, place in own.items()}
    return {**os.environ, **card.env, **places}


def measure(seconds: float, rounds: int, tree: Path) -> None:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="idle")))
        card = stack.enter_context(virtual_audio(folder / "card"))
        env = environment(folder, card)
        for companion in COMPANIONS:
            if which(companion[0]):
                stack.enter_context(running(companion, env))
        python = str(tree / ".venv/bin/python") if tree != ROOT else sys.executable
        for name, options in (("shown", []), ("hidden", ["--start-hidden"])):
            with running([python, "-m", "app", *options], env, tree) as program:
                settle(program)
                time.sleep(STILL_S)
                per_cent = [load(program, seconds) * 100 for _ in range(rounds)]
                resident = program.memory_info().rss / MEGABYTE
            each = ", ".join(f"{part:.1f}" for part in per_cent)
            median = statistics.median(per_cent)
            sys.stdout.write(f"{name}: {median:.1f} % of a core ({each}), {resident:.0f} MB\n")


def main() -> None:
    parser = argparse.ArgumentParser(description="What the program costs while nobody speaks.")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tree", type=Path, default=ROOT, help="another checkout to measure")
    given = parser.parse_args()
    measure(given.seconds, given.rounds, given.tree)


if __name__ == "__main__":
    main()
