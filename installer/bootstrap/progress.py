"""The progress of an installation, for the terminal or a small window.

Invariant: if a viewer disappears, the installation continues; a viewer can only ask it to stop.
"""

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from installer.commands import DROPPED, NO_WINDOW, SetupError

FAILED = "failed"  # the detail that marks the last title as the reason of a failure
CANCELLED = 3  # the window's exit status after Cancel was pressed or it was closed


class Cancelled(SetupError):
    """The user cancelled; fetched files are kept."""

    def __init__(self) -> None:
        super().__init__("The installation was stopped. The downloads are kept for the next time.")


class View(Protocol):
    def show(self, part: float, title: str, detail: str) -> None: ...


class Words:
    """For a terminal: one line for each step, with uv's output indented below."""

    def __init__(self) -> None:
        self._last = ""

    def show(self, part: float, title: str, detail: str) -> None:
        if detail == FAILED:  # printed again at the end
            return
        if title != self._last:
            self._last = title
            print(f"{part:4.0%}  {title}", flush=True)
        if detail:
            print(f"      {detail}", flush=True)


def as_json(part: float, title: str, detail: str) -> str:
    """Return a line for the window: {"part": 0 to 1, "title": ..., "detail": ...}."""
    return json.dumps({"part": round(part, 3), "title": title, "detail": detail}) + "\n"


@dataclass
class Progress:
    """`view` gets every change; open_window() adds a window for users without a terminal."""

    view: View = field(default_factory=Words)
    steps: Callable[[str], None] = lambda name: None  # called before each step
    _part: float = 0.0
    _title: str = ""
    _window: "subprocess.Popen[str] | None" = None
    _running: "subprocess.Popen[str] | None" = None
    _cancelled: bool = False
    window_gone: threading.Event = field(default_factory=threading.Event)

    def step(self, name: str, part: float, title: str) -> None:
        """Begin a step when `part`, 0 to 1, of all work is done. Cancelled by the user."""
        self.check()
        self.steps(name)
        self._part, self._title = part, title
        self._tell("")

    def detail(self, line: str) -> None:
        if line.strip() and not DROPPED.match(line):
            self._tell(line.strip()[:200])

    def check(self) -> None:
        if self._cancelled:
            raise Cancelled

    def watch(self, process: "subprocess.Popen[str] | None") -> None:
        """Register the program that runs for this step; it is ended if the user cancels."""
        self._running = process
        if self._cancelled and process is not None:
            process.terminate()

    def cancel(self) -> None:
        self._cancelled = True
        if (running := self._running) is not None:
            running.terminate()

    def open_window(self, command: list[str], env: dict[str, str]) -> None:
        """Start a program that shows its input, and cancel when it says so. If it cannot be
        started, the installation continues without it.
        """
        try:
            self._window = subprocess.Popen(
                command,
                env=env,
                stdin=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                creationflags=NO_WINDOW,
            )
        except OSError:
            return
        threading.Thread(target=self._await_window, daemon=True).start()
        self._tell("")

    def close_window(self) -> None:
        window, self._window = self._window, None
        if window is None:
            return
        if window.stdin is not None:
            with contextlib.suppress(OSError):  # it is gone
                window.stdin.close()
        window.wait()

    def failed(self, sentence: str) -> None:
        """Show why the installation failed until the window is closed."""
        self._title = sentence
        self._tell(FAILED)

    def _await_window(self) -> None:
        window = self._window
        if window is not None and window.wait() == CANCELLED:
            self.cancel()
        self.window_gone.set()

    def _tell(self, detail: str) -> None:
        self.view.show(self._part, self._title, detail)
        if self._window is not None and self._window.stdin is not None:
            try:
                self._window.stdin.write(as_json(self._part, self._title, detail))
                self._window.stdin.flush()
            except OSError:  # it is gone: the installation continues
                with contextlib.suppress(OSError):
                    self._window.stdin.close()
                self._window.stdin = None


def has_display() -> bool:
    """Return whether a window can be shown."""
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
