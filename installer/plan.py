"""The goals of setup, the pinned files that each of them needs, the pinned version of torch, and
the supported versions of Python.

Invariant: the versions and hashes are in installer/pins/, written by `make requirements`; torch's
version is here too, because its build is chosen by the hardware when it is installed.
"""

from enum import Enum
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PINS = ROOT / "installer" / "pins"
VENV = ROOT / ".venv"
TORCH = "torch==2.13.0"
OLDEST, TOO_NEW = (3, 11), (3, 14)  # of Python; setup.py, which imports nothing, has them too


class Goal(Enum):
    """The requested goal; every goal includes RUN."""

    RUN = "run"  # the assistant with window and sound
    DEMO = "demo"  # the loop without a display or sound card
    LLM = "llm"  # RUN and language models inside the process, compiled here
    TEST = "test"  # everything, and the tools of the checks

    @property
    def tools(self) -> tuple[str, ...]:
        """The files of pins that the goal needs beside those of RUN."""
        return {Goal.LLM: ("llm",), Goal.TEST: ("dev", "llm")}.get(self, ())
