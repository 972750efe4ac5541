import pytest

from engine.assets.catalogue import HubSource, catalogue, find, parse
from engine.errors import AssetError, InvalidInput

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


def test_the_shipped_catalogue_names_licence_and_attribution_of_everything() -> None:
    assert {"voxtream2", "mimi", "redimnet"} <= catalogue().keys()
    assert all(asset.licence and asset.attribution for asset in catalogue().values())


def test_an_entry_becomes_a_value() -> None:
    toy = parse(ENTRY)["toy"]
    assert toy.source == HubSource("someone/toy", "main")
    assert toy.megabytes == 3


@pytest.mark.parametrize(
    ("find_text", "replacement"),
    [
        ('licence = "MIT"\n', ""),
        ('licence = "MIT"\n', 'licence = "MIT"\ncolour = "red"\n'),
        ('repository = "someone/toy"\n', ""),
        ("model.safetensors", "../../etc/passwd"),
        ("model.safetensors", "/etc/passwd"),
        ('licence = "MIT"\n', 'licence = "MIT"\nneeds = ["ghost"]\n'),
    ],
)
def test_a_wrong_entry_is_refused(find_text: str, replacement: str) -> None:
    with pytest.raises(AssetError, match="toy"):
        parse(ENTRY.replace(find_text, replacement))


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(InvalidInput) as unknown:
        find("nothing")
    assert "voxtream2" in unknown.value.hint
