"""Killed in the middle of a change: the next start finds all that was there, and goes on."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import chain, islice
from pathlib import Path

import psutil
import pytest

from engine import api
from engine.tts import voices
from engine.tts.voice_store import VoiceStore
from tests.engine.assets.hub import Hub
from tests.engine.models.small_catalogue import FILE_BYTES, small_hub
from tests.engine.runtime.workers.test_model_manager import working
from tests.engine.tts.test_voice_store import GRANDMA, ROSTER, speech
from tests.faults.whole import PATIENCE_S, Told

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")

ROOT = Path(__file__).parents[2]
MODEL = "qwen3-4b"
HELD_AT = 100_000  # bytes

FETCHES = f"""
import sys
from pathlib import Path
import psutil
import pytest
from app import __main__ as program
from engine import api
from tests.engine.models.small_catalogue import small_catalogue
from tests.engine.runtime.workers.test_model_manager import Desk

def main():
    with small_catalogue(Path(sys.argv[1]), pytest.MonkeyPatch()):
        desk = Desk()
        desk.model_manager.start()
        desk.post(api.FetchModels(({MODEL!r},)))
        sys.stdin.read()
        desk.model_manager.stop(0.1)
        return 0

program.main, program.LAST_WAIT_S = main, 0.1
program.start()
"""


@contextmanager
def fetching(data: Path) -> Iterator[subprocess.Popen[str]]:
    """A program that fetches from the hub of the environment; it quits when its input ends."""
    command = [sys.executable, "-c", FETCHES, str(data)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stderr=pipe, text=True) as child:
        try:
            Told().wait(lambda: partial_bytes(data) > HELD_AT / 2)
            yield child
        finally:
            child.kill()


def partial_bytes(data: Path) -> int:
    return sum(path.stat().st_size for path in data.rglob("*.partial"))


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """Silent after a third of a file."""
    with small_hub(tmp_path, monkeypatch) as served:
        served.hold_at = HELD_AT
        yield served


def test_a_fetch_that_was_killed_is_listed_and_goes_on_where_it_stopped(hub, tmp_path):
    with fetching(tmp_path) as child:
        child.send_signal(signal.SIGKILL)
        assert child.wait(PATIENCE_S) == -signal.SIGKILL
    begun = partial_bytes(tmp_path)
    assert 0 < begun <= HELD_AT
    hub.hold_at = None
    hub.let_go.set()
    with working() as desk:
        assert desk.entry(MODEL).state is api.Presence.PARTIAL
        desk.post(api.FetchModels((MODEL,)))
        assert not desk.settled(MODEL).failed
        assert desk.entry(MODEL).state is api.Presence.COMPLETE
    assert any(request.endswith(f"bytes={begun}-") for request in hub.requests)
    assert partial_bytes(tmp_path) == 0


def test_who_quits_while_the_hub_is_silent_does_not_wait_for_it(hub, tmp_path):
    with fetching(tmp_path) as child:
        _, told = child.communicate("", timeout=PATIENCE_S)  # closes its input
    assert child.returncode == 0
    assert "fetching is still busy; leaving without it" in told
    assert 0 < partial_bytes(tmp_path) < FILE_BYTES


# Change after change, in a process forked off for each: ends like a killed process before the step
# on the disk of the given number. Tells every exit status.
CHANGES = """
import os, signal, sys
from pathlib import Path
from tests.faults.test_kills import change

def counted(original):
    def step(*given, **named):
        global steps
        steps -= 1
        if steps < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return original(*given, **named)
    return step

for place, name in ((Path, "replace"), (Path, "unlink"), (os, "replace"), (os, "fsync")):
    setattr(place, name, counted(getattr(place, name)))
for kind, steps, folder in (each.split(" ", 2) for each in sys.argv[1:]):
    steps = int(steps)
    if child := os.fork():
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    else:
        change(kind, Path(folder))
        os._exit(0)
"""
DONE = {"rename": {"Oma"}, "import": {"Grandma", "Oma"}, "remove": set()}
STEPS = 12  # more than any change has


def change(kind: str, folder: Path) -> None:
    store = VoiceStore(ROSTER, folder)
    match kind:
        case "rename":
            store.rename("Grandma", "Oma")
        case "import":
            store.read_in(folder.parent / "out.safetensors", "Oma")
        case "remove":
            store.remove("Grandma")


def changed(folders: dict[str, list[Path]]) -> dict[str, list[int]]:
    """Exit statuses of each change that is killed after 0, 1, 2 ... steps."""
    wanted = [
        f"{kind} {steps} {folder}"
        for kind, places in folders.items()
        for steps, folder in enumerate(places)
    ]
    command = [sys.executable, "-c", CHANGES, *wanted]
    done = subprocess.run(command, cwd=ROOT, timeout=PATIENCE_S, stdout=subprocess.PIPE, check=True)
    statuses = map(int, done.stdout.split())
    return {kind: list(islice(statuses, len(places))) for kind, places in folders.items()}


def made(folder: Path) -> set[str]:
    """The voices a person made, each whole with its recording."""
    found = {card.name: card for card in VoiceStore(ROSTER, folder).entries() if not card.own}
    assert all(card.clip_s == 2.0 and card.usable for card in found.values())
    return set(found)


def test_a_change_of_a_voice_that_was_killed_loses_none_and_can_be_made_again(tmp_path):
    folders = {
        kind: [tmp_path / kind / f"{steps}" / "voices" for steps in range(STEPS)] for kind in DONE
    }
    for folder in chain.from_iterable(folders.values()):
        voices.save(GRANDMA, folder, speech())
        VoiceStore(ROSTER, folder).export("Grandma", folder.parent / "out.safetensors")
    for kind, statuses in changed(folders).items():
        kills = statuses.index(0)
        assert kills > 0
        assert statuses == [-signal.SIGKILL] * kills + [0] * (STEPS - kills)
        for folder in folders[kind][:kills]:
            store = VoiceStore(ROSTER, folder)
            there = made(folder) | set(store.removed())
            assert there in ({"Grandma"}, {"Grandma", "Oma"}, {"Oma"})
            assert there >= {"Grandma"} or kind == "rename"
            if made(folder) != DONE[kind]:
                if "Oma" in made(folder):
                    store.remove("Oma")
                change(kind, folder)
            assert made(folder) == DONE[kind]
        assert made(folders[kind][kills]) == DONE[kind]


SLEEPS = "import time; time.sleep(600)"
LESSON = f"""
import sys
from app import __main__ as program
from engine.assets import packages

sleeps = [sys.executable, "-c", {SLEEPS!r}]
packages._command = lambda package, archive: sleeps
sys.argv = ["rubato", "wake", "--json"]
program.start()
"""


def client_of(pid: int) -> psutil.Process | None:
    """Other children of a program that begins are those of libraries, and brief."""
    with suppress(psutil.NoSuchProcess):
        for child in psutil.Process(pid).children():
            if SLEEPS in child.cmdline():
                return child
    return None


def test_a_lesson_that_is_told_to_end_leaves_nothing_half_fetched(tmp_path, monkeypatch):
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", LESSON], cwd=ROOT, text=True) as child:
        try:
            client = Told().wait(lambda: client_of(child.pid))
            child.terminate()
            assert child.wait(PATIENCE_S) == 130
        finally:
            child.kill()
    assert not client.is_running()
    assert list((tmp_path / "wake").iterdir()) == []
