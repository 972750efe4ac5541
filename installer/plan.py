"""What setup aims at: the goals, the pinned files each of them needs, and the one pin of torch.

Invariant: versions of everything but torch stand in installer/pins/, made by `make requirements`;
torch's stands here, because its build is chosen by the hardware when it is installed.
"""

from enum import Enum
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PINS = ROOT / "installer" / "pins"
VENV = ROOT / ".venv"
TORCH = "torch==2.13.0"


class Goal(Enum):
    """What the person asked for; every goal includes RUN."""

    RUN = "run"  # the assistant with window and sound
    DEMO = "demo"  # the loop without a display or sound card
    LLM = "llm"  # RUN and language models inside the process, compiled here
    TEST = "test"  # all of it and the tools of the checks

    @property
    def needs_llm(self) -> bool:
        return self in (Goal.LLM, Goal.TEST)

    @property
    def needs_dev(self) -> bool:
        return self is Goal.TEST
