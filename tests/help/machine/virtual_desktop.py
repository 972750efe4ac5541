"""A private display for tests (Xvfb), on which keys can be pressed, optionally with a window
manager.

Invariant: the person's display is never touched; everything that is started here ends with its
context.
"""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from shutil import which

_PROGRAMS = ("Xvfb", "xdotool", "openbox", "trayer")


def missing_programs() -> tuple[str, ...]:
    """Return the programs that virtual_desktop() needs and that are not installed."""
    return tuple(program for program in _PROGRAMS if which(program) is None)


class VirtualDesktop:
    """A running display, called `name`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._started: list[subprocess.Popen[bytes]] = []

    @property
    def environment(self) -> dict[str, str]:
        """For a program that is to be seen on it, and on no other."""
        others = {k: v for k, v in os.environ.items() if k not in ("WAYLAND_DISPLAY", "XAUTHORITY")}
        return {**others, "DISPLAY": self.name, "QT_QPA_PLATFORM": "xcb"}

    def xdotool(self, *words: str) -> str:
        done = subprocess.run(
            ["xdotool", *words],
            env=self.environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=30,
        )
        return done.stdout

    def is_gone_within(self, seconds: float, *window: str) -> bool:
        """Whether no window that xdotool would find so is visible any more."""
        asked = ["xdotool", "search", "--onlyvisible", *window]
        for _ in range(int(10 * seconds)):
            if not self._answers(asked):
                return True
            time.sleep(0.1)
        return False

    def start(self, *command: str) -> None:
        quiet = subprocess.DEVNULL
        self._started.append(
            subprocess.Popen(command, env=self.environment, stdout=quiet, stderr=quiet)
        )

    def start_window_manager(self) -> None:
        """And wait for it: a window that is there before it does not get the focus from it."""
        self.start("openbox", "--sm-disable")
        for _ in range(300):
            if self._answers(["xdotool", "get_num_desktops"]):  # not while none is there
                return
            time.sleep(0.1)
        raise AssertionError("openbox did not start")

    def _answers(self, asked: list[str]) -> bool:
        done = subprocess.run(asked, env=self.environment, capture_output=True, check=False)
        return done.returncode == 0

    def stop_all(self) -> None:
        for process in self._started:
            process.kill()
            process.wait()


@contextmanager
def virtual_desktop() -> Iterator[VirtualDesktop]:
    """Start the display; the server itself picks a free name. Without -noreset it would restart
    whenever its last program leaves, and disconnect a program that is just connecting.
    """
    read, write = os.pipe()
    screen = ("-screen", "0", "1280x800x24", "-nolisten", "tcp", "-noreset")
    command = ["Xvfb", "-displayfd", str(write), *screen]
    server = subprocess.Popen(
        command, pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    os.close(write)
    with os.fdopen(read) as told:
        number = told.readline().strip()
    assert number, "Xvfb did not start"
    desktop = VirtualDesktop(f":{number}")
    try:
        yield desktop
    finally:
        desktop.stop_all()
        server.kill()
        server.wait()
