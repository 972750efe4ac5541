"""Learning a voice as the commands do it: kept apart, chosen, refused with a reason."""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
import soundfile
import torch

from engine import translatable
from engine.audio.clips.clip import Clip
from engine.errors import InvalidInput, ModelError
from engine.runtime.host import voice_learning
from engine.settings import SpeechSettings
from engine.translatable import Translatable
from engine.tts import voices
from engine.tts.kokoro import learnt as learnt_files
from engine.tts.kokoro.fit import checks
from engine.tts.kokoro.voices import LEARNT, MAKING
from engine.tts.registry import VoiceCatalogue
from engine.tts.voice_lookup import choose
from engine.tts.voice_store import VoiceStore
from tests.engine.tts.kokoro.small import small, small_learnt_voice, small_voice

TEXT = "We will meet the others at seven."
CLIP = Clip(np.random.default_rng(1).normal(0, 0.1, 40_000).astype(np.float32), 16_000)


@pytest.fixture(autouse=True)
def _data(tmp_path, monkeypatch):
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))


@pytest.fixture
def lessons(monkeypatch) -> list[str]:
    """The texts that were learnt, each of which gives the same voice at once."""
    taken: list[str] = []
    model = small()

    def learn(lesson, checkpoint, show):
        taken.append(lesson.text)
        checkpoint.write_bytes(b"half")
        show(0.5)
        about = {**lesson.blend.metadata, "making": LEARNT}
        made = small_learnt_voice()
        return voices.Voice(lesson.blend.name, made.model, made.tensors, about)

    @contextmanager
    def kokoro():
        yield model

    monkeypatch.setattr(model, "learn", learn)
    monkeypatch.setattr(voice_learning, "_kokoro", kokoro)
    monkeypatch.setattr(checks, "check_recording", lambda *_: "It is noisy.")
    monkeypatch.setattr(checks, "fault", lambda *_: "")
    return taken


def keep(name: str = "Anna", clip: Clip | None = CLIP) -> voices.SavedVoice:
    return voices.save(replace(small_voice_of(CLIP), name=name), voices.folder(), clip)


def test_a_voice_is_learnt_once_and_speaks_when_it_is_chosen(lessons):
    saved = keep()
    shown: list[tuple[str, float]] = []
    learnt = voice_learning.learn("anna", TEXT, lambda *each: shown.append(each))
    assert (learnt.voice, learnt.transcript, learnt.advice) == ("Anna", TEXT, "It is noisy.")
    assert learnt.file == learnt_files.learnt_file("Anna")
    assert learnt.file.stat().st_mode & 0o777 == 0o600
    assert [share for _, share in shown] == sorted(share for _, share in shown)
    assert not list(learnt.file.parent.glob("*.checkpoint"))
    assert voices.load(saved.path).metadata["making"] == MAKING  # as it was

    assert voice_learning.learn("Anna", TEXT).file == learnt.file
    assert len(lessons) == 1
    voice_learning.learn("Anna", "Another text was said in it.")
    assert len(lessons) == 2

    learnt_files.choose("Anna", learnt=True)
    assert learnt_files.learnt_file("Anna") is None
    model = small()
    assert choose(model, "Anna").metadata["making"] == LEARNT  # and is not made again
    assert voices.header(saved.path).has_clip


def test_a_voice_that_learnt_begins_at_the_blend_again(lessons, monkeypatch):
    keep()
    voice_learning.learn("Anna", TEXT)
    learnt_files.choose("Anna", learnt=True)
    begun = []

    def encode_voice(pcm, sample_rate):
        begun.append(sample_rate)
        return small_voice()

    with voice_learning._kokoro() as model:
        monkeypatch.setattr(model, "encode_voice", encode_voice)
    assert voice_learning.learn("Anna", TEXT).voice == "Anna"
    assert begun == [CLIP.sample_rate]
    assert len(lessons) == 2


def test_the_blend_can_be_kept_instead(lessons):
    saved = keep()
    learnt = voice_learning.learn("Anna", TEXT)
    learnt_files.choose("Anna", learnt=False)
    assert not learnt.file.exists()
    assert voices.load(saved.path).metadata["making"] == MAKING
    with pytest.raises(InvalidInput, match="Nothing was learnt"):
        learnt_files.choose("Anna", learnt=True)


def test_a_fit_that_is_worse_is_not_kept_and_the_reason_is_said_at_once_from_then_on(
    lessons, monkeypatch
):
    keep()
    monkeypatch.setattr(checks, "fault", lambda *_: Translatable("{what} is worse.", what="It"))
    for _ in range(2):
        learnt = voice_learning.learn("Anna", TEXT)
        assert (learnt.file, learnt.reason) == (None, "It is worse.")
        assert translatable.to_json(learnt.reason) == ["{what} is worse.", {"what": "It"}]
    assert learnt_files.learnt_file("Anna") is None
    assert len(lessons) == 1
    voice_learning.learn("Anna", "Another text was said in it.")
    with monkeypatch.context() as patch:
        patch.setattr(learnt_files, "LEARNT", "learnt by another recipe")
        voice_learning.learn("Anna", TEXT)
    assert len(lessons) == 3
    monkeypatch.setattr(checks, "fault", lambda *_: "")
    assert voice_learning.learn("Anna", TEXT, again=True).file is not None
    assert len(lessons) == 4


def test_where_the_words_of_a_fit_suffer_less_of_it_is_offered(lessons, monkeypatch):
    keep()
    whole = small_learnt_voice().tensors
    moved: list[float] = []

    def fault(blend, voice, say, hear):
        moved.append(np.abs(voice.tensors["shift"]).max() / np.abs(whole["shift"]).max())
        return "" if moved[-1] < 0.8 else "It is worse."

    monkeypatch.setattr(checks, "fault", fault)
    learnt = voice_learning.learn("Anna", TEXT)
    assert moved == pytest.approx([1.0, 0.75])
    assert learnt.reason == ""
    style, blend = voices.load(learnt.file).tensors["style"], small_voice().tensors["style"]
    np.testing.assert_allclose(style, blend + 0.75 * (whole["style"] - blend), atol=1e-6)


def test_a_damaged_note_of_a_refusal_is_none(lessons, monkeypatch):
    keep()
    monkeypatch.setattr(checks, "fault", lambda *_: "It is worse.")
    voice_learning.learn("Anna", TEXT)
    (file,) = (voices.folder() / voices.LEARNT_FOLDER).glob("*.refused.json")
    for content in (b"", b"[]", b'{"recipe": 1}', b"\xff"):
        file.write_bytes(content)
        assert learnt_files.refusal(CLIP.digest, TEXT) == ""


def test_a_recording_that_was_refused_speaks_at_once_as_it_did(tmp_path, lessons, monkeypatch):
    file = tmp_path / "clip.wav"
    soundfile.write(file, CLIP.pcm, CLIP.sample_rate, "FLOAT")
    speech = SpeechSettings(engine="kokoro")
    learnt_files.refuse(CLIP.digest, "", "It is worse.")

    @contextmanager
    def kokoro():
        raise AssertionError("nothing is loaded")
        yield

    with monkeypatch.context() as patch:
        patch.setattr(voice_learning, "_kokoro", kokoro)
        refused = voice_learning.learn_recording(str(file), speech, lambda *_: None)
        assert refused == (str(file), "It is worse.")
    again = voice_learning.learn_recording(str(file), speech, lambda *_: None, again=True)
    assert "It is worse." not in again[1]  # it was tried


def test_a_fit_has_one_thread_also_after_whisper_listened(lessons, monkeypatch):
    keep()

    class Whisper:
        language, text = "en", TEXT

        def open(self):
            torch.set_num_threads(2)  # as its library does
            return self

        def push(self, pcm):
            pass

        def finish(self):
            return self

        def close(self):
            pass

    monkeypatch.setattr(voice_learning.recognisers, "fetched", lambda: {"whisper-base": None})
    monkeypatch.setattr(voice_learning.recognisers, "resolve", lambda settings: settings)
    monkeypatch.setattr("engine.asr.whisper.recogniser.load_whisper", lambda _: Whisper())
    with voice_learning._kokoro() as model:
        learn = model.learn
    threads: list[int] = []

    def count_threads(lesson, checkpoint, show):
        threads.append(torch.get_num_threads())
        return learn(lesson, checkpoint, show)

    monkeypatch.setattr(model, "learn", count_threads)
    before = torch.get_num_threads()
    try:
        assert voice_learning.learn("Anna").transcript == TEXT
        assert threads == [1]
    finally:
        torch.set_num_threads(before)


def test_a_recording_that_does_not_fit_its_transcript_is_refused_at_once_from_then_on(
    tmp_path, lessons, monkeypatch
):
    file, speech = tmp_path / "clip.wav", SpeechSettings(engine="kokoro")
    soundfile.write(file, CLIP.pcm, CLIP.sample_rate, "FLOAT")
    with voice_learning._kokoro() as model:
        monkeypatch.setattr(model, "encode_voice", lambda *_: small_voice_of(CLIP))
    begun: list[str] = []

    def transcript(clip, given):
        begun.append(given)
        raise InvalidInput("The text does not fit.", hint="Give the words.")

    monkeypatch.setattr(voice_learning, "_transcript", transcript)
    for again in (False, False, True):
        used, why = voice_learning.learn_recording(str(file), speech, lambda *_: None, again=again)
        assert (used, "does not fit" in why) == (str(file), True)
    assert len(begun) == 2


def test_a_long_recording_is_read_as_it_is_where_its_blend_speaks(tmp_path, lessons, monkeypatch):
    file, speech = tmp_path / "clip.wav", SpeechSettings(engine="kokoro")
    soundfile.write(file, np.tile(CLIP.pcm, 14), CLIP.sample_rate, "FLOAT")  # 35 s
    read: list[int] = []

    def encode_voice(pcm, sample_rate):
        read.append(len(pcm))
        return small_voice_of(Clip(pcm, sample_rate))

    with voice_learning._kokoro() as model:
        monkeypatch.setattr(model, "encode_voice", encode_voice)
    voice_learning.learn_recording(str(file), speech, lambda *_: None)
    choose(model, str(file))
    assert read == [30 * CLIP.sample_rate] * 2


def small_voice_of(clip: Clip) -> voices.Voice:
    """A blend that names its recording."""
    blend = small_voice()
    about = {**blend.metadata, "making": MAKING, voices.RECORDING: clip.digest}
    return voices.Voice(blend.name, blend.model, blend.tensors, about)


def test_a_voice_that_gets_another_name_meanwhile_is_learnt_on(lessons, monkeypatch):
    keep()
    store = VoiceStore(VoiceCatalogue("kokoro", ("Heart",), can_clone=True))
    with voice_learning._kokoro() as model:
        learn = model.learn

    def rename_and_learn(lesson, checkpoint, show):
        store.rename("Anna", "Bert")
        return learn(lesson, checkpoint, show)

    monkeypatch.setattr(model, "learn", rename_and_learn)
    learnt = voice_learning.learn("Anna", TEXT)
    assert learnt_files.learnt_file("Bert") == learnt.file
    learnt_files.choose("Bert", learnt=True)
    (bert,) = voices.saved_voices(voices.folder())
    assert (bert.name, bert.recipe_version) == ("Bert", LEARNT)


def test_a_disk_that_is_full_is_said_and_costs_no_voice(lessons, monkeypatch):
    saved = keep()

    def full(*_):
        raise OSError(28, "No space left on device")

    for module in (voices, learnt_files):
        monkeypatch.setattr(module, "replace_file", full)
    with pytest.raises(ModelError, match="No space left"):
        voice_learning.learn("Anna", TEXT)
    monkeypatch.setattr(checks, "fault", lambda *_: "It is worse.")
    assert voice_learning.learn("Anna", TEXT).reason == "It is worse."
    assert voices.header(saved.path).recipe_version == MAKING
    assert learnt_files.learnt_file("Anna") is None


def test_a_learnt_voice_of_another_recording_or_recipe_does_not_wait(lessons, monkeypatch):
    keep()
    voice_learning.learn("Anna", TEXT)
    monkeypatch.setattr(learnt_files, "LEARNT", "learnt by another recipe")
    assert learnt_files.learnt_file("Anna") is None
    monkeypatch.undo()


def test_without_whisper_a_text_is_needed(lessons):
    keep()
    with pytest.raises(ModelError, match="write down") as refusal:
        voice_learning.learn("Anna")
    assert "whisper-base" in refusal.value.hint
    assert not lessons


@pytest.mark.parametrize(
    ("name", "match"), [("Nobody", "no voice called"), ("Bare", "was not kept")]
)
def test_a_voice_that_cannot_be_learnt_is_refused(lessons, name, match):
    keep("Bare", clip=None)
    with pytest.raises(InvalidInput, match=match):
        voice_learning.learn(name, TEXT)


def test_figures_are_learnt_as_they_are_spoken(lessons):
    keep()
    voice_learning.learn("Anna", "We will meet in 7 minutes.")
    assert lessons == ["We will meet in seven minutes."]


def test_the_beginning_of_a_long_recording_is_cut_at_a_pause():
    pcm = np.ones(30 * 8_000, np.float32)
    pcm[16 * 8_000 : 16 * 8_000 + 800] = 0
    assert voice_learning._excerpt(Clip(pcm, 8_000)).seconds == pytest.approx(16.0, abs=0.1)
    assert voice_learning._excerpt(CLIP) is CLIP


def test_only_recordings_for_kokoro_are_learnt_to_speak_once(tmp_path, lessons):
    speech = SpeechSettings(engine="kokoro")
    for voice in ("", "Heart", "no such file.wav", str(keep().path)):
        assert voice_learning.learn_recording(voice, speech, lambda *_: None) == (voice, "")
    file = tmp_path / "clip.wav"
    file.write_bytes(b"no sound")
    other = SpeechSettings(engine="espeak")
    assert voice_learning.learn_recording(str(file), other, lambda *_: None) == (str(file), "")
    voice, why = voice_learning.learn_recording(str(file), speech, lambda *_: None)
    assert (voice, bool(why)) == (str(file), True)  # what reads it says the rest
    assert not lessons
