"""Paths for libraries in C; Windows' own function is stood in for."""

import ctypes
import sys
from pathlib import Path, PureWindowsPath
from types import SimpleNamespace

import pytest

from engine.native_paths import native_path

PATH = PureWindowsPath(r"C:\Users\Jürgen\data")


def windows(monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    """A Windows whose disk has this short name for a path; "" = it keeps none."""

    def short_name(path: str, buffer: "ctypes.Array[ctypes.c_wchar]", size: int) -> int:
        buffer.value = answer
        return len(answer)

    kernel = SimpleNamespace(GetShortPathNameW=short_name)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(kernel32=kernel), raising=False)


@pytest.mark.parametrize(
    ("path", "answer", "named"),
    [
        (str(PATH), r"C:\Users\JRGEN~1\data", r"C:\Users\JRGEN~1\data"),
        (str(PATH), "", str(PATH)),
        (r"C:\Users\Anna", "not asked for", r"C:\Users\Anna"),
    ],
)
def test_windows_names_it_in_ascii_where_its_disk_can(
    path: str, answer: str, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    windows(monkeypatch, answer)
    assert native_path(path) == named
    monkeypatch.setattr(sys, "platform", "linux")  # other systems take any name
    assert native_path(Path("/srv/Jürgen/data")) == "/srv/Jürgen/data"
