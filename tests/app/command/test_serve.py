"""`rubato serve --json` ends with the window, also with one that was killed."""

import os
import subprocess
import sys

import pytest

from app.command.cli import parse

SERVES = """
import time
from app.command import serve
print("ready", flush=True)
watcher = serve._for_window()
while watcher.wanted():
    time.sleep(0.02)
"""
# As on Windows: its parent is not the window but a launcher, which waits for it.
LAUNCHER = f"import subprocess, sys; subprocess.call([sys.executable, '-c', {SERVES!r}])"
WINDOW = f"""
import subprocess, sys, time
command = [sys.executable, "-c", {LAUNCHER!r}]
child = subprocess.Popen(command, stdin=subprocess.PIPE)
time.sleep(600)
"""


@pytest.fixture
def env() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}


def test_it_ends_with_a_window_that_is_killed(env):
    with subprocess.Popen(
        [sys.executable, "-c", WINDOW], stdout=subprocess.PIPE, env=env
    ) as window:
        assert window.stdout is not None
        assert window.stdout.readline() == b"ready\n"
        window.kill()
        assert window.communicate(timeout=60)[0] == b""  # all that could write has ended


@pytest.mark.parametrize("written", [b"", b"typed\n" * 3])
def test_it_goes_on_while_its_standard_input_is_open_or_is_no_pipe(env, written):
    script = SERVES.replace("watcher.wanted()", "all(watcher.wanted() for _ in range(3))")
    script = script.replace("time.sleep(0.02)", "break\nelse:\n    print('ended')")
    command = [sys.executable, "-c", script]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(written)
        process.stdin.flush()
        assert process.stdout.read() == b"ready\n"
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, env=env, check=True
    )
    assert done.stdout == b"ready\n"


def test_nothing_but_the_agent_uses_its_standard_output(capsys):
    with pytest.raises(SystemExit):
        parse(["serve", "--mcp", "--json"])
    assert capsys.readouterr().out == ""
