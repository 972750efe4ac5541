"""The cut of the published file: whole or not there, made once, from that file alone."""

import hashlib
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from engine.errors import ModelError
from engine.tts.kokoro import parts
from engine.tts.kokoro.graph import cutting
from engine.tts.kokoro.parts import load_parts
from tests.engine.tts.kokoro.small import scratch, small_parts


@pytest.fixture
def file(tmp_path, monkeypatch) -> Path:
    """A small graph in the place of the published one."""
    small_parts()
    file = shutil.copy(scratch("cut") / "small.onnx", tmp_path / "published.onnx")
    monkeypatch.setattr(parts, "SHA256", hashlib.sha256(file.read_bytes()).hexdigest())
    return file


@pytest.fixture(autouse=True)
def cuts(monkeypatch) -> list[Path]:
    """The folders that were cut into, by copying what small_parts() has cut."""
    made: list[Path] = []

    def cut(source: Path, into: Path) -> None:
        made.append(into)
        shutil.copytree(scratch("cut"), into, dirs_exist_ok=True)

    monkeypatch.setattr(cutting, "cut", cut)
    return made


def folders(file: Path) -> list[Path]:
    return [each for each in file.parent.iterdir() if each.is_dir()]


@pytest.fixture
def _only_cut(monkeypatch) -> None:
    """What was cut is not loaded, which takes a second."""
    monkeypatch.setattr(parts, "Parts", lambda folder: folder)


@pytest.mark.usefixtures("_only_cut")
def test_it_is_cut_once_by_two_at_once_too_and_what_other_code_cut_is_removed(file, cuts) -> None:
    for name in ("cut-0123456789", "learnt"):
        file.with_name(name).mkdir()
    with ThreadPoolExecutor(2) as pool:
        for loaded in [pool.submit(load_parts, file) for _ in range(2)]:
            loaded.result(timeout=120)
    load_parts(file)
    assert len(cuts) == 1
    names = {folder.name for folder in folders(file)}
    assert len(names) == 2
    assert "learnt" in names
    assert "cut-0123456789" not in names


def test_another_file_is_refused_by_name(file, cuts):
    content = file.read_bytes()
    for damaged in (content[:-1], content[:-1] + bytes([content[-1] ^ 1]), b""):
        file.write_bytes(damaged)
        with pytest.raises(ModelError, match=r"published\.onnx") as refusal:
            load_parts(file)
        assert "models get kokoro" in (refusal.value.hint or "")
    assert not cuts
    assert not folders(file)


@pytest.mark.usefixtures("_only_cut")
def test_a_broken_off_cut_is_made_again(file, monkeypatch) -> None:
    for error in (MemoryError(), KeyboardInterrupt(), KeyError("a tensor")):

        def broken(source: Path, into: Path, error: BaseException = error) -> None:
            (into / "text.onnx").write_bytes(b"half")
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(cutting, "cut", broken)
            with pytest.raises(type(error)):
                load_parts(file)
    load_parts(file)
    (only,) = folders(file)  # what the broken ones left is gone
    assert not only.name.startswith(".")


def test_a_truncated_part_is_refused_by_name(file):
    load_parts(file)
    (folder,) = folders(file)
    for name in ("text.onnx", "frames.onnx", "decoder.onnx", "layout.json", "tables.safetensors"):
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[: len(content) // 2])
        with pytest.raises(ModelError, match=folder.name):
            load_parts(file)
        (folder / name).write_bytes(content)


def test_a_full_disk_and_a_missing_file(file, monkeypatch):
    def full(source: Path, into: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cutting, "cut", full)
    with pytest.raises(ModelError, match="No space left"):
        load_parts(file)
    with pytest.raises(ModelError, match="cannot be made ready"):
        load_parts(file.with_name("nothing.onnx"))
