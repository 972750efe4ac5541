"""The list of models; files of torch.save are read as weights, or refused."""

import os
import re
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.asr.whisper.model import REQUIRED
from engine.assets.catalogue import Member, Package, Registry, catalogue, find, parse
from engine.assets.pickle_file import read_pickle
from engine.errors import AssetError, ModelError
from engine.translatable import Translatable
from engine.tts.kokoro.voices import FILES

ENTRY = """
[toy]
title = "A toy"
kind = "voice"
repository = "someone/toy"
revision = "main"
licence = "MIT"
attribution = "Someone"
files = [{ path = "model.safetensors", megabytes = 3 }]
"""


@pytest.mark.parametrize(
    ("find_text", "replacement"),
    [
        ('licence = "MIT"\n', ""),
        ('licence = "MIT"\n', 'licence = "MIT"\ncolour = "red"\n'),
        ('repository = "someone/toy"\n', ""),
        ("model.safetensors", "../../etc/passwd"),
        ("model.safetensors", "/etc/passwd"),
        ('licence = "MIT"\n', 'licence = "MIT"\nneeds = ["ghost"]\n'),
        ('repository = "someone/toy"', 'release = "someone/toy"'),  # without sha256
        ("megabytes = 3", "size = 3, megabytes = 3"),
        (", megabytes = 3", ""),
        ("megabytes = 3", 'megabytes = 3, sha256 = "abc"'),
        ("megabytes = 3", 'megabytes = 3, md5 = "abc"'),
        ("megabytes = 3", 'megabytes = 3, packed = ["toy==1.0/x"]'),
        ("megabytes = 3", f'size = 3, sha256 = "{"a" * 64}", packed = ["--index-url=x/y"]'),
        ("megabytes = 3", f'size = 3, sha256 = "{"a" * 64}", packed = ["pnm:toy==1.0/x"]'),
    ],
)
def test_a_wrong_entry_is_refused(find_text, replacement):
    with pytest.raises(AssetError, match="toy"):
        parse(ENTRY.replace(find_text, replacement))


def test_a_remark_on_a_licence_stands_apart_from_its_name_and_can_be_translated():
    remarked = 'licence = "MIT"\nlicence_remark = "for a toy"\n'
    toy = parse(ENTRY.replace('licence = "MIT"\n', remarked))["toy"]
    assert (toy.licences, toy.terms) == ("MIT", "MIT (for a toy)")
    assert isinstance(toy.terms, Translatable)
    assert toy.terms.values["remark"].template == "for a toy"
    for asset in catalogue().values():
        for licence in (asset.licence, asset.readme_licence):
            assert re.fullmatch(r"[A-Z]\S*( [A-Z0-9]\S*)*|", licence), asset.name


def test_an_entry_becomes_a_value_with_size_hash_and_second_sources():
    """A package is of PyPI unless it says npm."""
    toy = parse(ENTRY)["toy"]
    assert (toy.name, toy.repository, toy.revision) == ("toy", "someone/toy", "main")
    packed = '"npm:toy-js==1.0/package/x.bin", "toy-data==1.0/toy_data/x.bin"'
    pinned = f'size = 3_400_000, sha256 = "{"a" * 64}", packed = [{packed}]'
    packed_toy = parse(ENTRY.replace("megabytes = 3", pinned))["toy"]
    (file,) = packed_toy.files
    assert (packed_toy.megabytes, file.size, file.most_bytes) == (3, 3_400_000, 3_400_000)
    assert file.sha256 == "a" * 64
    assert file.members == (
        Member(Package("toy-js", "1.0", Registry.NPM), "package/x.bin"),
        Member(Package("toy-data", "1.0", Registry.PYPI), "toy_data/x.bin"),
    )


def test_what_is_shipped_names_a_commit_and_a_hash_of_every_file_where_one_is_known():
    """Of the others the commit is pinned that was the newest when they were fetched, which is told
    before; of its files the hub's record of that commit.
    """
    hubs = {n: a for n, a in catalogue().items() if a.repository}
    loose = {n for n, asset in hubs.items() if not asset.names_a_commit}
    assert loose == {"voxtream2-1", "llmvox-published", "byt5-g2p"}
    for name in hubs.keys() - loose:
        assert re.fullmatch("[0-9a-f]{40}", hubs[name].revision)
    unpinned = {n for n, a in catalogue().items() if None in {file.sha256 for file in a.files}}
    assert unpinned == loose | {"voxtream2"}


def test_what_people_get_first_has_packages_as_a_second_source_of_every_file():
    whisper, kokoro, voices = find("whisper-base"), find("kokoro"), find("kokoro-voices")
    assert {file.path for file in whisper.files} == {*REQUIRED, "vocabulary.txt"}
    assert kokoro.needs == ("kokoro-voices",)
    assert {Path(file.path).stem for file in voices.files} == set(FILES.values())
    assert all(file.members for each in (whisper, kokoro, voices) for file in each.files)


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
