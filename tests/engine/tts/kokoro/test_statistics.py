"""What is learnt of a voice is kept, and learnt again where the file is damaged."""

import logging
from pathlib import Path

import numpy as np
import pytest

from engine.tts.kokoro.statistics import Statistics, statistics
from tests.engine.tts.kokoro.small import scratch, small_parts, small_style
from tests.engine.tts.kokoro.words import OWN_RATE, TEXT, learnt, phoned


def learn(folder: Path, text: str = TEXT, seed: int = 0) -> Statistics:
    sentences = [phoned(text)] if text else []
    return statistics(small_parts(), small_style(seed), sentences, folder, british=False)


def assert_same(one: Statistics, other: Statistics) -> None:
    assert one.own_rate == other.own_rate
    assert one.given.keys() == other.given.keys()
    for name, values in one.given.items():
        assert values.dtype == other.given[name].dtype
        assert np.array_equal(values, other.given[name])


def test_they_are_learnt_once_for_a_style_and_another_has_others():
    first, folder = learnt(), scratch("text")
    assert_same(learn(folder, text=""), first)  # without a sentence nothing could be learnt
    assert len(list(folder.iterdir())) == 1
    assert first.own_rate == pytest.approx(OWN_RATE, abs=0.3)
    second = learn(folder, "At seven.", seed=1)
    assert any(not np.array_equal(first.given[name], second.given[name]) for name in first.given)
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
