"""The table of the papers' systems, and who reads it."""

from pathlib import Path

import pytest

import engine.training
from engine.doctor.finding import State
from engine.doctor.parts import synthesiser
from engine.errors import InvalidInput, ModelError
from engine.messages.models import Origin, Presence
from engine.models.choice import changes, remove
from engine.models.listing import entry
from engine.resources import ROOTS
from engine.settings import Settings, change, systems
from engine.settings.systems import SYSTEMS
from engine.training.compare.compare import SYSTEMS as COMPARED
from engine.training.run import read_recipe
from engine.tts import packs, registry

RECIPES = Path(engine.training.__file__).with_name("recipes")
pytestmark = pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    monkeypatch.setattr(packs, "SHIPPED", "no such folder")  # whatever comes with the program
    return tmp_path


def lay(folder: Path, system: str) -> None:
    folder.mkdir(parents=True)
    (folder / packs.CONFIG_FILE).write_text(f'{{"system": "{system}"}}', encoding="utf-8")


def test_a_system_has_a_loader_a_recipe_of_its_name_and_a_row(system):
    assert system.name in registry.NAMES
    recipe = read_recipe(RECIPES / f"{system.name}.toml")
    assert recipe.name == recipe.export.name == system.name
    assert system.command.endswith(f"{system.name}.toml --install")
    assert system in COMPARED


def test_what_is_not_made_names_its_command(system, data):
    with pytest.raises(ModelError) as refusal:
        packs.pack_folder(system)
    assert system.command in refusal.value.hint
    listed = entry(system.name, Settings())
    assert (listed.origin, listed.state) == (Origin.MADE, Presence.MISSING)
    assert system.command in listed.obstacle
    with pytest.raises(InvalidInput):
        changes(listed)
    lay(packs.folder_of(system.name), system.name)
    assert packs.system_of(packs.folder_of(system.name)) == system.name
    listed = entry(system.name, Settings())
    assert (listed.state, listed.obstacle) == (Presence.COMPLETE, "")
    assert changes(listed) == (("speech.engine", system.name),)
    with pytest.raises(InvalidInput, match="hours to make"):
        remove(listed)
    lay(data / "other", "nobody")
    assert packs.system_of(data / "other") == ""
    with pytest.raises(ModelError):
        packs.system_of(data / "none")
    assert systems.find("nobody") is None


def test_the_doctor_misses_only_what_is_chosen(system, data, monkeypatch):
    chosen = change(Settings(), "speech.engine", system.name)
    for settings, state in ((Settings(), State.OK), (chosen, State.FAULT)):
        said = [each for each in synthesiser(settings) if system.command in str(each)]
        assert [each.state for each in said] == [state]
    monkeypatch.setattr("engine.resources.ROOTS", (data / "resources", *ROOTS))
    monkeypatch.setattr(packs, "SHIPPED", "systems")
    lay(data / "resources" / "systems" / system.name, system.name)
    said = [each for each in synthesiser(Settings()) if system.title in each.text]
    assert [(each.state, each.text) for each in said] == [(State.OK, f"{system.title}, built in")]
