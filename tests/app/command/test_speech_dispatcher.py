"""`rubato speech-dispatcher`: the module that it installs is the program that the daemon starts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.__main__ import main
from engine.serve.doors.speech_dispatcher import installation
from tests.engine.serve.doors.speech_dispatcher.daemon import Daemon
from tests.help.process.fresh_python import ROOT, prints

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="speech-dispatcher is for Linux")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "RUBATO_LAUNCHER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("RUBATO_CONFIG", "RUBATO_DATA"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setattr(installation.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(installation, "_SYSTEM", tmp_path / "none")
    return tmp_path


def test_it_is_installed_speaks_as_the_daemon_starts_it_and_is_removed(home, capsys):
    (home / "RUBATO_CONFIG").mkdir()
    (home / "RUBATO_CONFIG" / "settings.toml").write_text('[speech]\nengine = "espeak"\n')
    assert main(["speech-dispatcher", "install"]) == 0
    said = capsys.readouterr()
    module = home / ".local/libexec/speech-dispatcher-modules/sd_rubato"
    assert str(module) in said.out
    assert "Speech synthesizer: rubato" in said.err
    with subprocess.Popen(
        [module, "/etc/rubato.conf"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    ) as started:
        assert started.stdin is not None
        assert started.stdout is not None
        daemon = Daemon(started.stdin.fileno(), os.dup(started.stdout.fileno()))
        assert daemon.ask("INIT")[-1] == "299 OK LOADED SUCCESSFULLY"
        assert "200-German\tde\tnone" in daemon.ask("LIST VOICES de")
        assert daemon.tell("SET", "rate=50", "language=en") == "203 OK SETTINGS RECEIVED"
        heard = daemon.speak("<speak>One <mark name='here'/>two.</speak>")
        assert (heard.end, heard.rate, heard.bad_samples) == ("702 END", 22_050, 0)
        assert [name for name, _ in heard.marks] == ["here"]
        assert heard.samples > 5_000
        assert daemon.ask("QUIT") == ["210 OK QUIT"]
        daemon.end()
    assert started.returncode == 0
    assert main(["speech-dispatcher", "remove"]) == 0
    assert "removed" in capsys.readouterr().out
    assert not module.exists()
    assert main(["speech-dispatcher", "remove"]) == 0
    assert "not installed" in capsys.readouterr().out


def test_without_speech_dispatcher_it_says_what_to_install(home, monkeypatch, capsys):
    monkeypatch.setattr(installation.shutil, "which", lambda name: None)
    assert main(["speech-dispatcher", "install"]) == 1
    assert "sudo apt install speech-dispatcher" in capsys.readouterr().err


def test_the_module_loads_no_large_library():
    code = "import sys; from engine.api import serve_daemon; from app.command import cli;"
    code += "print(*{'torch', 'PySide6', 'onnxruntime', 'asyncio', 'uvicorn'} & set(sys.modules))"
    assert prints(code) == ""
