"""The virtual sound card for device tests: one for all of them, started when first asked for."""

from collections.abc import Iterator

import pytest

from tests.help.machine.needed import own_card
from tests.help.machine.virtual_audio import VirtualAudio


@pytest.fixture(scope="session")
def shared_card() -> Iterator[VirtualAudio]:
    with own_card() as running:
        yield running
