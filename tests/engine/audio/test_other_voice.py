"""The window waits for the screen reader, and never for a process that has ended."""

import subprocess
import sys
from pathlib import Path

import pytest

from engine.audio.other_voice import OtherVoice

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")


def test_the_window_sees_that_the_other_voice_speaks(tmp_path: Path):
    window, reader = OtherVoice(tmp_path / "lock"), OtherVoice(tmp_path / "lock")
    assert not window.speaks()
    for _ in range(2):
        reader.hold()
        reader.hold()
        assert window.speaks()
        reader.release()
        assert not window.speaks()
    assert (tmp_path / "lock").stat().st_mode & 0o777 == 0o600


def test_it_never_speaks_where_there_can_be_no_lock(tmp_path: Path):
    other = OtherVoice(tmp_path)  # a folder
    other.hold()
    assert not other.speaks()
    other.release()


def test_a_process_that_is_killed_while_it_speaks_does_not_keep_the_window_silent(tmp_path: Path):
    code = "import sys; from pathlib import Path; from engine.audio.other_voice import OtherVoice\n"
    code += "OtherVoice(Path(sys.argv[1])).hold(); voice = OtherVoice(Path(sys.argv[1]))\n"
    code += "voice.hold(); print('held', flush=True); sys.stdin.read()"
    path = str(tmp_path / "lock")
    with subprocess.Popen(
        [sys.executable, "-c", code, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == b"held\n"
        assert OtherVoice(Path(path)).speaks()
        reader.kill()
    assert not OtherVoice(Path(path)).speaks()
