"""The release as a folder and as a tar: complete, checked, and the same each time."""

import subprocess
import sys
import tarfile
from pathlib import Path

from installer import bundle
from installer.bootstrap import payload


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
