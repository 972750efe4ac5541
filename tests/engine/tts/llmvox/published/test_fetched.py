"""From a hub to speech: the files are fetched, pinned, converted and spoken with."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from app.__main__ import main
from engine.assets import catalogue
from engine.assets.catalogue import AssetFile
from engine.assets.store import PINS
from engine.models import listing
from engine.settings import Settings, SpeechSettings, change
from engine.tts.llmvox.published import place
from engine.tts.registry import load
from engine.tts.voice_catalogue import of_model, of_settings
from tests.engine.assets.hub import COMMIT, Hub, serving
from tests.engine.tts.llmvox.published.checkpoints import pickles, saved
from tests.engine.tts.utterances import say

SETTINGS = SpeechSettings(engine=place.NAME, device="cpu", profile="full")


@pytest.fixture(scope="module")
def hub() -> Iterator[Hub]:
    files = {place.PICKLES[asset]: saved(table) for asset, table in pickles().items()}
    with serving(Hub(files)) as running:
        yield running


@pytest.fixture(scope="module")
def fetched(hub: Hub, tmp_path_factory: pytest.TempPathFactory) -> Iterator[pytest.MonkeyPatch]:
    """By the command, from the hub, into a folder of its own."""
    patch = pytest.MonkeyPatch()
    patch.setenv("RUBATO_DATA", str(tmp_path_factory.mktemp("data")))
    patch.setenv("RUBATO_HUB", hub.endpoint)
    small = {  # small random files stand for the published ones
        name: replace(asset, files=tuple(AssetFile(f.path, f.megabytes) for f in asset.files))
        for name, asset in catalogue.catalogue().items()
    }
    catalogue.catalogue.cache_clear()
    patch.setattr(catalogue, "parse", lambda text: small)
    assert main(["models", "get", place.NAME]) == 0
    yield patch
    patch.undo()
    catalogue.catalogue.cache_clear()


@pytest.mark.usefixtures("fetched")
def test_it_speaks_with_what_was_fetched() -> None:
    """The commit that was the newest is pinned."""
    model = load(SETTINGS, lambda text, fraction: None)
    assert say(model, [["Nobody", "saw", "it", "go."]]).pcm.any()
    assert of_settings(SETTINGS) == of_model(model)
    assert "107 ms" in model.info.note
    for asset in place.PICKLES:
        assert COMMIT in (place.models_folder() / asset / PINS).read_text(encoding="utf-8")


@pytest.mark.usefixtures("fetched")
def test_it_is_listed_with_its_licence_and_can_be_chosen() -> None:
    settings = change(Settings(), "speech.engine", place.NAME)
    entry = listing.entry(place.NAME, settings)
    assert (entry.state.value, entry.kind, entry.in_use) == ("complete", "voice", True)
    assert "NC" in entry.licence
