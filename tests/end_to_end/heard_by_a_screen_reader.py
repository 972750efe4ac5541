"""The real window on a scripted engine that prints what it is asked: for whoever reads the screen.

Run: python -m tests.end_to_end.heard_by_a_screen_reader
"""

import sys
from collections.abc import Callable
from dataclasses import replace

from app import program
from engine.api import Command, Event, Failed, Notice, Part, SendText, Settings
from tests.fakes_engine import READY, FakeEngine, spoken_turn

FAULT = Failed("device", "The microphone was unplugged.", "Plug it in.", part=Part.MICROPHONE)
SCRIPT = (*READY, *spoken_turn(1, "What time is it?", "It is noon."))


class Printing(FakeEngine):
    """Says what it was told, a line each; a typed line is answered by a notice and a fault."""

    def post(self, command: Command) -> None:
        super().post(command)
        sys.stdout.write(f"{command}\n")
        sys.stdout.flush()
        if isinstance(command, SendText):
            self.emit(Notice("Timer set."))
            self.emit(FAULT)


def main() -> int:
    settings = replace(Settings(), window=replace(Settings().window, first_start=5))

    def make(chosen: Settings, emit: Callable[[Event], None]) -> Printing:
        return Printing(chosen, emit, script=SCRIPT)

    return program.run(settings, make)


if __name__ == "__main__":
    sys.exit(main())
