"""The list of parts: all that is pinned, the same each time, with terms where they are known."""

import json
from pathlib import Path

import pytest
from cyclonedx.model.bom import Bom

from installer.commands import SetupError
from installer.release import parts
from installer.release.parts import changes, version

PINS = """a.b==1.0 ; os_name == 'nt' \
    --hash=sha256:{a} \
    --hash=sha256:{b}
numpy==2.0 \
    --hash=sha256:{b}
"""


def pinned(folder: Path) -> list[parts.Part]:
    text = PINS.format(a="a" * 64, b="b" * 64)
    (folder / "run.txt").write_text("# a comment\n" + text)
    for name, number, letter in (("torch", "2.1", "c"), ("torch-linux-cpu", "2.1+cpu", "d")):
        pin = f"torch=={number} \\\n    --hash=sha256:{letter * 64}\n"
        (folder / f"{name}.txt").write_text(pin)
    return parts.parts(folder)


def test_every_pin_is_a_part_with_all_its_hashes_and_the_same_parts_give_the_same_list(tmp_path):
    listed = pinned(tmp_path)
    assert listed == [
        parts.Part("a.b", "1.0", ("a" * 64, "b" * 64)),
        parts.Part("numpy", "2.0", ("b" * 64,)),
        parts.Part("torch", "2.1", ("c" * 64,)),
        parts.Part("torch", "2.1+cpu", ("d" * 64,)),
    ]
    bill = parts.bill("0.1.0", listed)
    assert parts.bill("0.1.0", listed) == bill != parts.bill("0.1.0", listed[1:])
    told = json.loads(bill)  # it can be read back, and names terms and wheels
    read = Bom.from_json(told)
    assert {str(each.purl) for each in read.components} == {
        "pkg:pypi/a.b@1.0",
        "pkg:pypi/numpy@2.0",
        "pkg:pypi/torch@2.1",
        "pkg:pypi/torch@2.1%2Bcpu",
    }
    numpy = next(each for each in told["components"] if each["name"] == "numpy")
    assert numpy["licenses"]
    assert numpy["externalReferences"][0]["hashes"][0]["content"] == "b" * 64
    (whole,) = (each for each in told["dependencies"] if each["ref"] == "pkg:pypi/rubato@0.1.0")
    assert len(whole["dependsOn"]) == 4


def test_all_that_is_installed_is_listed_with_its_licence():
    listed = parts.parts()
    assert {"pyside6-essentials", "torch", "numpy"} <= {part.name for part in listed}
    assert all(part.hashes for part in listed)
    papers = parts.papers(listed)
    assert "GNU GENERAL PUBLIC LICENSE" in papers
    assert "SIL OPEN FONT LICENSE" in papers.upper()
    assert "\npytest " not in papers, "what only tests need is no part of it"


def project(folder: Path, number: str, said: str) -> Path:
    (folder / "pyproject.toml").write_text(f'[project]\nversion = "{number}"\n')
    (folder / "CHANGELOG.md").write_text(f"# Changes\n\n{said}")
    return folder


def test_the_newest_version_is_told_and_one_nobody_wrote_about_is_none(tmp_path):
    root = project(tmp_path, "0.2.0", "## 0.2.0 (soon)\n\n- New.\n\n## 0.1.0\n\n- Old.\n")
    assert (version(root), changes(root)) == ("0.2.0", "- New.")
    assert version() in (Path(__file__).parents[3] / "CHANGELOG.md").read_text()
    assert changes()  # our own are in step
    empty = "## 0.2.0\n\n## 0.1.0\n- Old.\n"
    for said, word in (("## 0.1.0\n\n- Old.\n", "0.1.0"), ("", "nothing"), (empty, "says")):
        with pytest.raises(SetupError, match=word):
            changes(project(tmp_path, "0.2.0", said))
