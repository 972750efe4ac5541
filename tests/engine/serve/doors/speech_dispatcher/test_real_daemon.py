"""The module behind the real speech-dispatcher (0.11 or newer), which plays into a virtual sound
card. Only where both are installed.
"""

import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.serve.doors.speech_dispatcher.real_daemon import Client, real_daemon
from tests.help.machine.needed import need, own_card

pytestmark = [pytest.mark.long, pytest.mark.device]
SENTENCE = "This is one sentence. And here comes another one, which is the last of them."


@pytest.fixture(params=["espeak", "auto"])
def client(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Client]:
    need([] if shutil.which("speech-dispatcher") else ["speech-dispatcher"])
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "RUBATO_CONFIG", "RUBATO_DATA"):
        monkeypatch.setenv(name, str(tmp_path / name))
        (tmp_path / name).mkdir()
    settings = f'[speech]\nengine = "{request.param}"\n'
    (tmp_path / "RUBATO_CONFIG" / "settings.toml").write_text(settings)
    with own_card() as card, real_daemon(card) as made:
        yield made


def test_a_client_of_the_daemon_is_served(client):
    assert any(line[4:] == "rubato" for line in client.ask("LIST OUTPUT_MODULES"))
    voices = client.ask("LIST SYNTHESIS_VOICES")
    assert any("German\tde" in line for line in voices)
    for _ in range(3):
        client.speak(SENTENCE)
        assert client.until("end", "cancel") == "end"
        assert "begin" in client.events
    for command in ("CHAR a", "KEY shift_a"):
        client.events.clear()
        client.ask(command)
        client.until("end")
    client.ask("SET SELF SSML_MODE ON")
    client.speak("<speak>One <mark name='here'/>two <mark name='there'/>three.</speak>")
    client.until("end")
    assert [each for each in client.events if each.startswith("INDEX")] == ["INDEX MARK"] * 2


def test_pauses_and_random_cancels_lose_no_message(client):
    client.speak(SENTENCE)
    client.until("begin")
    client.ask("PAUSE SELF")
    client.until("pause", "end")
    client.ask("RESUME SELF")
    chance = random.Random(58)
    for _ in range(100):
        client.speak(SENTENCE)
        time.sleep(chance.choice((0.0, 0.001, 0.02, 0.1)))
        client.ask("CANCEL SELF")
    client.speak("Still here.")
    assert client.until("end") == "end"
