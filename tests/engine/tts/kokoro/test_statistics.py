"""What is learnt of a voice is kept, and learnt again where the file is damaged."""

import errno
import logging
import os
from pathlib import Path

import numpy as np
import pytest

from engine.tts.kokoro import statistics as module
from engine.tts.kokoro.parts import VoiceInputs
from engine.tts.kokoro.statistics import statistics
from tests.engine.tts.kokoro.small import (
    OWN_RATE,
    TEXT,
    learnt,
    phoned,
    scratch,
    small_parts,
    small_style,
)


def learn(folder: Path, text: str = TEXT, seed: int = 0) -> tuple[VoiceInputs, float]:
    sentences = [phoned(text)] if text else []
    return statistics(small_parts(), small_style(seed), sentences, folder, accent="en-us")


def assert_same(one: tuple[VoiceInputs, float], other: tuple[VoiceInputs, float]) -> None:
    assert one[1] == other[1]
    assert one[0].keys() == other[0].keys()
    for name, values in one[0].items():
        assert values.dtype == other[0][name].dtype
        assert np.array_equal(values, other[0][name])


def test_they_are_learnt_once_for_a_style_and_another_has_others():
    first, folder = learnt(), scratch("text")
    assert_same(learn(folder, text=""), first)  # without a sentence nothing could be learnt
    assert len(list(folder.iterdir())) == 1
    assert first[1] == pytest.approx(OWN_RATE, abs=0.3)
    second = learn(folder, "At seven.", seed=1)
    assert any(not np.array_equal(first[0][name], second[0][name]) for name in first[0])
    assert len(list(folder.iterdir())) == 2


def test_a_damaged_file_is_learnt_again_and_a_folder_without_room_is_no_obstacle(tmp_path, caplog):
    learnt()
    kept = min(scratch("text").iterdir(), key=lambda file: file.stat().st_mtime_ns)
    file = tmp_path / kept.name
    file.write_bytes(kept.read_bytes()[: kept.stat().st_size // 2])
    with caplog.at_level(logging.WARNING):
        assert_same(learn(tmp_path), learnt())
        assert file.read_bytes() == kept.read_bytes()
        assert_same(learn(file / "no folder"), learnt())
    assert file.name in caplog.text
    assert "cannot be kept" in caplog.text


def test_the_code_that_learns_is_a_part_of_the_name(tmp_path, monkeypatch):
    learn(tmp_path)
    monkeypatch.setattr(module, "_code_hash", lambda: "of other code")
    learn(tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_disk_that_can_only_be_read_keeps_what_was_learnt(tmp_path, monkeypatch):
    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    first = learn(tmp_path)
    monkeypatch.setattr(os, "utime", refuse)
    assert_same(learn(tmp_path, text=""), first)  # without a sentence nothing could be learnt


def test_what_was_used_longest_ago_is_deleted(tmp_path, monkeypatch):
    """Every mixture that is tried leaves a file."""
    monkeypatch.setattr(module, "_MOST", 2)
    files = list[Path]()
    for seed in range(2):
        learn(tmp_path, seed=seed)
        (new,) = set(tmp_path.iterdir()) - set(files)
        os.utime(new, (1_000_000.0 + seed, 1_000_000.0 + seed))
        files.append(new)
    learn(tmp_path, seed=0)  # used again
    learn(tmp_path, seed=2)
    assert files[0].is_file()
    assert not files[1].is_file()
    assert len(list(tmp_path.iterdir())) == 2
