"""A virtual sound card of the test's own, to be broken."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.audio.devices import portaudio
from tests.virtual_audio import VirtualAudio, missing_programs, virtual_audio


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> Iterator[VirtualAudio]:
    missing = missing_programs()
    if missing and not os.environ.get("CI"):
        pytest.skip(f"needs {', '.join(missing)}: apt install pulseaudio pulseaudio-utils")
    monkeypatch.setattr(portaudio._HOST, "looked_at", -1e9)  # it may look for devices at once
    # Not tmp_path: its name is too long for a socket.
    with tempfile.TemporaryDirectory(prefix="card") as folder:
        with virtual_audio(Path(folder)) as running:
            portaudio.refresh()
            yield running
        portaudio.refresh()


@pytest.fixture(autouse=True)
def own_data(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Voices and recordings of these engines lie where nobody keeps theirs."""
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path_factory.mktemp("data")))
