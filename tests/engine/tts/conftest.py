"""What tests of several synthesisers share."""

import pytest


@pytest.fixture
def no_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step never sleeps."""

    def refuse_to_sleep(seconds: float) -> None:
        raise AssertionError("a step must never sleep")

    monkeypatch.setattr("time.sleep", refuse_to_sleep)
