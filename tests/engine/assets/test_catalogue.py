import re
from pathlib import Path

import pytest

from engine.asr.whisper.model import REQUIRED
from engine.assets.catalogue import HubSource, ReleaseSource, catalogue, find, parse
from engine.assets.packages import Member, Package, Registry
from engine.errors import AssetError, InvalidInput
from engine.tts.kokoro.voices import NAMES

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


def test_the_shipped_catalogue_names_licence_and_attribution_of_everything():
    assert {"voxtream2", "mimi", "redimnet"} <= catalogue().keys()
    assert all(asset.licence and asset.attribution for asset in catalogue().values())


@pytest.mark.parametrize(
    ("find_text", "replacement"),
    [
        ('licence = "MIT"\n', ""),
        ('licence = "MIT"\n', 'licence = "MIT"\ncolour = "red"\n'),
        ('repository = "someone/toy"\n', ""),
        ("model.safetensors", "../../etc/passwd"),
        ("model.safetensors", "/etc/passwd"),
        ('licence = "MIT"\n', 'licence = "MIT"\nneeds = ["ghost"]\n'),
        ("megabytes = 3", "bytes = 3, megabytes = 3"),
        (", megabytes = 3", ""),
        ("megabytes = 3", 'megabytes = 3, sha256 = "abc"'),
        ("megabytes = 3", 'megabytes = 3, md5 = "abc"'),
        ("megabytes = 3", 'megabytes = 3, packed = ["toy==1.0/x"]'),
        ("megabytes = 3", f'bytes = 3, sha256 = "{"a" * 64}", packed = ["--index-url=x/y"]'),
        ("megabytes = 3", f'bytes = 3, sha256 = "{"a" * 64}", packed = ["pnm:toy==1.0/x"]'),
    ],
)
def test_a_wrong_entry_is_refused(find_text, replacement):
    with pytest.raises(AssetError, match="toy"):
        parse(ENTRY.replace(find_text, replacement))


def test_a_pinned_file_has_its_size_hash_and_second_source():
    pinned = ENTRY.replace(
        "megabytes = 3",
        f'bytes = 3_400_000, sha256 = "{"a" * 64}", packed = ["toy-data==1.0/toy_data/x.bin"]',
    )
    (file,) = parse(pinned)["toy"].files
    assert (file.megabytes, file.size, file.most_bytes) == (3.4, 3_400_000, 3_400_000)
    assert file.sha256 == "a" * 64
    assert file.members == (Member(Package("toy-data", "1.0"), "toy_data/x.bin"),)


def test_a_package_is_of_pypi_unless_it_says_npm():
    packed = '"npm:toy-js==1.0/package/x.bin", "toy-data==1.0/x.bin"'
    pinned = f'bytes = 3, sha256 = "{"a" * 64}", packed = [{packed}]'
    (file,) = parse(ENTRY.replace("megabytes = 3", pinned))["toy"].files
    registries = [member.package.registry for member in file.members]
    assert registries == [Registry.NPM, Registry.PYPI]
    assert file.members[0] == Member(Package("toy-js", "1.0", Registry.NPM), "package/x.bin")


def test_every_hub_entry_that_is_shipped_names_a_commit_where_one_is_known():
    """Of the others the commit is pinned that was the newest when they were fetched, which is told
    before.
    """
    hubs = {n: a for n, a in catalogue().items() if isinstance(a.source, HubSource)}
    loose = {n for n, asset in hubs.items() if not asset.names_a_commit}
    assert loose == {"voxtream2-1", "llmvox-published", "byt5-g2p"}
    for name in hubs.keys() - loose:
        assert re.fullmatch("[0-9a-f]{40}", hubs[name].source.revision)


def test_what_is_shipped_pins_every_file_but_those_nobody_public_vouches_for():
    """The hub's record of their commit does."""
    loose = {
        asset.name for asset in catalogue().values() for file in asset.files if file.sha256 is None
    }
    assert loose == {"voxtream2", "voxtream2-1", "llmvox-published", "byt5-g2p"}


def test_whisper_base_has_packages_as_a_second_source_of_every_file():
    files = find("whisper-base").files
    assert {file.path for file in files} == {*REQUIRED, "vocabulary.txt"}
    assert all(file.members for file in files)


def test_kokoro_and_its_english_voices_have_packages_as_a_second_source():
    kokoro, voices = find("kokoro"), find("kokoro-voices")
    assert kokoro.source == ReleaseSource("thewh1teagle/kokoro-onnx", "model-files-v1.0")
    assert kokoro.needs == ("kokoro-voices",)
    assert {Path(file.path).stem[3:].capitalize() for file in voices.files} == set(NAMES)
    assert {file.size for file in voices.files} == {510 * 256 * 4}
    assert all(file.members for file in (*kokoro.files, *voices.files))
    assert {kokoro.licence, voices.licence} == {"Apache-2.0"}


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(InvalidInput) as unknown:
        find("nothing")
    assert "voxtream2" in unknown.value.hint
