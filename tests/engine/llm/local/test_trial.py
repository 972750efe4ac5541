"""A new GGUF file is tried in a process of its own, by the real llama.cpp."""

import json
import os
import sys
from pathlib import Path

import psutil
import pytest

pytest.importorskip("llama_cpp", reason="the extra 'llm' is not installed")

from engine.errors import Cancelled, ModelError
from engine.llm.local import llama, trial
from engine.settings import LanguageModelSettings
from tests.engine.llm.cases import text
from tests.engine.llm.conftest import write_gguf
from tests.help.process.fresh_python import prints

TWO_THOUSAND_MILLION = str(2**31 - 1)
ENDS = {"<|assistant|>": "William", "William": " Shakespeare."}
pytestmark = pytest.mark.slow  # a child imports for a second


def long(value):
    """A case that make test leaves out."""
    return pytest.param(value, marks=pytest.mark.long)


class Watcher:
    """Progress that is remembered: the first word of every text told."""

    def __init__(self, *, until: str = "") -> None:
        self.told: dict[str, None] = {}
        self._until = until

    def __call__(self, text: str, fraction: float | None) -> None:
        doing = text.split()[0]
        self.told[doing] = None
        if doing == self._until:
            raise Cancelled("Enough.")


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The person's data folder."""
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def load(skills):
    """load(path): what is done to load a file; the model it becomes is closed after the test."""
    loaded = []

    def start(path: Path, watcher: Watcher | None = None) -> list[str]:
        watcher = watcher or Watcher()
        settings = LanguageModelSettings(
            "llama", model=str(path), context_tokens=512, temperature=0.0
        )
        loaded.append(llama.load(settings, skills, watcher))
        return list(watcher.told)

    start.loaded = loaded
    yield start
    for model in loaded:
        model.close()


def good(folder: Path, name: str = "good.gguf") -> Path:
    write_gguf(folder / name, ENDS)
    return folder / name


def test_a_new_file_is_checked_tried_and_loaded_and_the_next_time_loaded_at_once(
    load, tmp_path, asked, state
):
    path = good(tmp_path)
    assert load(path) == ["Trying", "Loading"]
    assert text(load.loaded[0].reply(asked, state)) == "William Shakespeare."
    assert load(path) == ["Loading"]


@pytest.mark.parametrize(
    "fault",
    ["0", *(long(fault) for fault in ("no byte tokens", "duplicate tokens", TWO_THOUSAND_MILLION))],
)
def test_a_file_that_makes_llama_cpp_crash_is_told_and_not_loaded(
    load, tmp_path, data, monkeypatch, fault
):
    write_gguf(tmp_path / "bad.gguf", fault=fault)
    (tmp_path / "psutil.py").write_text("raise SystemExit(0)")  # what lies about passes nothing
    monkeypatch.chdir(tmp_path)
    watcher = Watcher()
    with pytest.raises(ModelError, match=r"bad\.gguf was not loaded.* crash \(") as caught:
        load(Path("bad.gguf"), watcher)
    assert caught.value.hint
    assert list(watcher.told) == ["Trying"]
    assert not (data / trial.RECORD).exists()


def test_an_ordinary_fault_is_told_as_it_is_without_loading_here(load, tmp_path):
    path = tmp_path / "half.gguf"
    path.write_bytes(good(tmp_path).read_bytes()[:20_000])
    watcher = Watcher()
    with pytest.raises(ModelError, match=r"half\.gguf could not be loaded") as caught:
        load(path, watcher)
    assert "cut short" in caught.value.hint
    assert list(watcher.told) == ["Trying"]


@pytest.fixture
def tries(monkeypatch):
    """The names of the files that would have been tried; all of them pass."""
    tried = []
    monkeypatch.setattr(trial, "_try", lambda path, *_: tried.append(path.name))
    return tried


def check(path: Path, library: str = "1") -> None:
    trial.check(path, LanguageModelSettings(), library, Watcher())


def test_another_content_or_version_of_the_library_is_tried(tries, tmp_path):
    path = tmp_path / "model.gguf"
    for content in (b"one", b"two"):
        path.write_bytes(content)
        os.utime(path, ns=(1, len(tries)))
        check(path)
        check(path)
    check(path, "2")
    assert len(tries) == 3


@pytest.mark.parametrize("record", ["", "{", "[1]", '[{"path": 1}]', "\0", "[" * 100_000, None])
def test_without_a_readable_record_a_file_is_tried_again(tries, tmp_path, data, record):
    path = good(tmp_path)
    if record is None:  # nor can one be kept
        data.write_text("no folder")
    check(path)
    if record is not None:
        (data / trial.RECORD).write_text(record)
        check(path)
    check(path)
    assert len(tries) == 2


def test_the_record_does_not_grow_for_ever(tries, tmp_path, data, monkeypatch):
    monkeypatch.setattr(trial, "MOST_PASSES", 3)
    for number in range(5):
        path = tmp_path / f"{number}.gguf"
        path.write_bytes(b"%d" % number)
        check(path)
    kept = [Path(entry["path"]).name for entry in json.loads((data / trial.RECORD).read_text())]
    assert kept == ["2.gguf", "3.gguf", "4.gguf"]


@pytest.mark.parametrize("doing", ["Trying", long("Loading")])
def test_loading_can_be_cancelled_and_a_trial_without_end_is_ended(
    load, tmp_path, monkeypatch, doing
):
    others = psutil.Process().children()  # of other tests, such as their sound server
    path = good(tmp_path)
    with pytest.raises(Cancelled):
        load(path, Watcher(until=doing))
    assert psutil.Process().children() == others
    if doing != "Loading":
        monkeypatch.setattr(trial, "BASE_S", 0.0)
        with pytest.raises(ModelError, match="no answer on trial within 0 seconds"):
            load(path)
        assert psutil.Process().children() == others


@pytest.mark.skipif(sys.platform != "linux", reason="no such limits")
def test_the_child_is_bounded_in_memory_and_time_and_leaves_no_core():
    program = (
        "import psutil, resource, signal, time\n"
        "from engine.llm.local import trial\n"
        "begun = time.monotonic()\n"
        "trial._bound(60, lambda: False)\n"
        "most = resource.getrlimit(resource.RLIMIT_DATA)[0]\n"
        "assert 0 < most <= psutil.virtual_memory().total, most\n"
        "assert resource.getrlimit(resource.RLIMIT_CORE) == (0, 0)\n"
        "left = signal.alarm(0)\n"
        "assert 69 - (time.monotonic() - begun) < left <= 70, left\n"
        "try:\n"
        "    bytearray(most)\n"
        "except MemoryError:\n"
        "    print('refused')\n"
    )
    assert prints(program) == "refused"
