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


def test_windows_names_it_in_ascii(monkeypatch: pytest.MonkeyPatch) -> None:
    windows(monkeypatch, r"C:\Users\JRGEN~1\data")
    assert native_path(str(PATH)) == r"C:\Users\JRGEN~1\data"


def test_a_disk_without_short_names_leaves_it(monkeypatch: pytest.MonkeyPatch) -> None:
    windows(monkeypatch, "")
    assert native_path(str(PATH)) == str(PATH)


def test_what_is_ascii_is_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    windows(monkeypatch, "something else")
    assert native_path(r"C:\Users\Anna") == r"C:\Users\Anna"


def test_other_systems_take_any_name() -> None:
    assert native_path(Path("/srv/Jürgen/data")) == "/srv/Jürgen/data"
