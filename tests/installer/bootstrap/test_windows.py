"""What is different on Windows, tried with names of paths and libraries that cannot be loaded."""

import sys
from pathlib import Path, PureWindowsPath
from queue import Queue

import pytest

from installer.bootstrap import __main__ as bootstrapper
from installer.bootstrap import installation, payload, windows
from installer.bootstrap.payload import Variant


def test_a_program_starts_one_like_it_and_a_long_path_is_given_to_windows_as_it_is():
    for own in ("pythonw.exe", "python.exe"):  # without a terminal, and with one
        assert windows.like_us(Path("env/Scripts/python.exe"), own).name == own
    path = PureWindowsPath(r"C:\Users\Jürgen\rubato-program\env-1")
    assert windows.verbatim(path, "win32") == r"\\?\C:\Users\Jürgen\rubato-program\env-1"
    assert windows.verbatim(PureWindowsPath(r"\\server\share\x"), "win32") == r"\\server\share\x"
    assert windows.verbatim(Path("/srv/x"), "linux") == "/srv/x"


def test_a_missing_runtime_is_named_with_the_way_to_it():
    def load(name: str) -> None:
        if name == "msvcp140.dll":
            raise OSError(name)

    sentence = windows.missing_runtime(load, "win32")
    assert "msvcp140.dll" in sentence
    assert windows.RUNTIME_PAGE in sentence
    assert windows.missing_runtime(lambda name: None, "win32") == ""
    assert windows.missing_runtime(load, "linux") == ""


def test_a_release_without_cuda_for_windows_is_installed_for_the_processor(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(installation, "fitting_variant", lambda: Variant.CUDA)
    pins = tmp_path / "pins"
    pins.mkdir()
    (pins / "torch.txt").touch()
    release = payload.Payload(tmp_path, "1", {})
    assert installation.variant_in(release) is Variant.CPU
    (pins / "torch-windows-cuda.txt").touch()
    assert installation.variant_in(release) is Variant.CUDA


@pytest.mark.parametrize("terminal", [False, True])
def test_without_a_terminal_a_failure_is_shown_in_a_box(home, monkeypatch, capsys, *, terminal):
    shown: list[str] = []
    monkeypatch.setattr(windows, "show", shown.append)
    if not terminal:
        monkeypatch.setattr(sys, "stdout", None)
        monkeypatch.setattr(sys, "stderr", None)
    assert bootstrapper.main(["roll-back"]) == 1
    sentence = "There is no earlier version to go back to."
    if terminal:
        assert shown == []
        assert sentence in capsys.readouterr().err
    else:
        assert shown == [sentence]
        assert sys.stderr is not None
        sys.stderr.close()  # nothing of ours is left open


def test_an_installation_without_a_terminal_is_announced_on_every_system(monkeypatch):
    shown: Queue[str] = Queue()
    commands: list[list[str]] = []
    monkeypatch.setattr(windows, "show", lambda sentence, sign: shown.put(sentence))
    monkeypatch.setattr(windows, "succeeds", commands.append)
    for system in ("linux", "darwin", "win32"):
        monkeypatch.setattr(sys, "platform", system)
        windows.notify("It comes.")
    assert shown.get(timeout=20) == "It comes."
    assert [(words[0], words[-1]) for words in commands] == [
        ("notify-send", "It comes."),
        ("osascript", "It comes."),
    ]


def test_on_macos_nobody_reads_what_a_program_of_the_finder_says(monkeypatch):
    assert not windows.open_streams()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert windows.open_streams()  # pytest reads it, so it is no terminal
