"""The library of voices in the whole engine, while it speaks and while things break."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
import soxr

from engine import api
from engine.audio.base import Pcm
from engine.runtime.factories import standard_factories
from engine.tts import voices
from engine.tts.base import Voice
from tests.end_to_end.spoken import RATE as SPOKEN_RATE
from tests.end_to_end.spoken import silence, spoken
from tests.engine.tts.test_voice_store import speech
from tests.faults.whole import Devices, Whole, running
from tests.help.fakes.kokoro import write_kokoro
from tests.help.fakes.parts import RATE, FakeVoiceModel

LONG = " ".join(["on"] * 200)  # 20 s of the fake voice
GRANDMA = Voice("Grandma", "fake")
WAITING, MAKING, SPEAKING, OVER = api.PreviewState


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    voices.save(GRANDMA, voices.folder(), speech())
    voices.save(Voice("Marker", "fake"), voices.folder())
    return tmp_path


class Home(Whole):
    """An engine with a synthesiser that can clone, or with one that cannot."""

    def __init__(self, *, can_clone: bool = True) -> None:
        self.devices, self.model = Devices(), FakeVoiceModel(can_clone=can_clone)
        factories = self.devices.in_place_of(standard_factories())
        factories = replace(factories, synthesiser=lambda settings, progress: self.model)
        super().__init__(api.Settings(), factories)
        self._asked = 0

    def states(self) -> list[api.PreviewState]:
        return [event.state for event in self.of(api.PreviewChanged)]

    def listed(self) -> api.VoicesListed:
        """What the last list says, after everything posted before was done."""
        self._asked += 1
        mark = 1 + self._asked / 100
        self.post(api.SetVoicePace("Marker", mark))
        self.wait(lambda: any(each.pace == mark for each in self._last().voices))
        return self._last()

    def _last(self) -> api.VoicesListed:
        return self.of(api.VoicesListed)[-1]

    def entry(self, name: str) -> api.VoiceEntry:
        return next(entry for entry in self.listed().voices if entry.name == name)

    def setting(self, key: str) -> object:
        return [value for changed, value in self.changed() if changed == key][-1]

    def changed(self) -> list[tuple[str, object]]:
        return [(event.key, event.value) for event in self.of(api.SettingChanged)]

    def choose(self, name: str) -> None:
        self.post(api.ChangeSetting("speech.voice", name))
        self.becomes(name)

    def becomes(self, name: str) -> None:
        self.wait(lambda: name in self.of(api.VoicesChanged)[-1].chosen)

    def hear(self, name: str, text: str = LONG) -> None:
        before = self.states().count(SPEAKING)
        self.post(api.PreviewVoice(name, text))
        self.wait(lambda: self.states().count(SPEAKING) > before)

    def record(self, pcm: Pcm) -> None:
        """Until this clip, spoken into the microphone, was recorded."""
        self.post(api.RecordClip(on=True))
        self.wait(lambda: self.of(api.ClipRecording))
        for block in np.array_split(pcm, 40):
            self.devices.microphone.hear(block)
        self.wait(lambda: self.of(api.ClipRecording)[-1].seconds > 0.8 * len(pcm) / RATE)

    def speak_on(self) -> None:
        """Begin a reply that takes its time."""
        self.post(api.SendText("spell incomprehensibilities"))
        self.wait(
            lambda: any(each.phase is api.Phase.SPEAKING for each in self.of(api.PhaseChanged))
        )


@contextmanager
def home(*, can_clone: bool = True) -> Iterator[Home]:
    with running(Home(can_clone=can_clone)) as there:
        there.wait(lambda: {event.part for event in there.of(api.Ready)} >= {api.Part.MICROPHONE})
        there.wait(lambda: there.of(api.VoicesListed))
        yield there


@pytest.fixture
def there(data: Path) -> Iterator[Home]:
    with home() as there:
        yield there


def test_a_voice_is_heard_and_the_chosen_one_stays(there):
    there.post(api.PreviewVoice("bela", "one two"))
    there.wait(lambda: OVER in there.states())
    assert there.states() == [WAITING, MAKING, SPEAKING, OVER]
    assert there.model.spoke == ["Bela"]
    assert there.of(api.VoicesChanged)[-1].selected == "Ada"
    assert not there.of(api.TurnEnded)
    assert there.entry("Ada").used == ""
    assert there.works()
    assert there.entry("Ada").used != ""  # the day is noted of a voice that answered


def test_voices_of_other_languages_introduce_themselves_and_leave_the_others_theirs(monkeypatch):
    spanish = {"language": "es"}
    own = (Voice("Ada", "fake"), Voice("Dora", "fake", metadata=spanish), Voice("Bela", "fake"))
    monkeypatch.setattr(FakeVoiceModel, "voices", lambda self: own)
    with home() as there:
        assert there.entry("Dora").language == "es"
        told = there.of(api.VoicesChanged)[-1]
        assert dict(zip(told.names, told.languages, strict=True))["Dora"] == "es"
        there.post(api.PreviewVoice("dora"))
        there.wait(lambda: OVER in there.states())
        assert there.model.sessions[-1].words == api.preview_sentence("es").split()
        there.choose("Bela")
        there.choose("Dora")
        there.wait(lambda: ("speech.voice_en", "Bela") in there.changed())
        there.choose("Ada")
        assert there.setting("speech.voice_es") == "Dora"
        assert there.setting("speech.voice_en") == "Bela"  # as long as an English one speaks


def test_a_mixture_is_heard_then_kept_and_chosen():
    write_kokoro()
    with home() as there:
        there.model.info = replace(there.model.info, name="kokoro", can_mix=True)
        mix = api.Mix("Heart", "Emma", 0.7)
        there.post(api.PreviewVoice("", "one two", mix))
        there.wait(lambda: OVER in there.states())
        assert there.states() == [WAITING, MAKING, SPEAKING, OVER]
        assert there.listed().mixable == ("Ada", "Bela")
        there.post(api.MixVoices("Luna", mix))
        assert there.entry("Luna").description == "mixed of 70 % Heart, 30 % Emma"
        assert there.listed().mixable == ("Ada", "Bela", "Luna")
        there.choose("Luna")
        there.post(api.MixVoices("Luna", mix))
        there.wait(there.failed)


def test_a_mixture_is_heard_in_the_language_of_its_voices(monkeypatch):
    write_kokoro()
    spanish = (Voice(name, "kokoro", metadata={"language": "es"}) for name in ("Dora", "Alejandro"))
    own = (Voice("Ada", "kokoro"), *spanish)
    monkeypatch.setattr(FakeVoiceModel, "voices", lambda self: own)
    with home() as there:
        there.model.info = replace(there.model.info, name="kokoro", can_mix=True)
        assert there.entry("Dora").language == "es"
        there.post(api.PreviewVoice("", mix=api.Mix("Dora", "Alejandro")))
        there.wait(lambda: OVER in there.states())
        assert there.model.sessions[-1].words == api.preview_sentence("es").split()


def test_a_preview_waits_for_the_reply_that_is_spoken(there):
    there.speak_on()
    there.post(api.PreviewVoice("Bela"))
    there.wait(lambda: OVER in there.states())
    events = [
        event.state if isinstance(event, api.PreviewChanged) else event.ending
        for event in there.events
        if isinstance(event, api.PreviewChanged | api.TurnEnded)
    ]
    assert events == [WAITING, api.Ending.COMPLETE, MAKING, SPEAKING, OVER]
    assert there.model.spoke == ["Ada", "Bela"]
    # The speaker lets its session go after it has said that the preview is over.
    there.wait(lambda: all(session.closed for session in there.model.sessions))


def test_a_preview_gives_way_to_a_stop_another_preview_and_a_question(there):
    for stop in (api.StopPreview(), api.StopReply(by_escape=True)):
        over = there.states().count(OVER)
        there.hear("Bela")
        there.post(stop)
        there.wait(lambda over=over: there.states().count(OVER) == over + 1)
    there.hear("Bela")
    there.post(api.PreviewVoice("Ada", "one"))
    there.wait(lambda: there.states().count(OVER) == 4)
    assert there.model.spoke == ["Bela", "Bela", "Bela", "Ada"]
    there.hear("Bela")
    assert there.works()
    assert there.states()[-4:] == [WAITING, MAKING, SPEAKING, OVER]
    assert there.states().count(OVER) == 5


def test_what_cannot_be_heard_is_said_and_nobody_else_speaks(there):
    for number, text in enumerate(("...", "x" * 1_001, ""), 1):
        there.post(api.PreviewVoice("Ada" if text else "Nobody", text))
        there.wait(lambda number=number: len(there.failed()) == number)
    there.wait(lambda: OVER in there.states())
    assert "no voice called 'Nobody'" in there.failed()[-1].message
    assert there.model.spoke == []
    assert there.works()


def test_a_voice_removed_while_it_speaks_lets_the_reply_go_on_and_comes_back():
    with home() as there:
        there.choose("Grandma")
        there.speak_on()
        there.post(api.RemoveVoice("grandma"))
        ended = there.ended(1)
        assert (ended.ending, ended.heard) == (api.Ending.COMPLETE, ended.reply)
        there.becomes("Ada")
        assert any("Grandma was removed" in event.text for event in there.of(api.Notice))
        assert there.listed().removed == ("Grandma",)
        there.post(api.RestoreVoice("Grandma"))
        there.becomes("Grandma")
        assert there.listed().removed == ()
        there.ask("spell cat")
        assert there.model.spoke == ["Grandma", "Grandma"]
        there.post(api.RemoveVoice("Grandma"))
        assert there.listed().removed == ("Grandma",)
    with home() as again:
        assert again.listed().removed == ("Grandma",)
        again.post(api.DiscardVoice("Grandma"))
        assert again.listed().removed == ()


def test_a_voice_brings_its_pace_along_and_stays_chosen_under_another_name(there):
    there.post(api.SetVoicePace("Bela", 3.0))
    assert there.entry("Bela").pace == 3.0
    there.post(api.PreviewVoice("Bela", "one two"))
    there.wait(lambda: OVER in there.states())
    assert set(there.model.sessions[-1].rates) == {3.0}
    there.choose("Bela")
    there.wait(lambda: there.setting("speech.rate") == 3.0)
    there.choose("Grandma")  # which has none: the slider stays
    assert there.setting("speech.rate") == 3.0
    there.post(api.RenameVoice("Grandma", "Oma"))
    there.becomes("Oma")
    assert there.setting("speech.voice") == "Oma"
    assert "Grandma" not in there.of(api.VoicesChanged)[-1].names


def test_a_rate_chosen_after_a_voice_stays(there):
    there.post(api.SetVoicePace("Bela", 3.0))
    assert there.entry("Bela").pace == 3.0
    there.post(api.ChangeSetting("speech.voice", "Bela"))
    there.post(api.ChangeSetting("speech.rate", 5.5))
    there.becomes("Bela")
    assert there.entry("Bela").pace == 3.0  # all that comes of the choice has come
    assert there.setting("speech.rate") == 5.5


def test_a_clip_is_recorded_while_nobody_is_answered_and_becomes_a_voice(data):
    pcm = speech(4.0).pcm
    with home() as there:
        there.record(pcm)
        there.post(api.RecordClip(on=False))
        there.wait(lambda: there.of(api.ClipInspected))
        clip = there.of(api.ClipInspected)[0]
        assert (clip.usable, clip.needs) == (True, None)
        assert clip.seconds == pytest.approx(4.0, abs=0.2)
        assert clip.clip.stat().st_mode & 0o077 == 0
        there.post(api.AddVoice(clip.clip, consent=True, name="Me"))
        there.becomes("Me")
        assert there.entry("Me").clip_s == pytest.approx(clip.seconds, abs=0.1)
        there.wait(lambda: not clip.clip.exists())
        assert not any(each.phase is not api.Phase.IDLE for each in there.of(api.PhaseChanged))


def test_a_recording_that_needs_another_synthesiser_is_kept_for_it(tmp_path):
    file = tmp_path / "me.wav"
    soundfile.write(file, speech(4.0).pcm, speech(4.0).sample_rate)
    with home(can_clone=False) as there:
        there.post(api.AddVoice(file))
        there.wait(lambda: there.of(api.ClipInspected))
        clip = there.of(api.ClipInspected)[0]
        assert (clip.usable, clip.needs) == (True, ("kokoro", 111))
        assert "Kokoro can" in clip.advice
        there.post(api.AddVoice(file, consent=True, name="Me"))
        there.wait(lambda: ("speech.voice", "Me") in there.changed())
        there.wait(
            lambda: any("Until then Ada speaks" in str(n.text) for n in there.of(api.Notice))
        )
        entry = there.entry("Me")
        assert (entry.usable, entry.made_for) == (False, ("kokoro",))
        assert "Kokoro" in entry.why_not
        there.wait(lambda: "Me" not in there.of(api.VoicesChanged)[-1].names)
        kept = next(each for each in voices.saved_voices(voices.folder()) if each.name == "Me")
        assert voices.load_clip(kept.path).seconds == pytest.approx(4.0)


def test_a_microphone_that_is_tried_shows_its_level_and_nobody_is_answered():
    def listens(there: Home) -> bool:
        return any(each.phase is api.Phase.LISTENING for each in there.of(api.PhaseChanged))

    said = np.concatenate((silence(1.0), spoken("what time is it"), silence(1.0)))

    def hear(there: Home) -> None:
        for block in np.array_split(soxr.resample(said, SPOKEN_RATE, RATE), 40):
            there.devices.microphone.hear(block)

    with home() as there:
        there.post(api.TryMicrophone(True))
        assert there.works()  # by then it is in force
        hear(there)
        there.wait(lambda: any(each.microphone_db > -40.0 for each in there.of(api.Levels)))
        assert there.works()
        assert not listens(there)
        there.post(api.TryMicrophone(False))
        assert there.works()
        hear(there)
        there.wait(lambda: listens(there))


def test_a_clip_that_is_given_up_or_was_left_by_a_killed_program_leaves_nothing(data):
    takes = data / "takes"
    takes.mkdir()
    (takes / ".My voice.wav.x.part").write_bytes(b"somebody's voice")
    with home() as there:
        there.record(speech(1.0).pcm)
        there.post(api.DropClip())
        there.wait(lambda: not there.of(api.ClipRecording)[-1].on)
        assert list(takes.iterdir()) == []
        assert not there.of(api.ClipInspected)
        assert there.works()


def test_a_recorded_clip_ends_by_itself_in_time(there):
    there.post(api.RecordClip(on=True))
    there.wait(lambda: there.of(api.ClipRecording))
    there.devices.microphone.hear(np.zeros(31 * RATE, np.float32))
    there.wait(lambda: there.of(api.ClipInspected))
    assert there.of(api.ClipRecording)[-1].ended_by
    assert not there.of(api.ClipInspected)[0].usable
    assert "silent" in there.of(api.ClipInspected)[0].advice


def test_a_voice_travels_and_a_stranger_is_refused(there, tmp_path):
    gift = tmp_path / "gift.voice.safetensors"
    there.post(api.ExportVoice("Grandma", gift))
    there.post(api.ImportVoice(gift, "Nana"))
    assert {"Grandma", "Nana"} <= {entry.name for entry in there.listed().voices}
    gift.write_bytes(gift.read_bytes()[:200])
    there.post(api.ImportVoice(gift, "Other"))
    there.wait(there.failed)
    assert "cannot be used" in there.failed()[0].message
    assert "Other" not in {entry.name for entry in there.listed().voices}
    assert there.works()


def test_a_voice_is_made_again_from_its_recording(data):
    voices.save(replace(GRANDMA, name="Old", model="older"), voices.folder(), speech())
    with home() as there:
        assert there.entry("Old").made_for == ("older",)
        there.post(api.RemakeVoice("Old"))
        assert set(there.entry("Old").made_for) == {"older", "fake"}
        there.post(api.RemakeVoice("Ada"))
        there.wait(there.failed)


def test_a_part_of_a_recording_serves_where_the_whole_does_not(tmp_path):
    path = tmp_path / "long.wav"
    noise: Pcm = np.random.default_rng(0).normal(0, 0.1, 52 * RATE).astype(np.float32)
    soundfile.write(path, np.concatenate([noise, speech(9).pcm]), RATE)
    with home() as there:
        there.post(api.AddVoice(path))
        there.wait(lambda: there.of(api.ClipInspected))
        seen = there.of(api.ClipInspected)[0]
        assert not seen.usable
        assert seen.better is not None
        start_s, seconds = seen.better
        assert 51 <= start_s <= 53
        there.post(api.AddVoice(path, start_s=start_s, seconds=seconds))
        there.wait(lambda: len(there.of(api.ClipInspected)) == 2)
        part = there.of(api.ClipInspected)[1]
        assert (part.usable, part.advice, part.part) == (True, "", (start_s, part.seconds))
        assert part.seconds == pytest.approx(seconds)
        voice = api.AddVoice(path, consent=True, name="Part", start_s=start_s, seconds=seconds)
        there.post(voice)
        there.becomes("Part")
        assert there.entry("Part").clip_s == pytest.approx(seconds)
        assert not [event for event in there.of(api.Failed) if event.part is None]


def test_looking_at_a_file_can_be_cancelled_and_nothing_waits_behind_it(tmp_path, monkeypatch):
    for_ever = tmp_path / "decoder.py"
    for_ever.write_text("import threading; threading.Event().wait()")
    clips = [tmp_path / "first.wav", tmp_path / "second.wav"]
    for clip in clips:
        soundfile.write(clip, speech(4.0).pcm, RATE)
    with home() as there:
        with monkeypatch.context() as patch:
            patch.setattr("engine.audio.clips.decode.__file__", str(for_ever))
            # Or it would end in time, and the test pass by that.
            patch.setattr("engine.audio.clips.clip.LONGEST_S", 1e9)
            assert there.works()  # so that there is a conversation to export
            there.post(api.AddVoice(clips[0]))
            there.post(api.AddVoice(clips[1]))  # instead of the first
            there.post(api.Export(tmp_path / "talk.txt"))
            there.post(api.CancelClip())
            there.wait((tmp_path / "talk.txt").exists)
        assert there.failed() == []
        assert not there.of(api.ClipInspected)
        assert there.works()
