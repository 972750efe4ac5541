"""The cut of the published file: whole or not there, made once, from that file alone."""

import hashlib
import os
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
    monkeypatch.setattr(parts, "Parts", Unloaded)


class Unloaded:
    def __init__(self, folder: Path, published: Path) -> None:
        self.fits_processor = True


@pytest.mark.usefixtures("_only_cut")
def test_it_is_cut_once_by_two_at_once_too_and_of_other_code_s_cuts_the_newest_stays(
    file, cuts
) -> None:
    for age, name in enumerate(("cut-0123456789", "cut-abcdef0123", "learnt")):
        file.with_name(name).mkdir()
        os.utime(file.with_name(name), (1_000_000.0 - age, 1_000_000.0 - age))
    with ThreadPoolExecutor(2) as pool:
        for loaded in [pool.submit(load_parts, file) for _ in range(2)]:
            loaded.result(timeout=120)
    load_parts(file)
    assert len(cuts) == 1
    names = {folder.name for folder in folders(file)}
    assert len(names) == 3
    assert {"learnt", "cut-0123456789"} < names


def test_what_another_processor_cut_is_cut_again(file, cuts, monkeypatch):
    """A data folder may move: with VNNI weights are signed, and their sums saturate without it."""
    load_parts(file)
    load_parts(file)
    assert len(cuts) == 1
    here = parts.sums_exactly
    monkeypatch.setattr(parts, "sums_exactly", lambda probe: not here(probe))
    load_parts(file)
    assert len(cuts) == 2


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


def test_a_truncated_part_is_cut_again(file, cuts):
    load_parts(file)
    (folder,) = folders(file)
    names = ("text.onnx", "frames.onnx", "decoder.onnx", "layout.json", "tables.safetensors")
    for count, name in enumerate(names, start=2):
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[: len(content) // 2])
        load_parts(file)
        assert len(cuts) == count
        assert (folder / name).read_bytes() == content


def test_a_full_disk_and_a_missing_file(file, monkeypatch):
    def full(source: Path, into: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cutting, "cut", full)
    with pytest.raises(ModelError, match="No space left"):
        load_parts(file)
    with pytest.raises(ModelError, match="cannot be made ready"):
        load_parts(file.with_name("nothing.onnx"))
