"""What a test needs of the machine, and what becomes of it where that is missing."""

import os
from collections.abc import Sequence

import pytest


def need(missing: Sequence[str]) -> None:
    """Skip the test if anything is missing; where $CI is set, as .ci/run does, fail it."""
    if missing:
        assert not os.environ.get("CI"), f"needs {', '.join(missing)}"
        pytest.skip(f"needs {', '.join(missing)}")
