"""The virtual sound card for device tests: one for all of them, started when first asked for."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.audio.devices import portaudio
from tests.virtual_audio import VirtualAudio, missing_programs, virtual_audio


@pytest.fixture(scope="session")
def shared_card() -> Iterator[VirtualAudio]:
    missing = missing_programs()
    if missing and not os.environ.get("CI"):
        pytest.skip(f"needs {', '.join(missing)}: apt install pulseaudio pulseaudio-utils")
    # Not tmp_path: its name is too long for a socket.
    with tempfile.TemporaryDirectory(prefix="card") as folder:
        with virtual_audio(Path(folder)) as card:
            portaudio.refresh()  # it may have started before the card was there
            yield card
        portaudio.refresh()


@pytest.fixture
def card() -> Iterator[VirtualAudio]:
    """A card of the test's own, to be broken."""
    missing = missing_programs()
    if missing and not os.environ.get("CI"):
        pytest.skip(f"needs {', '.join(missing)}: apt install pulseaudio pulseaudio-utils")
    with tempfile.TemporaryDirectory(prefix="card") as folder:
        with virtual_audio(Path(folder)) as card:
            portaudio.refresh()
            yield card
        portaudio.refresh()
