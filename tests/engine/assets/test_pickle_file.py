"""Files of torch.save are read as weights, or refused."""

import os
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.assets.pickle_file import read_pickle
from engine.errors import ModelError
from engine.translatable import Translatable


def read(file: Path) -> dict[str, Any]:
    return read_pickle(file, Translatable("The voice file"), "Fetch it.")


class Command:
    """Runs when it is unpickled by anything but a careful loader."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.mkdir, ("trapped",)


def test_both_formats_are_read(tmp_path):
    file = tmp_path / "weights.pt"
    table = {"a": torch.arange(3.0), "about": {"layers": 4}}
    for zipped in (True, False):
        torch.save(table, file, _use_new_zipfile_serialization=zipped)
        found = read(file)
        assert torch.equal(found["a"], table["a"])
        assert found["about"] == {"layers": 4}


def test_what_is_no_table_of_weights_damaged_or_missing_is_refused_unrun(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "weights.pt"
    with pytest.raises(ModelError, match=r"The voice file .*weights\.pt is not there"):
        read(file)
    for content in ({"a": Command()}, [torch.zeros(1)], Command()):
        torch.save(content, file)
        with pytest.raises(ModelError, match="damaged or holds more than weights") as refusal:
            read(file)
        assert refusal.value.hint == "Fetch it."
        assert not (tmp_path / "trapped").exists()
    for damaged in (b"", b"PK\x03\x04", b"weights", b"\x80\x02."):
        file.write_bytes(damaged)
        with pytest.raises(ModelError, match="damaged"):
            read(file)


def test_no_byte_that_changed_is_another_error(tmp_path):
    """Of the older format; the newer one's parts have checksums."""
    file, whole = tmp_path / "weights.pt", tmp_path / "whole.pt"
    torch.save({"a": torch.arange(3.0)}, whole, _use_new_zipfile_serialization=False)
    content = whole.read_bytes()
    for place in range(0, len(content), 3):
        file.write_bytes(content[:place] + bytes([content[place] ^ 0x15]) + content[place + 1 :])
        with suppress(ModelError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read(file)
