"""A corpus encoded for a system: what is read is what was written."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest

from engine.errors import InvalidInput
from engine.training.encoded import by_speaker, read, write


@dataclass(frozen=True)
class Said:
    speaker: int
    rate: float
    tokens: npt.NDArray[np.int16]
    words: tuple[npt.NDArray[np.int16], ...]


def said(speaker: int, words: int) -> Said:
    tokens = np.arange(6, dtype=np.int16).reshape(2, 3)[:, ::2]  # not in one piece
    return Said(speaker, 0.5 * speaker, tokens, tuple(tokens[0] + n for n in range(words)))


def test_utterances_are_read_as_they_were_written_and_in_order(tmp_path):
    file, written = tmp_path / "0000.safetensors", [said(7, 12), said(3, 1), said(7, 2)]
    write(file, [])
    assert read(file, Said) == []
    write(file, written)
    for made, found in zip(written, read(file, Said), strict=True):
        assert (found.speaker, found.rate) == (made.speaker, made.rate)
        assert found.tokens.dtype == np.int16
        assert np.array_equal(found.tokens, made.tokens)
        assert len(found.words) == len(made.words)
        assert all(map(np.array_equal, found.words, made.words))
    people = by_speaker(tmp_path, Said)
    assert {number: len(person) for number, person in people.items()} == {7: 2, 3: 1}


def test_what_another_version_wrote_asks_for_its_stage(tmp_path):
    @dataclass(frozen=True)
    class Other:
        speaker: int

    write(tmp_path / "0000.safetensors", [Other(3)])
    with pytest.raises(InvalidInput, match="older version"):
        read(tmp_path / "0000.safetensors", Said)
