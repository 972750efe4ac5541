"""What holds for every test file."""

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def the_formant_voice_is_given_back() -> Iterator[None]:
    """libespeak-ng has one owner in a process: a file that keeps it breaks those behind it."""
    yield
    library = sys.modules.get("engine.tts.espeak.library")
    held = library.Espeak._held if library else None
    assert held is None or not held._claims, f"still claimed by {held._owner.name}"
