"""How long from a start of Python until all parts are ready, without a window.

    python -m tests.benchmarks.ready                  five starts, one after the other
    python -m tests.benchmarks.ready --starts 9 --tree OTHER_CHECKOUT

With --tree this checkout and another one (with an environment of its own in .venv) start by turns,
so that what else the machine does is shared. pocketsphinx listens, the built-in skills think, the
voice that comes with the program speaks, as no other one is in the empty data folder they use. Byte
code of both is made first, as it is for who installs the program.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]

# Runs in other checkouts too: what it imports is older than this file.
START = """
import os, sys, threading, time
began = time.monotonic()
from dataclasses import replace
from engine.api import Engine, Part, Ready, Settings
waited = {Part.RECOGNISER, Part.LANGUAGE_MODEL, Part.SYNTHESISER}
done = threading.Event()
def emit(event):
    if isinstance(event, Ready):
        waited.discard(event.part)
        if not waited:
            done.set()
settings = Settings()
settings = replace(settings, recogniser=replace(settings.recogniser, engine="sphinx"))
engine = Engine(settings, emit)
engine.start()
done.wait(120)
print(time.process_time(), time.monotonic() - began, flush=True)
os._exit(0)
"""


def make_byte_code(tree: Path) -> None:
    libraries = map(str, tree.glob(".venv/lib/python*/site-packages"))
    command = [str(tree / ".venv/bin/python"), "-m", "compileall", "-qq", "engine", *libraries]
    subprocess.run(command, cwd=tree, check=False)  # some libraries bring files for other Pythons


def start(tree: Path) -> tuple[float, float]:
    """Seconds of processor and of wall time."""
    command = [str(tree / ".venv/bin/python"), "-c", START]
    quiet = subprocess.DEVNULL
    done = subprocess.run(command, cwd=tree, stdout=subprocess.PIPE, stderr=quiet, check=True)
    processor, wall = map(float, done.stdout.split()[-2:])
    return processor, wall


def main() -> None:
    parser = argparse.ArgumentParser(description="Time until all parts are ready.")
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--tree", type=Path, help="another checkout, to compare with")
    given = parser.parse_args()
    trees = [ROOT, *([given.tree] if given.tree else [])]
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("RUBATO_CONFIG", "RUBATO_DATA"):
            os.environ[name] = str(Path(folder, name))
        print_starts(trees, given.starts)


def print_starts(trees: list[Path], starts: int) -> None:
    for tree in trees:
        make_byte_code(tree)
        start(tree)  # files are in memory then
    rounds = [[start(tree) for tree in trees] for _ in range(starts)]
    for number, tree in enumerate(trees):
        processor, wall = (statistics.median(r[number][i] for r in rounds) for i in (0, 1))
        sys.stdout.write(f"{tree.name} | processor {processor:.2f} s | wall {wall:.2f} s\n")
    if len(trees) > 1:
        ratios = sorted(r[0][0] / r[1][0] for r in rounds)
        sys.stdout.write(f"processor, this by the other: {statistics.median(ratios):.2f}\n")


if __name__ == "__main__":
    main()
