"""The programs that start Rubato on Windows, and the Python they run it with."""

import os
import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from installer.commands import SetupError
from installer.windows import __main__ as windows

LAUNCH = Path(windows.__file__).with_name("launch.py")


def test_a_launcher_is_its_stub_the_python_beside_it_and_a_program():
    made = windows.launcher(b"MZ stub", r"..\python\python.exe", "print(1)")
    head, _, rest = made.partition(b"\r\n")
    assert head == b'MZ stub#!"<launcher_dir>\\..\\python\\python.exe"'
    assert zipfile.ZipFile(BytesIO(rest)).read("__main__.py") == b"print(1)"
    assert made == windows.launcher(b"MZ stub", r"..\python\python.exe", "print(1)")


@pytest.mark.parametrize("name", ["Rubato.exe", "bin/rubato.exe"])
def test_both_programs_run_the_bootstrapper_of_the_release(tmp_path, name):
    home = tmp_path / "Rübe Ordner"
    bootstrapper = home / "release" / "bootstrapper"
    bootstrapper.mkdir(parents=True)
    (bootstrapper / "__main__.py").write_text(
        "import os, sys\n"
        "print(ascii((sys.argv[1:], os.environ['RUBATO_LAUNCHER'], 'PYTHONPATH' in os.environ)))\n"
    )
    program = home / name
    program.parent.mkdir(exist_ok=True)
    # The stub is Windows' alone; what follows it is a program for any Python.
    program.write_bytes(windows.launcher(b"", "python.exe", LAUNCH.read_text(encoding="utf-8")))
    env = {**os.environ, "PYTHONPATH": "somewhere else"}
    done = subprocess.run(
        [sys.executable, str(program), "say", "a b"], env=env, capture_output=True, text=True
    )
    expected = (["say", "a b"], str(home / "Rubato.exe"), False)
    assert done.stdout.strip() == ascii(expected), done.stderr


def test_what_is_laid_down_has_two_launchers_and_an_embeddable_python(tmp_path):
    windows.put_launchers(tmp_path, b"window", b"terminal")
    assert (tmp_path / "Rubato.exe").read_bytes().startswith(b"window")
    assert b"pythonw.exe" in (tmp_path / "Rubato.exe").read_bytes()
    assert b"..\\python\\python.exe" in (tmp_path / "bin" / "rubato.exe").read_bytes()
    given = tmp_path / "given"
    given.mkdir()
    (given / "python.exe").touch()
    with pytest.raises(SetupError, match=r"pythonw\.exe is missing"):
        windows.put_python(tmp_path / "python", given)


def test_makensis_gets_whole_paths_or_is_named(tmp_path, monkeypatch, capsys):
    with monkeypatch.context() as without:
        without.setenv("PATH", str(tmp_path))
        assert windows.main([str(tmp_path / "out")]) == 1
    assert "apt-get install nsis" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    told = tmp_path / "told"
    fake = tmp_path / "makensis"
    fake.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >"{told}"\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    windows.compile_installer(Path("files"), "1.2.3", Path("made.exe"))
    words = told.read_text().splitlines()
    assert f"-DFILES={tmp_path / 'files'}" in words
    assert f"-DTARGET={tmp_path / 'made.exe'}" in words
    assert "-DNUMBERS=1.2.3.0" in words
