"""Conversations by file: what stops them before they begin."""

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from engine.asr.base import Recogniser
from engine.audio.clips.recording import WaveFile
from engine.audio.devices.file_device import FileMicrophone
from engine.audio.devices.portaudio import Devices
from engine.errors import EngineError, InvalidInput, ModelError
from engine.messages.events import Event, Failed, Ready, TurnEnded
from engine.messages.words import Ending, Part
from engine.runtime.factories import Factories
from engine.runtime.headless import dialogue
from engine.runtime.headless.dialogue import READY_S, converse
from engine.settings import AudioSettings, RecogniserSettings, Settings
from tests.help.fakes.parts import FakeParts


@pytest.fixture
def question(tmp_path: Path) -> Path:
    path = tmp_path / "question.wav"
    soundfile.write(path, np.zeros(1_600, np.float32), 16_000)
    return path


def talk(microphone: Path | None, parts: Factories | None = None, **others: Any) -> Any:
    """converse() as far as it goes, on these parts or the real ones."""
    how = {"settings": Settings(), "loudspeaker": None, "show": lambda event: None, **others}
    return converse(microphone=microphone, factories=parts, **how)


def broken(settings: RecogniserSettings, phrases: Sequence[str]) -> Recogniser:
    raise ModelError(f"The model of {settings.engine} is half there.", hint="Fetch it again.")


@pytest.fixture
def nothing_stands_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """So it is not waited for."""
    monkeypatch.setattr(dialogue, "STAND_IN_S", 0.1)


@pytest.fixture(autouse=True)
def _nobody_speaks(monkeypatch: pytest.MonkeyPatch) -> None:
    """So no end of speech is waited for."""
    monkeypatch.setattr(dialogue, "QUIET_S", 0.1)
    monkeypatch.setattr(dialogue, "FileMicrophone", partial(FileMicrophone, tail_s=0.3))


@pytest.mark.usefixtures("nothing_stands_in")
def test_a_part_that_cannot_be_loaded_ends_it_soon_with_its_own_fault(question):
    factories = replace(FakeParts(loudspeakers={}).factories(), recogniser=broken)
    began = time.monotonic()
    with pytest.raises(EngineError, match="sphinx is half there") as caught:
        talk(question, factories)
    assert caught.value.hint == "Fetch it again."
    assert time.monotonic() - began < READY_S / 4


@pytest.mark.usefixtures("nothing_stands_in")
@pytest.mark.parametrize("loudspeakers", [{}, None], ids=["no device", "no microphone"])
def test_without_a_microphone_it_ends_at_once_and_says_what_to_do(loudspeakers):
    parts = FakeParts(microphones={})
    parts.loudspeakers = parts.loudspeakers if loudspeakers is None else loudspeakers
    shown: list[Event] = []
    with pytest.raises(EngineError, match="no microphone") as caught:
        talk(None, parts.factories(), show=shown.append)
    assert caught.value.hint.endswith("with --mic FILE.")
    told = [event.part for event in shown if isinstance(event, Failed)]
    assert told == ([Part.LOUDSPEAKER] if loudspeakers == {} else [])  # the other was raised


def test_a_microphone_that_is_lost_before_it_begins_ends_it(monkeypatch):
    monkeypatch.setattr(dialogue, "STAND_IN_S", 0.0)
    talk = dialogue._Talk(None, None, lambda _: None)
    for part in dialogue.NEEDED:
        talk.receive(Ready(part, "a"))
    talk.receive(Failed("device", "It is gone.", "Connect it.", part=Part.MICROPHONE))
    with pytest.raises(EngineError, match="It is gone"):
        talk.wait_ready()


def test_a_turn_that_was_joined_is_listed_once_with_all_that_was_said():
    parts = dialogue._Talk(None, None, lambda _: None)
    for turn, said, ending in (
        (1, "", Ending.SUPERSEDED),
        (2, "what time is it in tokyo", Ending.COMPLETE),
        (3, "never mind", Ending.SUPERSEDED),  # another question took its place
    ):
        parts.receive(TurnEnded(turn, ending, said, "", "", ""))
    assert [each.said for each in parts.turns] == ["what time is it in tokyo", "never mind"]


def test_a_part_that_stands_in_for_a_broken_one_lets_it_begin(question):
    parts = FakeParts()
    whisper_only = Settings(recogniser=RecogniserSettings(engine="whisper", model="/gone"))

    def recogniser(settings: RecogniserSettings, phrases: Sequence[str]) -> Recogniser:
        return broken(settings, phrases) if settings.engine == "whisper" else parts.recogniser

    factories = replace(parts.factories(), recogniser=recogniser)
    assert talk(question, factories, settings=whisper_only) == ()


NOWHERE = Path("none")


@pytest.mark.parametrize(
    ("loudspeaker", "exports", "fault"),
    [
        (NOWHERE / "reply.wav", (), "cannot be written"),
        (None, (NOWHERE / "talk.txt",), "cannot be written"),
        (Path("reply.mp3"), (), "as WAV"),
        (None, (Path("talk.srt"),), "saved as"),
    ],
    ids=str,
)
def test_what_could_not_be_kept_is_told_before_anything_is_loaded(
    question, loudspeaker, exports, fault
):
    with pytest.raises(InvalidInput, match=fault):
        talk(question, loudspeaker=loudspeaker, exports=exports)


def test_with_a_recording_the_microphone_of_the_settings_does_not_matter(question):
    """Neither that it was muted nor that it is connected, which would close the recording."""
    parts = FakeParts()
    parts.devices = Devices(("USB",), ())
    chosen = Settings(audio=AudioSettings(microphone="USB", muted=True))
    shown: list[Event] = []
    assert talk(question, parts.factories(), settings=chosen, show=shown.append) == ()
    ready = [event for event in shown if isinstance(event, Ready)]
    assert [event.name for event in ready if event.part is Part.MICROPHONE] == [question.name]
    assert not any(isinstance(event, Failed) for event in shown)


def test_a_muted_microphone_is_told_before_anything_is_loaded():
    with pytest.raises(InvalidInput, match="is muted"):
        talk(None, settings=Settings(audio=AudioSettings(muted=True)))


def test_each_file_is_written_though_another_cannot_be(tmp_path):
    parts = dialogue._Talk(None, None, (shown := list[Event]()).append)
    parts.begin()
    written = []

    def write(path: Path) -> None:
        if path.name.startswith("bad"):
            raise InvalidInput(f"{path.name} is refused.", hint="")
        written.append(path.name)

    paths = [tmp_path / name for name in ("bad 1.txt", "a.txt", "bad 2.md", "b.json")]
    with pytest.raises(InvalidInput, match=r"bad 1\.txt is refused"):
        parts.close(write, paths)
    assert written == ["a.txt", "b.json"]
    assert [event.message for event in shown if isinstance(event, Failed)] == [
        "bad 2.md is refused."
    ]


def test_a_reply_that_a_full_disk_refuses_ends_with_a_fault_and_no_file(
    question, tmp_path, monkeypatch
):
    def full(self: WaveFile, pcm: object) -> None:
        self.fault = OSError(28, "No space left on device")

    monkeypatch.setattr(WaveFile, "append", full)
    with pytest.raises(InvalidInput, match=r"reply\.wav cannot be written: No space left"):
        talk(question, FakeParts().factories(), loudspeaker=tmp_path / "reply.wav")
    assert [path.name for path in tmp_path.iterdir()] == [question.name]


def test_a_conversation_in_which_nobody_spoke_cannot_be_written(question, tmp_path):
    with pytest.raises(InvalidInput, match="no conversation yet"):
        talk(question, FakeParts().factories(), exports=(tmp_path / "talk.txt",))
    assert not (tmp_path / "talk.txt").exists()
