"""Where a paper's pack is looked for, and that the one that comes with the program speaks."""

from pathlib import Path

import pytest

from engine.bench.machine import bench_synthesisers
from engine.errors import InvalidInput
from engine.messages.comparison import ComparisonState, Recital
from engine.messages.models import Origin, Presence
from engine.models.choice import changes, remove
from engine.models.listing import entry
from engine.resources import ROOTS
from engine.runtime.host.comparison import compare
from engine.runtime.host.say_command import say
from engine.settings import Manner, Settings, SpeechSettings
from engine.systems import find
from engine.tts import packs, voice_catalogue
from tests.engine.tts.llmvox.small_model import write_pack

CHOSEN = Settings(speech=SpeechSettings(engine="llmvox"))


@pytest.fixture
def shipped(tmp_path, monkeypatch) -> Path:
    """A pack that comes with the program, and a data folder without one."""
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path / "data"))
    monkeypatch.setattr("engine.resources.ROOTS", (tmp_path / "resources", *ROOTS))
    return write_pack(tmp_path / "resources" / packs.SHIPPED / "llmvox")


def test_a_shipped_pack_speaks_and_is_measured_without_a_download(shipped, tmp_path):
    said = say("Good morning.", CHOSEN, Manner(voice="bruno", out=tmp_path / "out.wav"))
    assert (said.engine, said.audio_s > 0) == ("llmvox", True)
    assert voice_catalogue.of_settings(CHOSEN.speech).own == ("Ada", "Bruno")
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
