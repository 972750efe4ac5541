"""The synthesiser in use: what it says of how it runs reaches the person."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.messages.events import Event, Notice, Ready
from engine.runtime.turn.facts import Fact
from engine.runtime.workers.voice.loaded_voice import LoadedVoice
from engine.settings import SpeechSettings
from engine.tts import pick
from engine.tts.base import Progress, TtsInfo, Voice
from engine.tts.kokoro import place
from tests.fakes import FakeParts
from tests.fakes_tts import FakeSession, FakeTts

SLOW, SLOWER = "It is slow.", "It is slower."


class NotingTts(FakeTts):
    """Notices only when a voice is made ready, and when a session is opened, that it is slow;
    remembers the seeds of its sessions, and which voices were made ready.
    """

    def __init__(self) -> None:
        super().__init__()
        self.note = ""
        self.seeds: list[int] = []
        self.warmed: list[str] = []

    @property
    def info(self) -> TtsInfo:
        return replace(super().info, note=self.note)

    def voices(self) -> tuple[Voice, ...]:
        return (*super().voices(), Voice("Bell", "fake"))

    def warm(self, voice: Voice) -> None:
        self.note = self.note or SLOW
        self.warmed.append(voice.name)

    def open(self, voice: Voice, *, seed: int) -> FakeSession:
        self.note = SLOWER
        self.seeds.append(seed)
        return super().open(voice, seed=seed)


def test_the_automatic_synthesiser_is_loaded_as_what_it_is_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    told: list[Fact | Event] = []
    loaded: list[str] = []

    def load(settings: SpeechSettings, progress: Progress) -> FakeTts:
        loaded.append(settings.engine)
        return FakeTts()

    voice = LoadedVoice(replace(FakeParts().factories(), synthesiser=load), told.append)
    voice.load(SpeechSettings())
    voice.load(SpeechSettings(seed=3))  # nothing else
    for file in (place.model_file(), place.voices_folder() / "af_heart.bin"):
        file.parent.mkdir(parents=True)
        file.touch()
    voice.load(SpeechSettings())
    assert loaded == ["starter", "kokoro"]
    reasons = [event.why for event in told if isinstance(event, Ready)]
    assert reasons == [pick.NOT_FETCHED, pick.NOT_FETCHED, pick.UNMEASURED]


def test_seed_and_voice_apply_without_loading_and_what_a_model_notes_is_told_once_each() -> None:
    made: list[NotingTts] = []
    told: list[Fact | Event] = []

    def load(settings: SpeechSettings, progress: Progress) -> NotingTts:
        made.append(NotingTts())
        return made[-1]

    voice = LoadedVoice(replace(FakeParts().factories(), synthesiser=load), told.append)
    voice.load(SpeechSettings(seed=1))
    voice.load(SpeechSettings(seed=2))
    assert [event.text for event in told if isinstance(event, Notice)] == [SLOW]
    voice.open()
    voice.load(SpeechSettings(seed=2, voice="Bell"))
    voice.load(SpeechSettings(seed=3, voice="Bell"))
    voice.open()
    assert [event.text for event in told if isinstance(event, Notice)] == [SLOW, SLOWER]
    assert [(model.seeds, model.warmed) for model in made] == [([2, 3], ["Tone", "Bell"])]
    voice.load(SpeechSettings(seed=3, voice="Bell", device="cpu"))
    assert [model.warmed for model in made] == [["Tone", "Bell"], ["Bell"]]
