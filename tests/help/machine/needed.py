"""Skip or fail tests whose requirements the machine does not meet."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine.audio.devices import portaudio
from tests.help.machine.virtual_audio import VirtualAudio, missing_programs, virtual_audio


def need(missing: Sequence[str]) -> None:
    """Skip the test if anything is missing; fail it if $CI is set, as .ci/run does."""
    if missing:
        assert not os.environ.get("CI"), f"needs {', '.join(missing)}"
        pytest.skip(f"needs {', '.join(missing)}")


@contextmanager
def own_card() -> Iterator[VirtualAudio]:
    """Yield a virtual sound card whose devices the engine has found. Skip the test if it cannot
    run.
    """
    need(missing_programs())
    # Not tmp_path: its name is too long for a socket.
    with tempfile.TemporaryDirectory(prefix="card") as folder:
        with virtual_audio(Path(folder)) as card:
            portaudio.refresh()  # it may have started before the card was there
            yield card
        portaudio.refresh()
