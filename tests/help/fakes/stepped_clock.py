"""A clock that tests step by hand."""


class SteppedClock:
    """A clock that stands still until advance() is called, from any thread."""

    def __init__(self) -> None:
        self._now = 0.0

    def __call__(self) -> float:
        return self._now

    def advance(self, seconds: float) -> None:
        if seconds < 0:
            raise ValueError(f"time does not go back, got {seconds}")
        self._now += seconds
