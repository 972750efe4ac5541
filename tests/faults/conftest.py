"""A virtual sound card of the test's own, to be broken."""

from collections.abc import Iterator

import pytest

from engine.audio.devices import portaudio
from tests.needed import own_card
from tests.virtual_audio import VirtualAudio


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> Iterator[VirtualAudio]:
    monkeypatch.setattr(portaudio._HOST, "looked_at", -1e9)  # it may look for devices at once
    with own_card() as running:
        yield running


@pytest.fixture(autouse=True)
def own_data(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Voices and recordings of these engines lie where nobody keeps theirs."""
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path_factory.mktemp("data")))
