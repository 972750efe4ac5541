"""The page of models with models that people use: Whisper base, out of its packages where the hub
gives nothing, and a language model of one's own, SmolLM2, dropped and asked.
"""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

if not os.environ.get("CI"):
    pytest.importorskip("llama_cpp", reason="the extra 'llm' is not installed")

from app.look.theme import Theme
from engine.api import AddModel, Part, Presence, Ready, ReplyDelta, SendText
from engine.assets.packages import SMOLLM2
from engine.models import storage
from engine.runtime.factories import standard_factories
from tests.app.models.person import Person
from tests.engine.assets.hub import Hub, serving
from tests.faults.whole import Devices, Whole, whole
from tests.packaged import packaged

pytestmark = [pytest.mark.weights, pytest.mark.timeout(1200)]  # 240 MB are fetched
FETCH_S = 900.0


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Whole]:
    """With the recogniser that the settings name; its hub has nothing."""
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("RUBATO_CONFIG", str(tmp_path / "config"))
    real = standard_factories()
    factories = replace(Devices().in_place_of(real), recogniser=real.recogniser)
    with serving(Hub(status=403)) as hub, whole(factories=factories) as running:
        monkeypatch.setenv(storage.HUB, hub.endpoint)
        yield running


@pytest.fixture
def person(engine: Whole, qapp: QApplication, theme: Theme) -> Iterator[Person]:
    made = Person(engine, theme)
    yield made
    made.leave()


def ready(engine: Whole, part: Part) -> str:
    """The name of what is loaded for a part."""
    return [each.name for each in engine.of(Ready) if each.part is part][-1]


def test_whisper_is_fetched_used_verified_and_removed(engine, person):
    page = person.window.models.open()
    person.see(lambda: "whisper-base" in page.rows)
    row = page.rows["whisper-base"]
    assert row.act.text() == "Fetch 148 MB"
    person.click(row.act)
    person.see(lambda: row.entry.state is Presence.COMPLETE and not row.is_busy, FETCH_S)
    # 'auto' means it from now on
    person.see(lambda: row.entry.in_use and "whisper" in ready(engine, Part.RECOGNISER))
    row.verify.trigger()
    person.see(lambda: "as it was fetched" in row.said.text())
    row.remove.trigger()
    person.see(lambda: "in use" in row.said.text())
    person.click(page.rows["sphinx"].act)
    person.see(lambda: ready(engine, Part.RECOGNISER) == "sphinx")
    person.click(row.act)
    person.see(lambda: "whisper" in ready(engine, Part.RECOGNISER))
    person.click(page.rows["sphinx"].act)
    person.see(lambda: ready(engine, Part.RECOGNISER) == "sphinx" and not row.entry.in_use)
    row.remove.trigger()
    person.see(lambda: row.entry.state is Presence.MISSING)


def test_a_model_of_ones_own_is_added_used_and_answers(engine, person):
    file = packaged("smollm2", SMOLLM2) / SMOLLM2.name
    page = person.window.models.open()
    person.window.post(AddModel(file))
    own = lambda: [row for row in page.rows.values() if row.entry.folder == str(file)]  # noqa: E731
    person.see(own)
    (row,) = own()
    person.click(row.act)
    person.see(lambda: row.entry.in_use and ready(engine, Part.LANGUAGE_MODEL) == "llama", FETCH_S)
    engine.post(SendText("Who wrote Hamlet?"))
    person.see(lambda: engine.of(ReplyDelta))
    person.see(lambda: person.window.conversation.transcript.exchanges[-1].reply)
