"""Clients that people have, each in a process of its own, with a server that is started as people
start it.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import soundfile

from engine.serve.service import SAMPLE_RATE
from tests.engine.serve.served import asked

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
PATIENCE_S = 600  # a loaded machine takes minutes to import some of them
SETTINGS = '[speech]\nengine = "espeak"\n[recogniser]\nengine = "sphinx"\n'


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("rubato")
    (folder / "settings.toml").write_text(SETTINGS, encoding="utf-8")
    own = {"RUBATO_CONFIG": str(folder), "RUBATO_DATA": str(folder)}
    modules = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, **own, "NO_PROXY": "127.0.0.1", "PYTHONPATH": modules}


@pytest.fixture(scope="module")
def address(environment: dict[str, str]) -> Iterator[str]:
    command = [sys.executable, "-m", "app", "serve", "--port", "0", "--json"]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stderr is not None
        try:
            for line in server.stderr:
                if line.startswith('{"address"'):
                    yield json.loads(line)["address"] + "/v1"
                    break
        finally:
            server.terminate()


@pytest.fixture(scope="module")
def question(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("asked") / "question.wav"
    soundfile.write(path, asked("What time is it?"), SAMPLE_RATE, subtype="PCM_16")
    return path


def run(script: str, *arguments: object, environment: dict[str, str]) -> dict[str, Any]:
    """What a client printed in its last line."""
    command = [sys.executable, str(HERE / "clients.py"), script, *map(str, arguments)]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def test_openai_for_python(address: str, question: Path, environment: dict[str, str]) -> None:
    found = run("openai_python", address, question, environment=environment)
    assert "tts-1" in found["models"]
    assert all(size > 4_000 for size in found["speech"]["sizes"].values())
    assert found["speech"]["events"] == ["speech.audio.delta", "speech.audio.done"]
    assert "no voice called 'alloy'" in found["speech"]["refusal"]
    assert set(found["texts"]) == {"json", "text", "srt", "verbose_json", "vtt", "stream"}
    assert "what" in found["texts"]["json"]
    assert found["texts"]["srt"].startswith("1\n00:00:0")
    realtime = found["realtime"]
    assert realtime["bytes"] > SAMPLE_RATE
    assert realtime["said"].startswith(realtime["heard"])
    assert len(realtime["heard"]) < len(realtime["said"])
    assert "conversation.item.input_audio_transcription.completed" in realtime["kinds"]


def test_mcps_client(environment: dict[str, str]) -> None:
    found = run("mcp_client", ROOT, environment=environment)
    assert "speak" in found["tools"]
    assert found["voices"].startswith("Alan\n")
