"""A release: hashes, archives that come out the same, nothing in halves, a list of its parts."""

import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from installer import bundle, release
from installer.bootstrap import payload
from installer.bootstrap.payload import Payload, write_list
from installer.commands import SetupError
from installer.release import advisories, bill, changes, licence_texts, version


def test_a_release_is_whole_and_its_sums_are_right_and_what_differs_is_none(tmp_path, monkeypatch):
    entropy = ["same", "same"]  # what is put into each archive, in turn

    def build(folder: Path, system: str) -> Payload:
        """A wheel and one more file, instead of half a minute of building."""
        folder.mkdir(parents=True)
        (folder / "rubato-0.1.0-py3-none-any.whl").write_text("wheel")
        (folder / "uv").write_text(system + entropy[0])
        entropy.append(entropy.pop(0))
        return write_list(folder, "0.1.0")

    monkeypatch.setattr(bundle, "bundle", build)
    monkeypatch.setattr(release, "advisories", lambda: "The advisories name none.")
    monkeypatch.setattr(release, "bill", lambda: "{}")
    folder = tmp_path / "release"
    release.release(folder, ["linux", "windows"], [])
    assert {path.name for path in folder.iterdir()} == {
        "LICENCES.txt",
        "NOTES.md",
        "SHA256SUMS",
        "parts.cdx.json",
        "rubato-0.1.0-linux.tar.gz",
        "rubato-0.1.0-py3-none-any.whl",
        "rubato-0.1.0-windows.tar.gz",
    }
    if sys.platform.startswith("linux"):
        check = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
        subprocess.run(check, cwd=folder, check=True, capture_output=True)
    notes = (folder / "NOTES.md").read_text()
    assert "The advisories name none." in notes
    assert "Windows and macOS" in notes
    assert "Not in this release: deb, nsis, macos." in notes
    entropy[:] = ["one", "two"]
    before = {path: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(SetupError, match="differs between two builds"):
        release.release(folder, ["linux"], [])
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("recipe", "reason"),
    [
        ("echo same > dist/windows/rubato-0.1.0-windows.exe", ""),
        ("echo x >> seen; cp seen dist/windows/rubato-0.1.0-windows.exe", "differs between"),
        ("exit 1", "--without nsis"),
        ("true", "--without nsis"),
    ],
)
def test_a_wrapper_is_made_now_and_one_that_differs_is_no_release(
    tmp_path, monkeypatch, recipe, reason
):
    """In a checkout whose `make nsis` follows the recipe."""
    monkeypatch.setattr(release, "ROOT", tmp_path)
    made, place = tmp_path / "dist" / "windows", tmp_path / "dist" / "release"
    for folder in (made, place):
        folder.mkdir(parents=True)
    (tmp_path / "Makefile").write_text("nsis:\n\tsh recipe\n")
    (tmp_path / "recipe").write_text(recipe)
    (made / "rubato-0.0.1-windows.exe").write_text("older")
    if reason:
        with pytest.raises(SetupError, match=reason):
            release.wrap("nsis", place)
        return
    release.wrap("nsis", place)
    (exe,) = place.iterdir()
    assert (exe.name, exe.read_text()) == ("rubato-0.1.0-windows.exe", "same\n")


def folder_of_a_release(place: Path) -> Path:
    folder = place / "rubato-1"
    bundle.put_bootstrapper(folder / payload.BOOTSTRAPPER)
    (folder / "uv").touch()
    (folder / "uv").chmod(0o755)
    payload.write_list(folder, "1")
    return folder


def test_what_comes_out_of_the_tar_is_a_whole_release_with_all_that_it_imports(tmp_path):
    path = bundle.tar(folder_of_a_release(tmp_path))
    with tarfile.open(path) as archive:
        archive.extractall(tmp_path / "there", filter="data")
    found = payload.read(tmp_path / "there" / "rubato-1")
    found.check()
    assert found.version == "1"
    assert (found.folder / "uv").stat().st_mode & 0o100
    done = subprocess.run(
        [sys.executable, "-I", str(found.folder / payload.BOOTSTRAPPER), "status"],
        stdout=subprocess.PIPE,
        env={"RUBATO_PROGRAM": str(tmp_path / "none"), "HOME": str(tmp_path)},
        check=True,
    )
    assert b'"whole": false' in done.stdout


def test_a_folder_with_other_files_is_not_replaced_by_a_release(tmp_path, capsys):
    (tmp_path / "thesis.odt").write_text("mine")
    assert bundle.main([str(tmp_path)]) == 1
    with pytest.raises(SetupError, match="contains other files"):
        release.release(tmp_path, (), ())
    assert "contains other files" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.odt"]


PINS = """a.b==1.0 ; os_name == 'nt' \
    --hash=sha256:{a} \
    --hash=sha256:{b}
numpy==2.0 \
    --hash=sha256:{b}
"""


def pinned(folder: Path) -> Path:
    text = PINS.format(a="a" * 64, b="b" * 64)
    (folder / "run.txt").write_text("# a comment\n" + text)
    for name, number, letter in (("torch", "2.1", "c"), ("torch-linux-cpu", "2.1+cpu", "d")):
        pin = f"torch=={number} \\\n    --hash=sha256:{letter * 64}\n"
        (folder / f"{name}.txt").write_text(pin)
    return folder


@pytest.mark.slow
def test_every_pin_is_a_part_with_all_its_hashes_and_the_same_parts_give_the_same_list(tmp_path):
    pytest.importorskip("cyclonedx_py", reason="cyclonedx-bom is not installed")
    listed = bill(pinned(tmp_path))
    assert bill(tmp_path) == listed
    told = json.loads(listed)
    assert told["metadata"]["component"]["name"] == "rubato"
    found = {
        each["purl"]: sorted(h["content"][0] for h in each["externalReferences"][0]["hashes"])
        for each in told["components"]
    }
    assert found == {
        "pkg:pypi/a.b@1.0": ["a", "b"],
        "pkg:pypi/numpy@2.0": ["b"],
        "pkg:pypi/torch@2.1": ["c"],
        "pkg:pypi/torch@2.1%2Bcpu": ["d"],
    }


def test_a_list_of_parts_that_cannot_be_written_is_no_release(monkeypatch):
    monkeypatch.setattr(sys, "executable", "false")
    with pytest.raises(SetupError, match="cannot list the parts"):
        bill()


def test_all_that_is_installed_is_listed_with_its_licence():
    papers = licence_texts()
    assert "\nnumpy " in papers
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
    assert version() in (Path(__file__).parents[2] / "CHANGELOG.md").read_text()
    assert changes()  # our own are in step
    empty = "## 0.2.0\n\n## 0.1.0\n- Old.\n"
    for said, word in (("## 0.1.0\n\n- Old.\n", "0.1.0"), ("", "nothing"), (empty, "no text")):
        with pytest.raises(SetupError, match=word):
            changes(project(tmp_path, "0.2.0", said))


# Known vulnerabilities in the notes: none is claimed where nothing was asked.
CLEAN = {"name": "numpy", "version": "2.0", "vulns": []}
BAD = {
    "name": "torch",
    "version": "2.0",
    "vulns": [
        {"id": "GHSA-1", "fix_versions": ["2.1", "2.2"], "aliases": [], "description": "x"},
        {"id": "PYSEC-2", "fix_versions": [], "aliases": [], "description": "y"},
    ],
}
SKIPPED = {"name": "own", "skip_reason": "Dependency not found on PyPI"}
NONE_READ = "not checked for known vulnerabilities: "


def says(document: object, status: int, error: str = "") -> list[str]:
    """A command in the place of pip-audit."""
    script = f"import sys; print({json.dumps(document)!r}); print({error!r}, file=sys.stderr)"
    return [sys.executable, "-c", f"{script}; sys.exit({status})"]


@pytest.mark.parametrize(
    ("listed", "status", "parts"),
    [
        ([CLEAN, CLEAN], 0, ["Of the 2 packages", "reports none"]),
        ([CLEAN, BAD], 1, ["- torch 2.0: GHSA-1 (fixed in 2.1, 2.2); PYSEC-2 (fixed in no ver"]),
        ([CLEAN, SKIPPED], 0, ["Of the 1 packages", "reports none", "Not checked: own."]),
        ([SKIPPED, SKIPPED], 0, [NONE_READ + "Dependency not found on PyPI"]),
        ([], 0, [NONE_READ]),
    ],
)
def test_it_says_what_is_known_and_what_was_not_looked_at(listed, status, parts):
    told = advisories(says({"dependencies": listed, "fixes": []}, status))
    assert [part for part in parts if part not in told] == []
    assert ("reports none" in told) == ("reports none" in parts)


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (says("nothing", 1, "ERROR:pip_audit: no connection"), "no connection"),
        (says(None, 3), "status 3"),
        (["/no/such/program"], "'/no/such/program'"),  # the rest is in the system's language
        ([sys.executable, "-P", "-m", "no_such_module"], "No module named no_such_module"),
    ],
)
def test_without_the_advisories_it_says_why(command, reason):
    told = advisories(command)
    assert NONE_READ in told
    assert reason in told


def test_every_package_is_asked_for_by_its_pin():
    script = "import sys, json; print(json.dumps({'dependencies': [{'name': n, 'skip_reason': n} "
    script += "for n in [' '.join(sys.argv)]]}))"
    told = advisories([sys.executable, "-c", script])
    for option in ("setup.txt", "run.txt", "torch.txt", "--require-hashes", "--disable-pip"):
        assert option in told
