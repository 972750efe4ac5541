"""Rubato as a person starts it: a process of its own, with settings and models of nobody.

Invariant: nothing of the person who runs the tests is read or written.
"""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.help.machine.needed import need

ROOT = Path(__file__).parents[2]
STORY_S = 280.0  # a story takes under 30 s on a machine that has nothing else to do
PATIENCE_S = 150.0  # models load, and a file is heard in real time


@dataclass(frozen=True)
class Done:
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.status == 0, self.err
        return json.loads(self.out)


def play(story: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a story, a module of this folder, on a display of its own; its last argument is the
    folder it may write to.
    """
    need([name for name in ("Xvfb", "xvfb-run") if not shutil.which(name)])
    screen = ["xvfb-run", "--auto-servernum", "--server-args=-screen 0 1400x1000x24"]
    own = own_environment(Path(arguments[-1]))
    return subprocess.run(
        [*screen, sys.executable, "-m", story, *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, **own, "QT_QPA_PLATFORM": "xcb"},
        capture_output=True,
        text=True,
        timeout=STORY_S,
        check=False,
    )


def own_environment(folder: Path) -> dict[str, str]:
    """Where this run's settings and models are, under `folder`. The formant voice speaks unless the
    settings there say otherwise: it sounds alike on every machine, with and without a voice pack.
    """
    settings = folder / "config" / "settings.toml"
    if not settings.exists():
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text('[speech]\nengine = "espeak"\n', encoding="utf-8")
    own = {"RUBATO_CONFIG": "config", "RUBATO_DATA": "data", "XDG_CACHE_HOME": "cache"}
    return {name: str(folder / place) for name, place in own.items()}


def rubato(folder: Path, *arguments: str | Path, stdin: str = "") -> Done:
    done = subprocess.run(
        [sys.executable, "-m", "app", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, **own_environment(folder), "OMP_NUM_THREADS": "1"},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)
