"""What tests of several synthesisers share."""

import pytest

from engine.audio.clips.clip import Clip
from engine.tts.voxtream.files.pack import _formant_clip


@pytest.fixture
def no_sleep(monkeypatch) -> None:
    """A step never sleeps."""

    def refuse_to_sleep(seconds: float) -> None:
        raise AssertionError("a step must never sleep")

    monkeypatch.setattr("time.sleep", refuse_to_sleep)


@pytest.fixture(scope="session")
def speech() -> Clip:
    """Some seconds of the formant voice."""
    return _formant_clip()
