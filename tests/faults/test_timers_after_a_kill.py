"""Timers set by keys in the real program, which is then killed: the next start counts on, and tells
what ended meanwhile.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import at_spi, private_bus
from tests.at_spi import Reader
from tests.end_to_end.program import ROOT, own_environment
from tests.needed import need
from tests.virtual_desktop import VirtualDesktop, missing_programs, virtual_desktop

pytestmark = [pytest.mark.device, pytest.mark.slow]

PATIENCE_S = 60.0
SHORT_S = 60  # of the timer that ends while nobody runs
LATE_S = 6.0  # from five on it is told how late it comes
SAID = (
    "set a timer for ten minutes called tea",
    "pasta timer for half an hour",
    "set an alarm for seven in the morning",
    f"set an egg timer for {SHORT_S} seconds",
)


@dataclass(frozen=True)
class Kill:
    """What was there before it, and what a screen reader found after the next start."""

    before: dict[str, dict[str, Any]]  # the file's timers by label
    after: dict[str, dict[str, Any]]
    told: str
    cards: dict[str, tuple[float, float]]  # by label: the time left as shown, and as it must be


@pytest.fixture(scope="module")
def kill() -> Iterator[Kill]:
    need(missing_programs())
    if at_spi.is_missing() or private_bus.is_missing():
        need(("at-spi2-core", "dbus-daemon"))
    with tempfile.TemporaryDirectory(prefix="kill") as name, virtual_desktop() as display:
        yield story(Path(name), display)


def story(folder: Path, display: VirtualDesktop) -> Kill:
    with rubato(folder, display) as reader:
        reader.window("Rubato")
        for count, sentence in enumerate(SAID, 1):
            display.xdotool("type", "--delay", "20", sentence)
            display.xdotool("key", "Return")
            until(lambda count=count: len(saved(folder)) == count, sentence)
        end_s = time.monotonic() + SHORT_S  # of the egg timer
    end_s -= let_pass(folder, SHORT_S + LATE_S)
    before = saved(folder)
    with rubato(folder, display) as reader:
        told = next(text for text in iter(reader.next_announcement, "") if "egg" in text)
        cards = {}
        for name, left_s, read_s in shown(reader):
            label = next(label for label in before if label.split()[-1] in name.lower())
            after_egg_s = before[label]["due"] - before["egg"]["due"]
            cards[label] = (left_s, after_egg_s + end_s - read_s)
        return Kill(before, saved(folder), told, cards)


@contextmanager
def rubato(folder: Path, display: VirtualDesktop) -> Iterator[Reader]:
    """The program as a person starts it, a screen reader beside it, and SIGKILL for all of it."""
    with ExitStack() as stack:
        run = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kill")))
        environment = {
            **display.environment,
            **own_environment(folder),
            "DBUS_SESSION_BUS_ADDRESS": stack.enter_context(private_bus.private_bus(run)),
            "XDG_RUNTIME_DIR": str(run),
            "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
            "OMP_NUM_THREADS": "1",
            "LC_ALL": "C.UTF-8",
        }
        reader = stack.enter_context(at_spi.at_spi(environment))
        program = subprocess.Popen(
            [sys.executable, "-m", "app"], cwd=ROOT, env=environment, start_new_session=True
        )
        try:
            yield reader
        finally:
            assert program.poll() is None, "it ended by itself"
            os.killpg(program.pid, signal.SIGKILL)
            program.wait()


def saved(folder: Path) -> dict[str, dict[str, Any]]:
    path = folder / "data" / "timers.json"
    timers = json.loads(path.read_text())["timers"] if path.exists() else []
    return {timer["label"]: timer for timer in timers}


def let_pass(folder: Path, seconds: float) -> float:
    """As if so long had passed since: everything is due so much earlier."""
    path = folder / "data" / "timers.json"
    file = json.loads(path.read_text())
    for timer in file["timers"]:
        timer["due"] -= seconds
    path.write_text(json.dumps(file))
    return seconds


def shown(reader: Reader) -> Iterator[tuple[str, float, float]]:
    """Each card's name, the seconds left on it, and when they were read."""
    for card in reader.everything(reader.window("Rubato")):
        for part in reader.children(card):
            face, _, left = reader.name(part).partition(" ")
            if left == "left":
                yield reader.name(card), seconds(face), time.monotonic()


def seconds(face: str) -> float:
    """ "1:02:05" """
    whole = 0
    for part in face.split(":"):
        whole = 60 * whole + int(part)
    return float(whole)


def until(is_so: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def test_the_timers_go_on_to_the_same_moment(kill: Kill) -> None:
    assert set(kill.before) == {"tea", "pasta", "7:00 AM alarm", "egg"}
    assert kill.after == {label: each for label, each in kill.before.items() if label != "egg"}


def test_their_cards_count_down_to_it(kill: Kill) -> None:
    assert set(kill.cards) == {"tea", "pasta", "7:00 AM alarm"}
    for shown_s, wanted_s in kill.cards.values():
        assert shown_s == pytest.approx(wanted_s, abs=3.0)


def test_the_one_that_ended_meanwhile_is_told_with_how_late_it_comes(kill: Kill) -> None:
    assert kill.told.startswith("Your egg timer is done. This comes ")
    assert kill.told.endswith(" seconds late.")
