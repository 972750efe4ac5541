"""Standard streams that are missing, or know few letters."""

import io
import sys

import pytest

from app.__main__ import mend_streams


def test_a_program_without_a_terminal_can_write_all_the_same(monkeypatch):
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    mend_streams()
    for stream in (sys.stdout, sys.stderr):
        with stream:
            stream.write("→")
            assert stream.isatty() is False


@pytest.mark.parametrize(("system", "written"), [("linux", b"? \xe4"), ("win32", "→ ä".encode())])
def test_a_letter_that_cannot_be_written_does_no_harm(monkeypatch, system, written):
    content = io.BytesIO()
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(content, encoding="cp1252"))
    mend_streams()
    sys.stdout.write("→ ä")
    sys.stdout.flush()
    assert content.getvalue() == written
    sys.stdout.detach()
