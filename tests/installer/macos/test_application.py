"""Rubato.app as far as it can be looked at away from a Mac, and the icons of it and Windows."""

import os
import plistlib
import subprocess
import zipfile
from pathlib import Path

import pytest
from PySide6.QtGui import QImageReader

from installer import icons
from installer.macos import __main__ as macos


@pytest.fixture
def app(qapp, tmp_path: Path) -> Path:
    """The application around a release that only says how it was called."""
    app = tmp_path / "Ångström's Programs" / macos.APP
    release = app / "Contents" / "Resources" / "release"
    release.mkdir(parents=True)
    setup = release / "rubato-setup"
    setup.write_text('#!/bin/sh\necho "$RUBATO_LAUNCHER"\nprintf "%s|" "$@"\n')
    setup.chmod(0o755)
    macos.put_application(app, "1.2")
    return app


def test_it_says_who_it_is_and_why_it_wants_the_microphone_and_starts_the_release_in_it(app):
    info = plistlib.loads((app / "Contents" / "Info.plist").read_bytes())
    assert info["CFBundleIdentifier"] == "org.rubato.Rubato"
    assert info["CFBundleShortVersionString"] == "1.2"
    assert "listens" in info["NSMicrophoneUsageDescription"]
    assert (app / "Contents" / "MacOS" / info["CFBundleExecutable"]).is_file()
    assert (app / "Contents" / "Resources" / info["CFBundleIconFile"]).read_bytes()[:4] == b"icns"
    program = app / "Contents" / "MacOS" / "Rubato"
    done = subprocess.run(
        [str(program), "--start-hidden", "a b"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{program}\nstart|--start-hidden|a b|"


def test_the_archive_keeps_what_may_be_run_and_is_the_same_each_time(app, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    one, two = tmp_path / "one.zip", tmp_path / "two.zip"
    macos.archive(app, one)
    os.utime(app / "Contents" / "PkgInfo", (0, 0))
    macos.archive(app, two)
    assert one.read_bytes() == two.read_bytes()
    with zipfile.ZipFile(one) as archive:
        modes = {each.filename: each.external_attr >> 16 for each in archive.infolist()}
    assert modes["Rubato.app/Contents/MacOS/Rubato"] == 0o100755
    assert modes["Rubato.app/Contents/Info.plist"] == 0o100644


@pytest.mark.parametrize("name", ["rubato.ico", "rubato.icns"])
def test_qt_reads_the_program_s_icon_back(qapp, tmp_path, name):
    path = tmp_path / name
    (icons.write_ico if path.suffix == ".ico" else icons.write_icns)(path)
    reader = QImageReader(str(path))
    picture = reader.read()
    assert not picture.isNull(), reader.errorString()
    assert picture.hasAlphaChannel()
    assert len({picture.pixel(x, x) for x in range(0, picture.width(), 2)}) > 2  # it is drawn


@pytest.mark.long
def test_the_whole_application_is_made(qapp, tmp_path):
    made = macos.make(tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == [made.name]
    with zipfile.ZipFile(made) as archive:
        names = archive.namelist()
        uv = archive.read("Rubato.app/Contents/Resources/release/uv")
    assert uv[:4] == bytes.fromhex("cffaedfe")  # a program for 64-bit macOS
    assert any(name.endswith(".whl") for name in names)
    assert "Rubato.app/Contents/Resources/release/pins/torch.txt" in names
