"""What a pack says of itself: read as it was written, and refused where it cannot be built."""

import json
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.bench import bench_synthesisers
from engine.codec.mel import Levels
from engine.errors import InvalidInput, ModelError
from engine.messages.comparison import ComparisonState, Recital
from engine.messages.models import Origin, Presence
from engine.models.choice import changes, remove
from engine.models.listing import entry
from engine.resources import ROOTS
from engine.runtime.headless.comparison import compare
from engine.runtime.headless.say_command import say
from engine.settings import SayOptions, Settings, SpeechSettings
from engine.settings.systems import find
from engine.tts import packs, registry
from engine.tts.llmvox.model import LlmVoxGeneration, LlmVoxPackConfig
from engine.tts.pack_files import config_json, read_config
from engine.tts.smlle.transducer import SmlleGeneration, SmllePackConfig
from engine.tts.speakstream.model import SpeakStreamGeneration, SpeakStreamPackConfig
from engine.tts.voxtream.config import VoxtreamGeneration
from engine.tts.voxtream.files.pack import VoxtreamPackConfig
from engine.tts.voxtream.rate import RATE_TABLE
from engine.tts.voxtream.voxtream1.session import Voxtream1Generation, Voxtream1PackConfig
from tests.engine.tts.llmvox.small_model import SHAPE, write_pack
from tests.engine.tts.smlle.small import SHAPE as SMLLE
from tests.engine.tts.speakstream.small_model import SHAPE as SPEAKSTREAM
from tests.engine.tts.voxtream.files.small_pack import VOICE as STARTER
from tests.engine.tts.voxtream.voxtream1.small_voxtream1 import SMALL

VOXTREAM = replace(SMALL, audio_window=256, phone_window=256)
SYSTEMS: dict[str, Any] = {
    "llmvox": LlmVoxPackConfig("mine", SHAPE, LlmVoxGeneration()),
    "smlle": SmllePackConfig("mine", SMLLE, SmlleGeneration()),
    "speakstream": SpeakStreamPackConfig(
        "mine", SPEAKSTREAM, SpeakStreamGeneration(), Levels(-6.0, 2.0)
    ),
    "starter": VoxtreamPackConfig(
        "mine", STARTER, VoxtreamGeneration(highest_rate=3.0), RATE_TABLE
    ),
    "voxtream": Voxtream1PackConfig("mine", VOXTREAM, Voxtream1Generation(), "0" * 64),
}
NAMED = {"1.0": "counts|weight", "nan": "rate"}  # what is wrong of these
WRONG = tomllib.loads(Path(__file__).with_name("packs.toml").read_text("utf-8"))["wrong"]


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_configuration_is_read_as_it_was_written(system, tmp_path):
    file = tmp_path / "config.json"
    file.write_text(config_json(SYSTEMS[system]), encoding="utf-8")
    assert read_config(file, type(SYSTEMS[system])) == SYSTEMS[system]


@pytest.mark.parametrize(
    ("system", "section", "key", "value"), [*WRONG, ("starter", "", "name", None)]
)
def test_what_cannot_be_built_is_refused_by_name(system, section, key, value, tmp_path):
    table = whole = json.loads(config_json(SYSTEMS[system]))
    for name in filter(None, section.split(".")):
        table = table[name]
    table[key] = value
    file = tmp_path / "config.json"
    # JSON has no infinity, but a number may be too large to be anything else.
    file.write_text(json.dumps(whole).replace("Infinity", "1e999"), encoding="utf-8")
    named = f".*({NAMED.get(key, key)})" if system == "starter" else ""
    with pytest.raises(ModelError, match=rf"config\.json{named}"):
        read_config(file, type(SYSTEMS[system]))


# ----------------------------------------------------------------------- where they are looked for


CHOSEN = Settings(speech=SpeechSettings(engine="llmvox"))


@pytest.fixture
def shipped(tmp_path, monkeypatch) -> Path:
    """A pack that comes with the program, and a data folder without one."""
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path / "data"))
    monkeypatch.setattr("engine.resources.ROOTS", (tmp_path / "resources", *ROOTS))
    return write_pack(tmp_path / "resources" / packs.SHIPPED / "llmvox")


def test_a_shipped_pack_speaks_and_is_measured_without_a_download(shipped, tmp_path):
    said = say("Good morning.", CHOSEN, SayOptions(voice="bruno", out=tmp_path / "out.wav"))
    assert (said.engine, said.audio_s > 0) == ("llmvox", True)
    assert registry.of_settings(CHOSEN.speech).own == ("Ada", "Bruno")
    (row,) = bench_synthesisers(Settings(), ("llmvox",))
    assert row.note == ""
    assert row.first_packet_ms is not None
    (compared,) = compare("Good morning.", Settings(), Recital(only=("llmvox",)))
    assert (compared.state, compared.voice) == (ComparisonState.DONE, "Ada")


def test_a_shipped_pack_is_listed_as_built_in_and_can_be_chosen(shipped):
    listed = entry("llmvox", Settings())
    assert (listed.origin, listed.state) == (Origin.BUILT_IN, Presence.COMPLETE)
    assert changes(listed) == (("speech.engine", "llmvox"),)
    with pytest.raises(InvalidInput, match="belongs to the program"):
        remove(listed)


def test_a_pack_of_one_s_own_goes_before_the_shipped_one(shipped):
    packs.folder_of("llmvox").mkdir(parents=True)
    assert packs.find("llmvox") == shipped  # half a pack hides none
    packs.folder_of("llmvox").rmdir()
    system = find("llmvox")
    assert packs.pack_folder(system) == shipped
    own = write_pack(packs.folder_of("llmvox"))
    assert packs.pack_folder(system) == own
    assert entry("llmvox", Settings()).origin is Origin.MADE
