"""A verdict to change one thing of."""

from typing import Any

from engine.training.corpus.matching import Gaps
from engine.training.evaluation.verdicts import Verdict


def verdict(**changed: Any) -> Verdict:
    """Two words said perfectly by Ada in a second."""
    plain: dict[str, Any] = {
        "talker": "Ada", "text": "Good morning.", "seconds": 1.0, "rate": 4.0, "ended": True,
        "cpu_seconds": 0.1, "first_ms": 40.0, "switched": None, "onsets": (0.1, 0.4),
        "starts": (0.1, 0.45), "heard": "good morning", "heard_open": "good morning",
        "heard_whisper": "Good morning.", "wrong": 0,
        "gaps": Gaps(1, 0), "naturalness": None,
    }  # fmt: skip
    return Verdict(**{**plain, **changed})
