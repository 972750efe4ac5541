"""Paths for libraries in C; Windows' own function is stood in for."""

import ctypes
import sys
from pathlib import Path
from types import SimpleNamespace

from engine.native_paths import native_path

PATH, SHORT = r"C:\Users\Jürgen\data", r"C:\Users\JRGEN~1\data"


def test_windows_names_it_in_ascii_where_its_disk_can(monkeypatch):
    answers = iter((SHORT, ""))  # "" = its disk keeps no short names

    def short_name(path: str, buffer: "ctypes.Array[ctypes.c_wchar]", size: int) -> int:
        buffer.value = next(answers)
        return len(buffer.value)

    kernel = SimpleNamespace(GetShortPathNameW=short_name)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(kernel32=kernel), raising=False)
    assert [native_path(PATH), native_path(PATH)] == [SHORT, PATH]
    assert native_path(r"C:\Users\Anna") == r"C:\Users\Anna"  # and is not asked
    monkeypatch.setattr(sys, "platform", "linux")  # other systems take any name
    assert native_path(Path("/srv/Jürgen/data")) == "/srv/Jürgen/data"
