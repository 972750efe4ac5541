"""libespeak-ng, claimed for one test."""

from collections.abc import Iterator

import pytest

from engine.tts.espeak.library import Espeak


@pytest.fixture
def espeak() -> Iterator[Espeak]:
    claimed = Espeak.claim()
    yield claimed
    claimed.release()
