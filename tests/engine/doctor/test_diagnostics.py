"""Diagnostics hold nothing of the person: secrets are planted wherever one leaves something."""

import json
import logging
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from engine.audio.devices import portaudio
from engine.audio.devices.portaudio import Devices
from engine.crash_notes import CrashNotes
from engine.doctor import diagnostics, examine, parts
from engine.doctor.finding import Finding, State, changed
from engine.errors import DeviceError
from engine.settings import Choice, Settings, change, keys, schema, value_of
from tests.engine.tts.voxtream.files.small_pack import write_pack

SECRET = "petunia"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's home with their name in every path."""
    folder = tmp_path / SECRET
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("RUBATO_DATA", str(folder / "data"))
    monkeypatch.setenv("RUBATO_CONFIG", str(folder / "config"))
    monkeypatch.setenv("DISPLAY", f"{SECRET}:7")
    monkeypatch.setenv("PETUNIA_KEY", SECRET)
    monkeypatch.setattr(
        portaudio, "devices", lambda: Devices((f"{SECRET}'s headset",), (f"{SECRET}'s box",))
    )
    return folder


@pytest.fixture
def notes(home: Path) -> Iterator[CrashNotes]:
    made = CrashNotes(home / "data" / "notes")
    made.begin()
    yield made
    made.end()


def everything(home: Path) -> Settings:
    """Every setting that takes a text of the person's holds the secret."""
    settings = Settings()
    for key in keys():
        if isinstance(value_of(settings, key), str) and not isinstance(schema()[key].rule, Choice):
            address = key.endswith("address")
            value = f"http://{SECRET}.invalid:1/v1" if address else SECRET
            settings = change(settings, key, "pet" if key.endswith("language") else value)
    settings = change(settings, "language_model.key_variable", "PETUNIA_KEY")
    return change(settings, "language_model.model", str(home / "model.gguf"))


def shared(settings: Settings, notes: CrashNotes, findings: list[Finding] | None = None) -> str:
    found = examine(settings) if findings is None else findings
    return json.dumps(diagnostics(settings, found, notes), ensure_ascii=False)


def variants(home: Path) -> list[Settings]:
    base = everything(home)
    return [
        change(change(base, "language_model.engine", engine), "recogniser.engine", ears)
        for engine, ears in (("server", "whisper"), ("llama", "auto"), ("skills", "sphinx"))
    ]


def test_no_setting_device_path_or_key_of_the_person_is_told(home, notes):
    seen = " ".join(finding.text + finding.advice for finding in examine(everything(home)))
    assert seen.count(SECRET) > 3  # by the person, whom the shared text leaves out
    for content in (None, b"PK", b"GGUF"):
        if content is not None:
            (home / "model.gguf").write_bytes(content)
        for settings in variants(home):
            told = shared(settings, notes)
            assert SECRET not in told.lower()
            assert '"part": "microphone"' in told


def test_neither_a_broken_settings_file_nor_a_server_nor_the_names_of_a_pack_are_told(home, notes):
    (home / "config").mkdir()
    (home / "config" / "settings.toml").write_text(f'{SECRET} = 1\n[audio]\nvolume = "{SECRET}"\n')
    write_pack(home / "data" / "models" / "starter")
    told = shared(Settings(), notes)
    assert '"part": "settings", "state": "warning"' in told
    assert not any(name in told.lower() for name in (SECRET, "ada", "bruno"))
    with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as gone:
        address = f"http://localhost:{gone.server_port}/{SECRET}/v1"
    settings = change(everything(home), "language_model.address", address)
    found = list(parts._server(settings.language_model))
    assert SECRET in repr(found)
    assert SECRET not in shared(settings, notes, found).lower()


def test_of_an_error_the_code_or_the_kind_is_told(home, notes, monkeypatch):
    def devices() -> Devices:
        raise DeviceError(f"{SECRET} is gone.", hint=f"Ask {SECRET}.")

    def broken(settings: Settings) -> Iterator[Finding]:
        raise RuntimeError(SECRET)
        yield

    monkeypatch.setattr(portaudio, "devices", devices)
    found = [*parts.sound(Settings()), *examine(Settings(), [broken])]
    told = shared(Settings(), notes, found)
    assert SECRET not in told
    assert '"code": "device"' in told
    assert "RuntimeError" in told


def test_neither_log_nor_crashes_nor_what_was_kept_is_told(home, notes):
    logging.getLogger("engine.x").error("voice gone name=%s", SECRET, exc_info=OSError(5, SECRET))
    notes.note("a test", ValueError(f"/srv/{SECRET}/letters.txt"))
    (home / "data" / "voices").mkdir(parents=True)
    (home / "data" / "timers.json").write_text(json.dumps({"for": SECRET}))
    (home / "data" / "voices" / f"{SECRET}.safetensors").write_bytes(b"")
    told = shared(Settings(), notes)
    assert "voice gone name=…" in told
    assert "ValueError" in told
    assert SECRET not in told.lower()


def test_a_path_or_address_that_a_check_forgot_is_left_out(home, notes):
    text = f"In {home}/x, /srv/{SECRET}, C:\\Users\\{SECRET} or https://{SECRET}.example; see a/b"
    told = shared(Settings(), notes, [Finding("x", State.OK, text, f"ask {SECRET}@example.org")])
    assert SECRET not in told
    assert "see a/b" in told
    finding = Finding("x", State.OK, "ann and anna", "anna", private=("ann", "anna"))
    assert (finding.shared()["text"], finding.shared()["advice"]) == ("… and …", "…")


def test_settings_are_told_where_they_are_numbers_or_from_a_list():
    settings = change(change(Settings(), "speech.rate", 4.5), "window.theme", "dark")
    settings = change(settings, "audio.microphone", SECRET)
    told = {"audio.microphone": "…", "speech.rate": 4.5, "window.theme": "dark"}
    assert changed(settings) == told
