"""What holds for every test file."""

import asyncio
import gc
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

import engine  # noqa: F401 - switches telemetry off before a test imports what has some
from tests.help.process.left_running import Running, SharedFixtures, note_tasks
from tests.help.process.own_process import pytest_configure, pytest_runtest_protocol  # noqa: F401 - hooks
from tests.help.process.sharing import pytest_collection_modifyitems, pytest_xdist_make_scheduler  # noqa: F401 - hooks

if TYPE_CHECKING:
    from tests.engine.assets.hub import Hub
    from tests.help.machine.virtual_audio import VirtualAudio

# Dozens of tests start the program in a process of its own. Where Python is told to keep no
# bytecode, each would compile all that it imports again, which takes longer than most tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# No test reads or writes the settings and names of whoever runs it.
CONFIG = tempfile.TemporaryDirectory(prefix="rubato-tests-")
os.environ["RUBATO_CONFIG"] = CONFIG.name

# What the program does may depend on the system's language, but no test on that of this machine.
os.environ["LANGUAGE"] = "en"

# A law is about what comes out; how long it takes tells what else the machine is doing. The same
# examples every time, or a change is judged by luck; `pytest --hypothesis-profile=search` looks for
# others, and what it finds is written down as an @example.
settings.register_profile("house", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None, derandomize=False)
settings.load_profile("house")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Nearly all that is made while tests are collected stays; to search it for what nobody reaches
    takes a quarter of that time.
    """
    gc.disable()
    session.config.pluginmanager.register(SharedFixtures())


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A person's data folder, not made yet."""
    return tmp_path / "data"


@pytest.fixture
def hub(data: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator["Hub"]:
    """The hub of models, on loopback, for that folder."""
    from tests.engine.models.small_catalogue import small_hub

    with small_hub(data, monkeypatch) as served:
        yield served


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> Iterator["VirtualAudio"]:
    """A virtual sound card of the test's own, to be broken; new devices are found at once."""
    from engine.audio.devices import portaudio
    from tests.help.machine.needed import own_card

    monkeypatch.setattr(portaudio._HOST, "looked_at", -1e9)
    with own_card() as running:
        yield running


@pytest.fixture(scope="module", autouse=True)
def the_formant_voice_is_given_back() -> Iterator[None]:
    """libespeak-ng has one owner in a process: a file that keeps it breaks those behind it."""
    yield
    library = sys.modules.get("engine.tts.espeak.library")
    held = library.Espeak._held if library else None
    assert held is None or not held._claims, f"still claimed by {held._owner.name}"


@pytest.fixture(autouse=True)
def a_test_leaves_nothing_running() -> Iterator[None]:
    """Threads, child processes and tasks end with the test that started them; what its file or
    folder shares is there before it begins.
    """
    running = SharedFixtures.running = Running()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asyncio.runners, "_cancel_all_tasks", note_tasks(running.tasks.append))
        yield
    if left := running.left():
        pytest.fail(f"left running: {'; '.join(left)}")


@pytest.fixture(autouse=True)
def a_test_computes_on_one_thread() -> Iterator[None]:
    """A model that is loaded sets for the whole process on how many threads torch computes. Two in
    each of two processes wait for each other: then tests of a second take half a minute.
    """
    _compute_on_one_thread()
    yield
    _compute_on_one_thread()


def _compute_on_one_thread() -> None:
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)
