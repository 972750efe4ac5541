"""Teaching a phrase as a whole: what is kept of it, and what of a lesson that fails."""

import errno
from pathlib import Path

import pytest

from engine.asr.wake import training
from engine.asr.wake.spotter import folder, head_file, is_taught, load
from engine.errors import AssetError, InvalidInput
from engine.runtime.host import wake_training
from engine.runtime.host.wake_training import learn
from tests.engine.asr.wake.test_trained_spotter import FakeEmbedding
from tests.help.fakes.parts import FakeVoiceModel

PHRASE = "hey rubato"


class ClosingModel(FakeVoiceModel):
    closed = False

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[ClosingModel]:
    """The synthesisers of a short lesson, in which nothing is fetched."""
    made: list[ClosingModel] = []

    def make(*_: object) -> ClosingModel:
        made.append(ClosingModel())
        return made[-1]

    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    monkeypatch.setattr(wake_training.registry, "load", make)
    monkeypatch.setattr(wake_training.packages, "fetch", lambda files, folder: ())
    monkeypatch.setattr(wake_training, "Embedding", lambda folder: FakeEmbedding())
    for name in ("BESIDE", "CALL_ROOMS", "TALK_ROOMS"):
        monkeypatch.setattr(training, name, 1)
    monkeypatch.setattr(training, "STEPS", 2)
    monkeypatch.setattr(training, "THROATS", (1.0,))
    return made


def test_every_voice_teaches_and_what_is_learnt_is_kept(models):
    shares: list[float] = []
    assert not is_taught(PHRASE)
    assert learn("Hey, Rubato!", shares.append) == head_file(PHRASE)
    assert is_taught("Hey Rubato")
    load(head_file(PHRASE))
    assert [set(model.spoke) for model in models] == [{"Ada", "Bela"}] * 2
    assert all(model.closed for model in models)
    assert shares == sorted(shares)
    assert [path.name for path in folder().iterdir()] == [f"{PHRASE}.safetensors"]


def test_a_phrase_that_will_not_do_is_refused_before_anything_is_fetched(models):
    with pytest.raises(InvalidInput, match="too often"):
        learn("computer")
    assert models == []
    assert not folder().exists()


def test_a_lesson_that_is_broken_off_leaves_what_was_known(models):
    learn(PHRASE)
    before = head_file(PHRASE).read_bytes()

    def cancel(share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learn(PHRASE, cancel)
    assert head_file(PHRASE).read_bytes() == before
    assert all(model.closed for model in models)


def test_a_full_disk_is_told_whenever_it_fills(models, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        with pytest.raises(
            AssetError, match=r"cannot be saved in .*: No space left on device\."
        ) as at:
            learn(PHRASE)
    assert at.value.hint == "Free some space or allow writing there, and teach the phrase again."
    assert list(folder().iterdir()) == []
    monkeypatch.setattr(wake_training.packages, "fetch", full)
    with pytest.raises(AssetError, match="cannot be saved"):
        learn(PHRASE)
