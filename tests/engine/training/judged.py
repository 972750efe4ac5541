"""A result to change one thing of."""

from typing import Any

from engine.training.evaluation.results import Result


def judged(**changed: Any) -> Result:
    """Two words said perfectly by Ada in a second."""
    plain: dict[str, Any] = {
        "voice": "Ada", "text": "Good morning.", "rate": 4.0, "ended": True, "wrong": 0,
        "heard": "good morning", "heard_whisper": "Good morning.", "naturalness": None,
        "gap": 0, "switched": None, "onsets": (), "starts": (),
    }  # fmt: skip
    return Result(**{**plain, **changed})
