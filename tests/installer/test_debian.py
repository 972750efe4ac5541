"""The .deb's own scripts and files; the whole package is built and tried by `make try-deb`."""

import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from app.desktop_entry import APP_ID
from installer.plan import ROOT

DEBIAN = ROOT / "installer" / "debian"
FILES = DEBIAN / "files"


@pytest.fixture
def opt(tmp_path: Path) -> Path:
    """/opt/rubato with version 1 in force."""
    folder = tmp_path / "opt"
    put(folder, "1")
    run(folder, "postinst", "1", "configure")
    return folder


def put(opt: Path, version: str) -> None:
    """Unpack a version, as dpkg does before it configures it."""
    program = opt / f"env-{version}" / "bin" / "python"
    program.parent.mkdir(parents=True)
    program.write_text(version)


def run(opt: Path, script: str, version: str, *words: str, lines: int | None = None) -> None:
    """Run a script of the package of that version; `lines`: it is killed after so many of them."""
    text = (FILES / script).read_text().replace("@VERSION@", version)
    text = text.replace("/opt/rubato", str(opt))
    if lines is not None:
        counted = (
            "commands=0\ntrap '[ $commands -eq {} ] && kill -9 $$; commands=$((commands+1))' DEBUG"
        )
        text = text.replace("set -e", "set -e\n" + counted.format(lines))
    subprocess.run(["bash", "-c", text, script, *words], check=lines is None)


def in_force(opt: Path) -> str:
    return (opt / "current" / "bin" / "python").read_text()


def remove(opt: Path, version: str) -> None:
    """As dpkg removes the files of the replaced version."""
    program = opt / f"env-{version}" / "bin" / "python"
    program.unlink()
    program.parent.rmdir()
    program.parent.parent.rmdir()


def test_through_a_whole_update_there_is_a_program_to_start(opt):
    assert in_force(opt) == "1"
    run(opt, "preinst", "2", "upgrade", "1")
    run(opt, "postinst", "1", "abort-upgrade", "2")  # dpkg takes it back
    assert in_force(opt) == "1"
    assert sorted(path.name for path in opt.iterdir()) == ["current", "env-1"]
    run(opt, "preinst", "2", "upgrade", "1")
    assert in_force(opt) == "1"
    put(opt, "2")
    remove(opt, "1")
    assert in_force(opt) == "1"
    run(opt, "postinst", "2", "configure", "1")
    assert in_force(opt) == "2"
    assert sorted(path.name for path in opt.iterdir()) == ["current", "env-2"]
    run(opt, "prerm", "2", "remove")
    run(opt, "postrm", "2", "remove")
    assert not opt.exists()


@pytest.mark.parametrize("lines", range(1, 9))
def test_killed_before_any_command_of_preinst_the_old_version_starts(opt, lines):
    run(opt, "preinst", "2", "upgrade", "1", lines=lines)
    assert in_force(opt) == "1"
    run(opt, "preinst", "2", "upgrade", "1")  # dpkg begins again
    put(opt, "2")
    remove(opt, "1")
    assert in_force(opt) == "1"
    if lines < 6:  # and so with the fewer ones of postinst
        run(opt, "postinst", "2", "configure", "1", lines=lines)
        assert in_force(opt) in ("1", "2")
    run(opt, "postinst", "2", "configure", "1")
    assert in_force(opt) == "2"


def test_menu_and_catalogue_know_it_by_the_name_its_windows_have():
    tree = ElementTree.parse(FILES / f"{APP_ID}.metainfo.xml").getroot()
    assert tree.findtext("id") == APP_ID
    assert tree.findtext("launchable") == f"{APP_ID}.desktop"
    assert f"/applications/{APP_ID}.desktop" in (DEBIAN / "build.sh").read_text()


@pytest.mark.parametrize("script", sorted(DEBIAN.glob("*.sh")), ids=lambda path: path.name)
def test_scripts_can_be_read_by_their_shell(script):
    shell = re.match(r"#!/bin/(ba)?sh", script.read_text())
    assert shell
    subprocess.run([shell[0][2:], "-n", str(script)], check=True)
