"""Reached by its tray, by the command line, by a second start, and after a crash."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from queue import Empty, Queue
from threading import Thread

import pytest

from tests.end_to_end.program import ROOT, own_environment
from tests.help.machine import private_bus
from tests.help.machine.needed import need
from tests.help.machine.virtual_desktop import VirtualDesktop, missing_programs, virtual_desktop

pytestmark = [pytest.mark.device, pytest.mark.slow]
PATIENCE_S = 60.0
RUBATO = ("--name", "^Rubato$")  # its window, for xdotool
WATCHER = "org.kde.StatusNotifierWatcher"  # the tray of desktops with D-Bus


class Program:
    def __init__(self, environment: dict[str, str], *options: str) -> None:
        self._environment = environment
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.end_to_end.beyond", *options],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._lines: Queue[str] = Queue()
        self._reader = Thread(target=self._read, name="program's output")
        self._reader.start()

    def says(self, beginning: str) -> None:
        """Wait for a line that begins so; others before it are passed over."""
        while not self._lines.get(timeout=PATIENCE_S).startswith(beginning):
            pass

    def says_within(self, seconds: float, beginning: str) -> bool:
        """Whether the next line comes soon and begins so."""
        with suppress(Empty):
            return self._lines.get(timeout=seconds).startswith(beginning)
        return False

    def ends(self) -> int:
        status = self.process.wait(PATIENCE_S)
        self._reader.join(PATIENCE_S)
        return status

    def kill(self) -> None:
        self.process.kill()
        self.ends()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as out:
            for line in out:
                self._lines.put(line.strip())


class Desktop:
    def __init__(self, display: VirtualDesktop, folder: Path) -> None:
        self.display = display
        self.environment = {
            **display.environment,
            **own_environment(folder),
            "XDG_RUNTIME_DIR": str(folder),
            "OMP_NUM_THREADS": "1",
        }
        self.environment.pop("DBUS_SESSION_BUS_ADDRESS", None)
        self.programs: list[Program] = []

    def start(self, *options: str) -> Program:
        self.programs.append(Program(self.environment, *options))
        return self.programs[-1]

    def rubato(self, *words: str) -> int:
        command = [sys.executable, "-m", "app", *words]
        return subprocess.run(
            command, cwd=ROOT, env=self.environment, timeout=PATIENCE_S, check=False
        ).returncode

    def show_tray(self) -> None:
        """Its first icon is then at (12, 12)."""
        self.display.start("trayer", "--edge", "top", "--align", "left")

    def close_window(self) -> None:
        """By the key of the desktop, until the window has gone: openbox misses the key while it
        learns the keyboard anew, which the first key pressed on a display makes it do.
        """
        window = self.display.xdotool("search", "--sync", "--onlyvisible", *RUBATO).split()[0]
        self.display.xdotool("windowactivate", "--sync", window)
        for _ in range(int(PATIENCE_S)):
            self.display.xdotool("key", "alt+F4")
            if self.display.is_gone_within(1.0, *RUBATO):
                return
        raise AssertionError("the window did not close")

    def click_until_heard(self, program: Program) -> None:
        """Stop the reply at the icon, which appears some seconds after the tray."""
        for _ in range(int(PATIENCE_S)):
            self.display.xdotool("mousemove", "12", "12", "click", "2")
            if program.says_within(1.0, "StopReply"):
                return
        raise AssertionError("the icon did not react")


@pytest.fixture
def desktop() -> Iterator[Desktop]:
    need(missing_programs())
    with tempfile.TemporaryDirectory(prefix="beyond") as name, virtual_desktop() as display:
        display.start_window_manager()
        made = Desktop(display, Path(name))
        try:
            yield made
        finally:
            for program in made.programs:
                program.kill()


def test_a_tray_that_comes_late_does_all_that_a_window_does_which_closing_then_only_hides(desktop):
    program = desktop.start()
    program.says("window shown")
    desktop.show_tray()
    desktop.click_until_heard(program)
    desktop.display.xdotool("click", "1")
    program.says("window hidden")
    assert desktop.rubato() == 0  # a second start brings it back
    program.says("window shown")
    desktop.close_window()
    program.says("window hidden")
    for words, command in (
        (("talk", "press"), "PressTalk()"),
        (("talk", "release"), "ReleaseTalk()"),
        (("say", "--in-window", "The washing is done."), "Speak(text='The washing is done.'"),
    ):
        assert desktop.rubato(*words) == 0
        program.says(command)


def test_without_a_tray_closing_ends_it_and_after_a_kill_it_starts_again_and_is_reached(desktop):
    program = desktop.start()
    program.says("window shown")
    desktop.close_window()
    assert program.ends() == 0
    assert desktop.rubato("stop") == 1
    first = desktop.start()
    first.says("window shown")
    first.kill()
    assert desktop.rubato("stop") == 1
    second = desktop.start()
    second.says("window shown")
    assert desktop.rubato("stop") == 0
    second.says("StopReply(by_escape=False)")


def test_a_hidden_start_has_the_talk_key_and_is_minimised_until_the_tray_comes(desktop):
    program = desktop.start("--start-hidden", "--talk-key")
    program.says("window minimised")
    assert desktop.rubato("stop") == 0  # answered: it has grabbed the key before
    program.says("StopReply")
    desktop.display.xdotool("keydown", "F9")  # while another program has the focus
    program.says("PressTalk()")
    desktop.display.xdotool("keyup", "F9")
    program.says("ReleaseTalk()")
    desktop.show_tray()
    program.says("window hidden")
    assert desktop.rubato("--start-hidden") == 0  # at another login: it stays where it is
    assert desktop.rubato("faster") == 0
    program.says("speech.rate 4.5")  # half a syllable more than the plain pace
    assert desktop.rubato("show") == 0
    program.says("window shown")


def test_a_tray_on_the_bus_that_comes_late_gets_the_icon(desktop):
    assert not private_bus.is_missing(), "needs dbus-daemon"
    with private_bus.private_bus(Path(desktop.environment["XDG_RUNTIME_DIR"])) as address:
        desktop.environment["DBUS_SESSION_BUS_ADDRESS"] = address
        program = desktop.start("--start-hidden")
        program.says("window minimised")
        there = {"IsStatusNotifierHostRegistered": ("b", True)}
        watcher = private_bus.Service(
            address,
            WATCHER,
            {
                "org.freedesktop.DBus.Properties.Get": lambda message: ("v", (("b", True),)),
                "org.freedesktop.DBus.Properties.GetAll": lambda message: ("a{sv}", (there,)),
                f"{WATCHER}.RegisterStatusNotifierItem": lambda message: ("", ()),
            },
        )
        program.says("window hidden")
        calls = iter(lambda: private_bus.member_of(watcher.next_call(PATIENCE_S)), None)
        assert "RegisterStatusNotifierItem" in calls
        watcher.leave()
