"""The synthesiser in use: what it says of how it runs reaches the person."""

from dataclasses import replace

from engine.messages import Event, Notice
from engine.runtime.happenings import Happening
from engine.runtime.loaded_voice import LoadedVoice
from engine.settings import SpeechSettings
from engine.tts.base import TtsInfo, Voice
from tests.fakes import Stage
from tests.fakes_tts import FakeSession, FakeTts

SLOW, SLOWER = "It is slow.", "It is slower."


class SlowTts(FakeTts):
    """Notices only when a voice is made ready, and when a session is opened, that it is slow."""

    note = ""

    @property
    def info(self) -> TtsInfo:
        return replace(super().info, note=self.note)

    def warm(self, voice: Voice) -> None:
        self.note = SLOW

    def open(self, voice: Voice, *, seed: int) -> FakeSession:
        self.note = SLOWER
        return super().open(voice, seed=seed)


def test_what_a_model_notes_is_told_once_each() -> None:
    told: list[Happening | Event] = []
    stage = Stage()
    parts = replace(stage.parts(), synthesiser=lambda settings, progress: SlowTts())
    voice = LoadedVoice(parts, told.append)

    def notices() -> list[str]:
        return [event.text for event in told if isinstance(event, Notice)]

    voice.load(SpeechSettings())
    assert notices() == [SLOW]
    voice.open()
    voice.open()
    assert notices() == [SLOW, SLOWER]
