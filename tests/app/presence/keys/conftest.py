"""What a source of keys tells, kept."""

from collections.abc import Callable

import pytest

from app.presence.keys.global_keys import KeySource


class Told:
    def __init__(self, source: KeySource) -> None:
        self.keys: list[str] = []
        self.lost: list[str] = []
        self.bound: list[str] = []
        source.pressed.connect(lambda action: self.keys.append(f"{action.value} down"))
        source.released.connect(lambda action: self.keys.append(f"{action.value} up"))
        source.lost.connect(self.lost.append)
        source.bound.connect(self.bound.append)


@pytest.fixture
def hear() -> Callable[[KeySource], Told]:
    return Told
