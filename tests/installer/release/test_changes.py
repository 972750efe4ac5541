"""The version and the change list, which must agree."""

from pathlib import Path

import pytest

from installer.commands import SetupError
from installer.release.parts import changes, version


def project(folder: Path, number: str, said: str) -> Path:
    (folder / "pyproject.toml").write_text(f'[project]\nversion = "{number}"\n')
    (folder / "CHANGELOG.md").write_text(f"# Changes\n\n{said}")
    return folder


def test_the_newest_version_is_told_and_no_older_one(tmp_path):
    root = project(tmp_path, "0.2.0", "## 0.2.0 (soon)\n\n- New.\n\n## 0.1.0\n\n- Old.\n")
    assert (version(root), changes(root)) == ("0.2.0", "- New.")


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ("## 0.1.0\n\n- Old.\n", "0.1.0"),
        ("", "nothing"),
        ("## 0.2.0\n\n## 0.1.0\n- Old.\n", "says"),
    ],
)
def test_a_release_nobody_wrote_about_is_none(said, word, tmp_path):
    with pytest.raises(SetupError, match=word):
        changes(project(tmp_path, "0.2.0", said))


def test_our_own_are_in_step():
    assert version() in (Path(__file__).parents[3] / "CHANGELOG.md").read_text()
    assert changes()
