"""Voices that are to be learnt, through the worker that keeps the list: asked for, given up, begun
again after a restart, chosen, and what happens when files or disks fail meanwhile.
"""

from pathlib import Path
from types import SimpleNamespace

import pytest

from engine.errors import InvalidInput
from engine.messages.commands import AddVoice
from engine.messages.events import Failed
from engine.messages.voices import (
    ChooseLearnt,
    DiscardVoice,
    LearnVoice,
    ListVoices,
    RemoveVoice,
    RenameVoice,
    VoiceEntry,
    VoicesListed,
)
from engine.runtime.host import voice_learning
from engine.runtime.turn.facts import VoiceMoved
from engine.runtime.workers import background, worker
from engine.runtime.workers.background import Background
from engine.tts import voice_notes, voices
from engine.tts.kokoro import learnt as learnt_files
from engine.tts.kokoro.voices import LEARNT, MAKING
from engine.tts.registry import VoiceCatalogue
from engine.tts.voice_lookup import adopt
from tests.engine.runtime.by_hand import HandWorker
from tests.engine.runtime.host.test_voice_learning import TEXT, keep, lessons
from tests.engine.tts.kokoro.small import small

__all__ = ["lessons"]  # a fixture
KOKORO = VoiceCatalogue("kokoro", ("Heart",), can_clone=True)


class Desk:
    """A background worker without a thread, and all that it told."""

    def __init__(self) -> None:
        self.told: list[object] = []
        factories = SimpleNamespace(devices=SimpleNamespace(poll=lambda: None))
        voice = SimpleNamespace(
            catalogue=lambda: KOKORO,
            adopt=lambda clip, name, stretch: adopt(small(), clip, name, stretch),
        )
        self._background = Background(factories, self.told.append, voice)

    def do(self, *jobs: object) -> VoiceEntry | None:
        """What the list says of the person's voice then; None = there is none."""
        for job in (*jobs, ListVoices()):
            self._background.post(job)
        self._background._worker.run()
        listed = [each for each in self.told if isinstance(each, VoicesListed)][-1]
        return next((each for each in listed.voices if not each.own), None)

    def faults(self) -> list[str]:
        return [each.message for each in self.told if isinstance(each, Failed)]


@pytest.fixture
def desk(tmp_path, monkeypatch) -> Desk:
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    monkeypatch.setattr(worker, "Worker", HandWorker)
    return Desk()


def full(*_: object) -> None:
    raise OSError(28, "No space left on device")


def test_whatever_goes_wrong_with_a_recording_ends_the_window_s_wait_for_it(desk, monkeypatch):
    def fail(*_: object, **_how: object) -> None:
        raise RuntimeError("strange")

    monkeypatch.setattr(background, "inspect", fail)
    desk.do(AddVoice(Path("me.wav")))
    codes = [each.code for each in desk.told if isinstance(each, Failed)]
    assert codes == ["unreadable-clip"]


def test_learning_is_asked_for_given_up_and_asked_for_after_a_restart(desk):
    keep()
    assert desk.do().words is None
    assert desk.do(LearnVoice("anna", words=TEXT)).words == TEXT
    assert Desk().do().words == TEXT  # another start of the program
    given_up = desk.do(LearnVoice("Anna", on=False))
    assert (given_up.words, given_up.can_learn, given_up.fit) == (None, True, None)
    assert not desk.faults()


def test_what_was_learnt_is_offered_and_either_can_be_kept(desk, lessons):
    for learnt in (False, True):
        keep()
        desk.do(LearnVoice("Anna", words=TEXT))
        fit = voice_learning.learn("Anna", TEXT).file
        assert desk.do().fit == fit
        chosen = desk.do(ChooseLearnt("Anna", learnt=learnt))
        assert (chosen.learnt, chosen.fit, chosen.words) == (learnt, None, None)
        assert VoiceMoved("Anna", "Anna") in desk.told
        making = voices.header(keep_path()).recipe_version
        assert making == (LEARNT if learnt else MAKING)
    assert len(lessons) == 2
    assert not desk.faults()


def keep_path():
    (saved,) = voices.saved_voices(voices.folder())
    return saved.path


def test_a_program_that_is_closed_at_30_percent_goes_on_from_there(desk, lessons, monkeypatch):
    keep()
    desk.do(LearnVoice("Anna", words=TEXT))
    with voice_learning._kokoro() as model:
        learn, begun = model.learn, []

    def break_off(lesson, checkpoint, show):
        begun.append(checkpoint)
        checkpoint.write_bytes(b"18 of 60")
        show(0.3)
        raise SystemExit(1)  # as the command ends when its caller is gone

    monkeypatch.setattr(model, "learn", break_off)
    with pytest.raises(SystemExit):
        voice_learning.learn("Anna", TEXT)
    there = Desk()
    assert (there.do().words, there.do().fit) == (TEXT, None)
    there.do(RenameVoice("Anna", "Bert"))

    def go_on(lesson, checkpoint, show):
        begun.append(checkpoint)
        assert checkpoint.read_bytes() == b"18 of 60"
        return learn(lesson, checkpoint, show)

    monkeypatch.setattr(model, "learn", go_on)
    voice_learning.learn("Bert", TEXT)
    assert begun[0] == begun[1]
    bert = there.do(ChooseLearnt("Bert", learnt=True))
    assert (bert.name, bert.learnt) == ("Bert", True)
    assert not begun[0].exists()


def test_a_voice_that_is_removed_meanwhile_is_not_brought_back(desk, lessons, monkeypatch):
    keep()
    with voice_learning._kokoro() as model:
        learn = model.learn

    def remove_and_learn(lesson, checkpoint, show):
        desk.do(RemoveVoice("Anna"), DiscardVoice("Anna"))
        return learn(lesson, checkpoint, show)

    monkeypatch.setattr(model, "learn", remove_and_learn)
    with pytest.raises(InvalidInput, match="no voice called 'Anna'"):
        voice_learning.learn("Anna", TEXT)
    assert not list((voices.folder() / voices.LEARNT_FOLDER).iterdir())
    assert desk.do(ChooseLearnt("Anna", learnt=True)) is None
    assert desk.faults() == ["There is no voice called 'Anna' that you made."]


def test_a_recording_that_is_deleted_before_it_was_read_is_said(desk, tmp_path):
    gone = tmp_path / "gone.wav"
    assert desk.do(AddVoice(gone, consent=True, name="Anna"), LearnVoice("Anna")) is None
    assert len(desk.faults()) == 1
    assert "gone.wav" in desk.faults()[0]


def test_a_full_disk_leaves_the_blend_and_what_was_learnt(desk, lessons, monkeypatch):
    saved = keep()
    fit = voice_learning.learn("Anna", TEXT).file
    with monkeypatch.context() as patch:
        for module in (voices, voice_notes):
            patch.setattr(module, "replace_file", full)
        anna = desk.do(ChooseLearnt("Anna", learnt=True), LearnVoice("Anna", words=TEXT))
        assert (anna.fit, anna.learnt, anna.words) == (fit, False, None)
        assert len(desk.faults()) == 2
        assert all("No space left" in each for each in desk.faults())
    assert voices.header(saved.path).recipe_version == MAKING
    assert desk.do(ChooseLearnt("Anna", learnt=True)).learnt
    assert learnt_files.learnt_file("Anna") is None
