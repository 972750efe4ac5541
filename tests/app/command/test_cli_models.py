"""`rubato models` does what it says, on the person's own folders, and tells it."""

import json
from pathlib import Path
from typing import Any

import pytest

from app.__main__ import main
from app.command import models
from engine import api, settings_file
from engine.asr import pick as ears
from engine.assets.catalogue import find
from engine.bench import Row
from engine.models import choice
from engine.models.servers import ServedModel
from engine.settings_file import data_folder
from engine.tts import pick as speech
from tests.engine.assets.hub import Hub


@pytest.fixture(autouse=True)
def _nothing_is_measured(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "bench_recognisers", lambda *_, **__: ())  # the benchmark's own matter
    monkeypatch.setattr(api, "bench_synthesisers", lambda *_, **__: ())


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Any:
    """Run a command; its exit status and what it wrote, as JSON where it is."""

    def run(*arguments: str) -> tuple[int, Any]:
        status = main(["models", *arguments])
        out = capsys.readouterr().out
        return status, json.loads(out) if "--json" in arguments else out

    return run


@pytest.mark.parametrize(
    ("name", "rows", "line"),
    [
        (
            "whisper-tiny",
            (Row("recogniser", "whisper-base", final_ms=2500.0),),
            "Recogniser 'auto': sphinx. Whisper is not fetched",
        ),
        (
            "kokoro",
            (Row("synthesiser", "kokoro", rtf=0.25),),
            "Synthesiser 'auto': starter. The built-in voice: Kokoro is not fetched",
        ),
        ("qwen3-4b", (), ""),
    ],
)
def test_what_may_be_automatic_is_measured_once_it_is_here(name, rows, line, monkeypatch):
    said: list[str] = []
    monkeypatch.setattr(api, "bench_recognisers", lambda *_, **__: rows)
    monkeypatch.setattr(api, "bench_synthesisers", lambda *_, **__: rows)
    models._measure((name,), said.append)
    assert len(said) == bool(line)
    assert all(each.startswith(line) for each in said)  # nothing was really fetched here
    kept = ears.find_pick(data_folder()), speech.find_pick(data_folder())
    assert [pick is not None for pick in kept] == [name == "whisper-tiny", name == "kokoro"]


def test_the_list_names_every_model_with_size_licence_and_need_and_looks_for_no_servers(
    told, monkeypatch
):
    def looked() -> tuple[ServedModel, ...]:
        raise AssertionError

    monkeypatch.setattr(choice, "find_served", looked)
    status, found = told("list", "--json")
    assert status == 0
    by_name = {each["name"]: each for each in found["models"]}
    four = by_name["qwen3-4b"]
    assert (four["state"], four["origin"], four["licence"]) == ("missing", "listed", "Apache-2.0")
    assert (four["megabytes"], four["memory_mb"]) == (2497, 3147)
    assert by_name["skills"]["in_use"]
    assert found["recommended"]["text"].endswith(".")


def test_the_terms_of_all_that_will_be_fetched_are_told_before(told, monkeypatch, capsys):
    told_before: list[str] = []

    def fetch(name: str, show: object) -> tuple[Path, ...]:
        told_before.append(capsys.readouterr().err)
        return ()

    monkeypatch.setattr("engine.models.storage.fetch", fetch)
    assert main(["models", "get", "voxtream2-1"]) == 0
    (said,) = told_before
    assert "CC-BY-4.0 on its card, CC BY-NC 4.0 in their README" in said
    assert "the first download is pinned" in said
    assert "ReDimNet-M" in said
    assert "MIT" in said


def test_what_was_fetched_is_verified_used_and_not_removed_while_in_use(told, data, capsys):
    status, got = told("get", "qwen3-4b", "--json")
    folder = data / "models" / "qwen3-4b"
    assert (status, got) == (0, {"fetched": {"qwen3-4b": [str(folder)]}})
    assert told("verify", "qwen3-4b", "--json") == (0, {"name": "qwen3-4b", "faults": []})
    status, used = told("use", "qwen3-4b", "--json")
    file = str(folder / find("qwen3-4b").files[0].path)
    changes = {"language_model.engine": "llama", "language_model.model": file}
    assert (status, used) == (0, {"name": "qwen3-4b", "settings": changes})
    settings, _ = settings_file.load(settings_file.default_path())
    assert settings.language_model.model == file
    (folder / file).write_bytes(bytes((folder / file).stat().st_size))
    status, changed = told("verify", "qwen3-4b", "--json")
    assert (status, len(changed["faults"])) == (1, 1)
    assert main(["models", "remove", "qwen3-4b"]) == 1
    assert "is in use" in capsys.readouterr().err
    told("use", "skills")
    assert told("remove", "qwen3-4b", "--json")[1]["freed_bytes"] > 0
    assert not folder.exists()
