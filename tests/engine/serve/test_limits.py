"""How many a server speaks for at once."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.serve.server import own_limits
from engine.settings import Settings, SpeechSettings
from engine.tts import speeds


def test_places_are_as_measured_unless_the_person_set_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    settings = Settings(speech=SpeechSettings(engine="starter"))
    assert own_limits(settings).slots == speeds.UNMEASURED
    speeds.keep({"starter": 0.15}, tmp_path)
    assert own_limits(settings).slots == 4
    chosen = replace(settings, serve=replace(settings.serve, places=3))
    assert own_limits(chosen).slots == 3
