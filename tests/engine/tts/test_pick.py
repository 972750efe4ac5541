"""What 'auto' is: VoXtream2 on a graphics card, Kokoro where it is quick enough, else the built-in
voice."""

from pathlib import Path

import pytest
import torch

from engine import machine
from engine.errors import ModelError
from engine.settings import SpeechSettings
from engine.tts import registry
from engine.tts.kokoro.voices import model_file, voices_folder
from engine.tts.pick import (
    FILE,
    LARGEST_RTF,
    can_clone,
    cannot_clone,
    find_pick,
    judge,
    keep,
    learner_mb,
    resolve,
    why,
)
from engine.tts.registry import of_settings
from engine.tts.voxtream.files import pick as profiles
from tests.engine.assets.fetched import fetched

AUTO = SpeechSettings()


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    monkeypatch.setattr(machine, "has_card_driver", lambda: False)
    return tmp_path


def fetch_kokoro() -> None:
    for file in (model_file(), voices_folder() / "af_heart.bin"):
        file.parent.mkdir(parents=True)
        file.touch()


def test_only_kokoro_and_the_published_voxtream2_make_a_voice_of_a_recording(data):
    able = [name for name in registry.NAMES if can_clone(name)]
    assert sorted(able) == ["kokoro", "voxtream2", "voxtream2-1"]
    for name in ("starter", "espeak", "smlle", "llmvox", "speakstream"):
        assert not of_settings(SpeechSettings(engine=name)).can_clone
    refusal = cannot_clone()
    assert refusal.hint == "Fetch Kokoro (111 MB) with: rubato models get kokoro"
    assert learner_mb() == 111
    fetch_kokoro()
    assert of_settings(SpeechSettings(engine="kokoro")).can_clone
    assert cannot_clone().hint == "Choose Kokoro as the synthesiser."
    assert learner_mb() == 0


@pytest.fixture
def card(data, monkeypatch) -> None:
    monkeypatch.setattr(machine, "has_usable_card", lambda: True)
    for name in ("voxtream2", "mimi", "redimnet"):
        fetched(data, name)


def test_the_default_is_auto_and_needs_no_download():
    assert AUTO.engine == "auto"
    assert resolve(AUTO).engine == "starter"
    assert why(AUTO) == "The built-in voice: Kokoro is not fetched (rubato models get kokoro)."
    fetch_kokoro()  # used until it is measured
    assert resolve(AUTO).engine == "kokoro"
    assert "is not measured yet" in why(AUTO)
    assert of_settings(AUTO).own[0] == "Heart"  # and its voices are listed


@pytest.mark.parametrize(
    ("rtf", "engine", "reason"),
    [
        (0.25, "kokoro", "Kokoro: this machine computes a second of speech in 0.25 s."),
        (LARGEST_RTF, "kokoro", "in 0.70 s"),
        (
            0.71,
            "starter",
            "The built-in voice: Kokoro needs 0.71 s for a second of speech, more than",
        ),
    ],
)
def test_the_measurement_decides(rtf, engine, reason, data):
    fetch_kokoro()
    keep(judge(rtf), data)
    assert resolve(AUTO).engine == engine
    assert reason in why(AUTO)


@pytest.mark.parametrize("lost", ["model", "voice"])
def test_half_a_download_is_not_used(lost, data):
    """Also where it was measured, and removed since."""
    fetch_kokoro()
    keep(judge(0.2), data)
    file = model_file() if lost == "model" else voices_folder() / "af_heart.bin"
    file.unlink()
    assert resolve(AUTO).engine == "starter"


@pytest.mark.usefixtures("card")
def test_a_graphics_card_runs_the_full_size_voice_in_its_best_edition(data) -> None:
    fetch_kokoro()
    assert resolve(AUTO).engine == "voxtream2"
    assert why(AUTO) == "VoXtream2: a graphics card runs it."
    fetched(data, "voxtream2-1")
    profiles.keep(profiles.judge("cuda", {"full": 0.5}), data)
    assert resolve(AUTO).engine == "voxtream2-1"
    assert "VoXtream2.1: a graphics card runs it. Its rates and loudness are estimates" in why(AUTO)
    assert resolve(SpeechSettings(device="cpu")).engine == "kokoro"


@pytest.mark.usefixtures("card")
def test_an_edition_with_estimated_rates_is_not_preferred_to_kokoro_before_it_is_measured(data):
    fetched(data, "voxtream2-1")
    assert resolve(AUTO).engine == "voxtream2-1"  # nothing better is there
    fetch_kokoro()
    profiles.keep(profiles.judge("cpu", {"int8": 0.5}), data)  # says nothing of the card
    assert resolve(AUTO).engine == "kokoro"
    assert "VoXtream2.1 is not measured on the graphics card yet (rubato bench)" in why(AUTO)


@pytest.mark.usefixtures("card")
def test_a_graphics_card_that_is_too_slow_or_a_voice_that_lacks_a_part_does_not(data) -> None:
    profiles.keep(profiles.judge("cpu", {"int8": 1.5}), data)  # of the processor
    assert resolve(AUTO).engine == "voxtream2"
    profiles.keep(profiles.judge("cuda", {"full": 1.5}), data)
    assert resolve(AUTO).engine == "starter"
    profiles.keep(profiles.judge("cuda", {"full": 0.5}), data)
    assert resolve(AUTO).engine == "voxtream2"
    (data / "models" / "mimi" / "pins.json").unlink()
    assert resolve(AUTO).engine == "starter"


@pytest.mark.parametrize("engine", registry.NAMES)
def test_what_is_chosen_by_name_stays(engine):
    fetch_kokoro()
    chosen = SpeechSettings(engine=engine)
    assert resolve(chosen) is chosen
    assert why(chosen) == ""


def test_a_synthesiser_that_is_none_counts_as_no_pick(data):
    (data / FILE).write_text('{"synthesiser": "siri", "reason": ""}')
    assert find_pick(data) is None


@pytest.mark.parametrize("find", [of_settings, lambda settings: registry.load(settings, print)])
def test_an_unknown_name_lists_those_there_are(find):
    with pytest.raises(ModelError, match="gramophone") as failure:
        find(SpeechSettings(engine="gramophone"))
    assert "espeak" in failure.value.hint


def test_a_voice_that_does_not_load_leaves_torch_its_threads(monkeypatch):
    """The one that speaks on was loaded with them."""

    def fail(*_: object) -> None:
        torch.set_num_threads(2)
        raise ModelError("It is damaged.")

    monkeypatch.setitem(registry._LOADERS, "kokoro", fail)
    torch.set_num_threads(1)
    with pytest.raises(ModelError, match="damaged"):
        registry.load(SpeechSettings(engine="kokoro"), print)
    assert torch.get_num_threads() == 1
