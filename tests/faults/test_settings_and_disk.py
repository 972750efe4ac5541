"""A broken settings file and a full disk, through the whole engine and the command line."""

import errno
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.__main__ import main
from engine.api import ChangeSetting, Failed, Notice, Part, SettingChanged, load_settings
from engine.audio.devices.file_device import FileLoudspeaker
from engine.messages.words import Ending
from engine.runtime.factories import Factories, standard_factories
from engine.runtime.host import preferences
from engine.settings_file import LOCK
from tests.faults.whole import RATE, Devices, Whole, fast_clock, whole
from tests.help.machine.small_disk import small_disk

MINE = "# mine\n[speech]\nseed = 5\n"
BROKEN = "[speech\nrate = fast ["


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The person's settings file, in a folder of the test's own; a change is written at once."""
    monkeypatch.setenv("RUBATO_CONFIG", str(tmp_path))
    monkeypatch.setattr(preferences, "SAVE_AFTER_S", 0.0)
    return tmp_path / "settings.toml"


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def change_rate(engine: Whole, rate: float) -> None:
    before = len(engine.of(SettingChanged))
    engine.post(ChangeSetting("speech.rate", rate))
    engine.wait(lambda: len(engine.of(SettingChanged)) > before)


def test_the_command_line_tells_of_a_broken_settings_file_and_goes_on(config, capsys):
    config.write_text(BROKEN)
    out = config.with_name("said.wav")
    assert main(["say", "hello", "--out", str(out)]) == 0
    assert "cannot be read" in capsys.readouterr().err
    assert out.exists()
    assert config.read_text() == BROKEN


def test_what_is_written_by_hand_while_it_runs_is_kept_and_told_once(config):
    config.write_text("[audio]\nvolume = 0.5\n")
    settings, _ = load_settings()
    with whole(settings, path=config) as engine:
        change_rate(engine, 5.0)
        engine.wait(lambda: "rate" in config.read_text())
        config.write_text(config.read_text().replace("0.5", "0.25"))
        change_rate(engine, 4.0)
        engine.wait(lambda: any("by hand" in notice.text for notice in engine.of(Notice)))
        change_rate(engine, 3.0)
    saved, _ = load_settings()
    assert (saved.audio.volume, saved.speech.rate) == (0.25, 3.0)
    assert sum("by hand" in notice.text for notice in engine.of(Notice)) == 1


def test_a_model_file_that_is_not_there_is_refused_before_it_is_saved(config):
    pytest.importorskip("llama_cpp")
    with whole(path=config) as engine:
        engine.post(ChangeSetting("language_model.engine", "llama"))
        engine.post(ChangeSetting("language_model.model", "/nowhere/a.gguf"))
        engine.wait(lambda: any("/nowhere/a.gguf" in each.message for each in engine.of(Failed)))
        last = [e for e in engine.of(SettingChanged) if e.key == "language_model.model"][-1]
        assert last.value == ""
        assert engine.works()
    assert load_settings()[0].language_model.engine == "llama"
    assert load_settings()[0].language_model.model == ""


def test_a_write_that_fails_is_told_and_the_next_one_succeeds(config, monkeypatch):
    def no_room(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    config.write_text(MINE)
    with whole(path=config) as engine:
        with monkeypatch.context() as broken:
            broken.setattr("os.fsync", no_room)
            change_rate(engine, 5.0)
            engine.wait(lambda: engine.of(Failed))
        (failed,) = engine.of(Failed)
        assert failed.code == "settings"
        assert "no space left" in failed.message
        assert config.read_text() == MINE
        assert engine.works()
        change_rate(engine, 4.0)
    assert config.read_text().startswith(MINE)
    assert load_settings()[0].speech.rate == 4.0
    assert files(config.parent) == [LOCK, "settings.toml"]


def test_a_reply_that_fills_the_disk_is_finished_in_silence_and_the_next_turn_works(tmp_path):
    after = FileLoudspeaker(None, RATE, clock=fast_clock)
    factories = Devices().in_place_of(standard_factories())
    with small_disk(tmp_path / "disk", "64k") as disk:
        full = FileLoudspeaker(disk / "reply.wav", RATE, clock=fast_clock)
        offered = iter([full, after, after])
        factories = replace(factories, loudspeaker=lambda name: next(offered))
        fill(factories)
        assert files(disk) == []
    assert np.abs(after.recorded()).max() > 0.01


def fill(factories: Factories) -> None:
    with whole(factories=factories) as engine:
        ended = engine.ask("spell necessary")
        assert ended.ending is Ending.COMPLETE
        assert "could not be written" in engine.failed(Part.LOUDSPEAKER)[0].message
        assert engine.works()
