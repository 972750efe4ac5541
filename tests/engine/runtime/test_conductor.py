"""The whole engine on fakes: real threads, hand-driven devices."""

import json
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine import api, settings_file
from engine.asr.base import Transcript
from engine.asr.completeness import Completeness
from engine.audio import vad
from engine.llm.base import ChangeRate, Retraction, Role, StartTimer
from engine.llm.skills.control import STEP
from engine.runtime.turn import facts as h
from engine.runtime.turn import rules
from engine.runtime.turn.facts import Fact
from engine.settings import AudioSettings, LanguageModelSettings, Settings
from engine.text.speakable import LEFT_OUT
from tests.faults.whole import Whole, running
from tests.help.fakes.parts import (
    WORD_SAMPLES,
    FakeLanguageModel,
    FakeParts,
    FakeRecognition,
    HandMicrophone,
)

SAY_HI = api.SendText("hi")


class Host(Whole):
    """An engine on fakes whose loudspeaker is played by hand."""

    def __init__(self, parts: FakeParts, settings: Settings, path: Path | None = None) -> None:
        super().__init__(settings, parts.factories(), path)
        self.parts = parts

    def happen(self, fact: Fact) -> None:
        """Something the workers would tell."""
        self.engine._conductor.post(fact)

    def wait(self, condition: Callable[[], object], *, playing: int = 0) -> None:
        """Until `condition`; at every look `playing` samples leave the loudspeaker."""

        def is_so() -> bool:
            if not (so := bool(condition())) and playing:
                self.parts.loudspeakers[""].play(playing)
            return so

        super().wait(is_so)

    def hear_two_words(self, command: api.SendText | api.Speak = SAY_HI) -> None:
        """Of the reply to a typed text, or of a text."""
        loudspeaker = self.parts.loudspeakers[""]
        before = loudspeaker.samples_written
        self.post(command)
        self.wait(lambda: loudspeaker.samples_written >= before + 2 * WORD_SAMPLES)
        loudspeaker.play(WORD_SAMPLES + 100)

    def say_something(self) -> None:
        """Somebody speaks and has ended."""
        self.happen(vad.SpeechStarted(0, time.monotonic()))
        self.happen(vad.SpeechEnded(0, time.monotonic()))

    def ended(self, turn: int, *, playing: int = 800) -> api.TurnEnded:
        self.wait(lambda: any(e.turn == turn for e in self.of(api.TurnEnded)), playing=playing)
        return super().ended(turn)


def hosting(
    parts: FakeParts | None = None, settings: Settings | None = None, path: Path | None = None
) -> AbstractContextManager[Host]:
    quiet = settings or Settings(audio=AudioSettings(hands_free=False))
    return running(Host(parts or FakeParts(), quiet, path))


@pytest.mark.parametrize(
    ("reply", "spoken"), [("Привет, как дела?", ""), ("你好 means hello.", "means hello.")]
)
def test_a_reply_in_another_script_is_complete_and_a_notice_says_why_it_is_silent(reply, spoken):
    with hosting(FakeParts(model=FakeLanguageModel(reply))) as host:
        ended = host.ask()
        assert (ended.ending, ended.reply) == (api.Ending.COMPLETE, reply)
        assert [notice.text for notice in host.of(api.Notice)] == [LEFT_OUT]
        assert host.of(api.Failed) == []
        assert ended.spoken == spoken
        host.ask("again")
        assert host.parts.model.histories[-1][1].text == reply


@pytest.mark.parametrize(("latency_s", "heard"), [(0.0, "Good day"), (3600.0, "")])
def test_an_interrupted_reply_keeps_the_words_that_were_heard(latency_s, heard):
    """A word on its way through the device when the reply is cut was not."""
    parts = FakeParts()
    loudspeaker = parts.loudspeakers[""]
    loudspeaker.latency_s = latency_s
    with hosting(parts) as host:
        host.hear_two_words()
        host.post(api.StopReply())
        ended = host.ended(1, playing=0)
        assert (ended.ending, ended.heard) == (api.Ending.INTERRUPTED_BY_STOP, heard)
        if not heard:
            assert (ended.metrics.heard_ms, host.of(api.WordHeard)) == (None, [])
        loudspeaker.latency_s = 0.0
        host.ask("again")
        assert [(m.role, m.text, m.interrupted) for m in parts.model.histories[-1]] == [
            (Role.USER, "hi", False),
            (Role.ASSISTANT, heard, True),
            (Role.USER, "again", False),
        ]


@pytest.mark.parametrize(("cut", "kept"), [(False, "The Thames."), (True, "")])
def test_thinking_that_was_spoken_stops_when_that_comes_out_and_is_not_kept(*, cut, kept):
    gates = threading.Event(), threading.Event()
    model = FakeLanguageModel("A river. ", gates[0], Retraction(), gates[1], "The Thames.")
    with hosting(FakeParts(model=model)) as host:
        host.post(api.SendText("hi"))
        host.wait(lambda: bool(host.of(api.WordHeard)), playing=100)
        gates[0].set()
        host.wait(lambda: bool(host.of(api.ReplyRetracted)))
        if cut:
            host.post(api.StopReply())
            host.ended(1)
        gates[1].set()
        ended = host.ended(1)
        assert (ended.reply, ended.heard, ended.spoken) == (kept,) * 3
        after = host.events[host.events.index(api.ReplyRetracted(1)) :]
        heard = [(each.start, each.end) for each in after if isinstance(each, api.WordHeard)]
        assert heard == ([] if cut else [(0, 3), (4, 11)])
        host.ask("again")
        assert [m.text for m in model.histories[-1]] == ["hi", kept, "again"]


def test_figures_are_said_slower_unless_pacing_is_off():
    parts = FakeParts(model=FakeLanguageModel("Take these pills, or 555-1234."))
    with hosting(parts) as host:
        host.post(api.ChangeSetting("speech.rate", 4.0))
        host.ask("hi")
        assert {event.target for event in host.of(api.RateMeasured)} >= {4.0, 3.0}  # by word
        host.post(api.ChangeSetting("speech.pacing", False))
        host.ask("again")
        first, second = (session.paces for session in parts.voice.sessions)
        assert min(first[3:]) < 0.8
        assert set(second) == {1.0}


def test_slower_typed_during_a_reply_changes_that_reply():
    with hosting(FakeParts(model=FakeLanguageModel(" ".join(["word"] * 40)))) as host:
        host.post(api.SendText("hi"))
        host.wait(lambda: bool(host.of(api.WordHeard)), playing=800)
        host.post(api.SendText("Slower, please."))
        host.wait(lambda: bool(host.of(api.SettingChanged)))
        ended = host.ended(1)
        assert ended.ending is api.Ending.COMPLETE
        assert len(host.of(api.TurnEnded)) == 1
        rates = host.parts.voice.sessions[-1].rates
        assert rates[0] is None
        assert rates[-1] == pytest.approx(4.0 - STEP)
        assert host.of(api.Notice) == [api.Notice("slower: 3.3")]


def test_skills_know_while_a_model_is_fetched():
    with hosting() as host:
        conductor = host.engine._conductor
        assert not conductor.state().models_busy
        conductor._workers.model_manager._wanted.add("qwen3-4b")
        assert conductor.state().models_busy


def cut_with_the_talk_key(host: Host, said: str) -> api.TurnEnded:
    """A reply of which some words were heard, and what somebody says instead of the rest."""
    host.parts.recogniser.text = said
    host.post(api.SendText("count"))
    host.wait(lambda: len(host.of(api.WordHeard)) >= 2, playing=400)
    host.post(api.PressTalk())
    host.post(api.ReleaseTalk())
    assert host.ended(1).ending is api.Ending.INTERRUPTED_BY_TALK_KEY
    return host.ended(2)


COUNTING = "one two three four five six seven eight nine ten"


@pytest.mark.parametrize(
    ("said", "silent"),
    [("slower please", False), ("Wait a moment.", True), ("Go on, please.", False)],
)
def test_who_halts_or_slows_down_a_reply_may_hear_the_rest(said, *, silent):
    with hosting(FakeParts(model=FakeLanguageModel(COUNTING))) as host:
        rest = cut_with_the_talk_key(host, said)
        assert (rest.said, rest.ending) == (said, api.Ending.COMPLETE)
        if silent:
            assert rest.reply == ""
            rest = host.ask("Go on.")
        cut = host.of(api.TurnEnded)[0]
        # The word it was cut on is said again.
        assert cut.heard + rest.reply[rest.reply.index(" ") :] == COUNTING
        assert cut.heard.split()[-1] == rest.reply.split()[0]
        changed = api.SettingChanged("speech.rate", pytest.approx(4.0 - STEP))
        assert host.of(api.SettingChanged) == ([changed] if "slower" in said else [])
        assert len(host.parts.model.histories) == 1


@pytest.mark.parametrize("written", [3, 6])
@pytest.mark.parametrize("said", ["Slower, please.", "Más alto.", "turn it down", "Moins vite"])
def test_a_wish_leaves_a_reply_the_words_that_were_not_written_yet(monkeypatch, said, written):
    """`written`: words that the model writes before the wish."""
    monkeypatch.setattr(rules, "REACTION_S", 0.0)
    words = [f"{word} " for word in COUNTING.split()]
    gate = threading.Event()
    model = FakeLanguageModel(*words[:written], gate, *words[written:])
    headset = Settings(audio=AudioSettings(headset=True))
    with hosting(FakeParts(model=model), headset) as host:
        host.parts.recogniser.text = said
        host.post(api.SendText("count"))
        host.wait(lambda: len(host.of(api.WordHeard)) >= 2, playing=400)
        host.happen(vad.SpeechStarted(0, time.monotonic()))
        host.wait(lambda: bool(host.of(api.TurnEnded)))
        gate.set()
        fall_silent(host, said, turn=2)  # no reply to the wish is prepared
        host.happen(vad.SpeechEnded(0, time.monotonic()))
        rest, cut = host.ended(2), host.of(api.TurnEnded)[0]
        assert cut.ending is api.Ending.INTERRUPTED_BY_SPEECH
        assert (rest.said, rest.ending) == (said, api.Ending.COMPLETE)
        heard = cut.heard.split()
        repeated = heard[-1:] if rest.heard.split()[0] in heard else []  # it was cut on this word
        assert heard + rest.heard.split()[len(repeated) :] == COUNTING.split()
        host.ask("again")
        assert len(model.histories) == 2


@pytest.mark.parametrize(("halt", "on"), [("Stop.", "Go on."), ("Espera", "Sigue"), ("", "Vas-y")])
def test_after_a_stop_the_model_goes_on_with_a_reply_that_it_had_not_written_to_its_end(halt, on):
    """A word that was not written to its end is written again."""
    gate = threading.Event()
    model = FakeLanguageModel("one two three four fi", gate)
    with hosting(FakeParts(model=model)) as host:
        host.parts.recogniser.text = halt
        host.post(api.SendText("count"))
        host.wait(lambda: len(host.of(api.WordHeard)) >= 2, playing=400)
        if halt:
            host.post(api.PressTalk())
            host.post(api.ReleaseTalk())
        else:
            host.post(api.StopReply())
        cut = host.ended(1)
        gate.set()
        assert not halt or host.ended(2).reply == ""
        model.deltas = ("five ", "six")
        rest = host.ask(on)
        asked = [message.text for message in model.histories[-1]]
        assert asked[:2] == ["count", "one two three four "]
        assert cut.heard + rest.reply[rest.reply.index(" ") :] == "one two three four five six"


@pytest.mark.parametrize(
    ("cut", "said"), [(False, "slower"), (False, "go on"), (True, "slower and tell me the time")]
)
def test_what_is_no_wish_about_a_cut_reply_is_answered(*, cut, said):
    with hosting(FakeParts(model=FakeLanguageModel(COUNTING))) as host:
        if cut:
            ended = cut_with_the_talk_key(host, said)
        else:
            host.ask("count")
            ended = host.ask(said)
        assert ended.reply == COUNTING
        assert len(host.parts.model.histories) == 2


def test_a_timer_and_a_text_are_spoken_though_nobody_asked():
    parts = FakeParts(
        model=FakeLanguageModel(StartTimer(0.05, "tea", "Your tea is ready."), "Set.")
    )
    with hosting(parts) as host:
        host.ask("timer")
        assert host.ended(2).reply == "Your tea is ready."
        assert host.of(api.TimerRang) == [api.TimerRang("Your tea is ready.", 1)]
        host.post(api.Speak("  The washing is done.  "))
        assert host.ended(3).heard == "The washing is done."
        host.post(api.Speak("a" * 20_001))
        host.wait(lambda: bool(host.of(api.Failed)))
        assert "at most 20000" in host.of(api.Failed)[0].message


def export(host: Host, *paths: Path) -> None:
    for path in paths:
        host.post(api.Export(path))
    host.wait(lambda: len(host.of(api.Notice)) == len(paths))


def test_a_conversation_is_exported_with_the_words_that_were_heard(tmp_path):
    with hosting() as host:
        ended = host.ask("hi")
        assert (ended.said, ended.heard, ended.spoken) == ("hi", ended.reply, ended.reply)
        phases = [event.phase for event in host.of(api.PhaseChanged)]
        assert phases == [api.Phase.THINKING, api.Phase.SPEAKING, api.Phase.IDLE]
        host.hear_two_words()
        host.post(api.StopReply(by_escape=True))
        host.ended(2, playing=0)
        export(host, tmp_path / "talk.json", tmp_path / "talk.txt")
    first, second = json.loads((tmp_path / "talk.json").read_text())["turns"]
    assert [word["text"] for word in first["words"]] == ["Good", "day", "to", "you."]
    assert [word["text"] for word in second["words"]] == ["Good", "day"]
    assert second["ending"] == "interrupted by Escape"
    for turn in (first, second):
        starts = [word["start_s"] for word in turn["words"]]
        assert starts == sorted(starts)
    assert "Rubato: Good day to you." in (tmp_path / "talk.txt").read_text()


def test_without_a_loudspeaker_a_reply_is_there_to_be_read_and_over_at_once(tmp_path):
    parts = FakeParts(FakeLanguageModel("word " * 1_000), loudspeakers={})
    with hosting(parts) as host:
        host.post(api.SendText("hi"))
        host.wait(lambda: bool(host.of(api.TurnEnded)))
        ended = host.of(api.TurnEnded)[0]
        assert (ended.ending, ended.heard) == (api.Ending.COMPLETE, ended.reply)
        assert parts.voice.sessions == []  # nothing was mimed
        assert host.of(api.WordHeard) == []
        export(host, tmp_path / "talk.txt")
    text = (tmp_path / "talk.txt").read_text()
    assert "Rubato: word word" in text
    assert "not heard" not in text


def test_an_export_that_is_not_possible_is_told(tmp_path):
    with hosting() as host:
        for name in ("talk.pdf", "talk.txt", "talk.srt"):
            host.post(api.Export(tmp_path / name))
        host.wait(lambda: len(host.of(api.Failed)) == 3)
        assert {event.message for event in host.of(api.Failed)} == {
            "A conversation cannot be saved as '.pdf'.",
            "There is no conversation yet.",
            "A conversation cannot be saved as '.srt'.",
        }
    assert list(tmp_path.iterdir()) == []


def test_a_fault_in_saving_does_not_keep_the_engine_running(tmp_path, monkeypatch):
    def broken(settings: Settings, path: Path, base: Settings) -> None:
        raise AttributeError("'bool' object has no attribute 'unwrap'")

    monkeypatch.setattr(settings_file, "save", broken)
    before = threading.active_count()
    with hosting(path=tmp_path / "settings.toml") as host:
        host.post(api.ChangeSetting("speech.rate", 5.0))
        host.wait(lambda: bool(host.of(api.SettingChanged)))
    assert isinstance(host.events[-1], api.Stopped)
    assert "unwrap" in host.of(api.Failed)[-1].message
    assert threading.active_count() == before


@pytest.mark.parametrize("released", [True, False])
def test_stopping_mid_reply_ends_the_turn_and_every_thread(*, released):
    """Also where a part cannot be released."""
    before = threading.active_count()
    with hosting() as host:
        host.post(api.SendText("hi"))
        host.wait(lambda: bool(host.of(api.ReplyDelta)))
        host.parts.loudspeakers[""].gone = not released
    assert isinstance(host.events[-1], api.Stopped)
    assert threading.active_count() == before
    assert host.parts.loudspeakers[""].closed
    assert host.parts.microphones[""].closed
    assert host.parts.watch_closed
    if released:
        assert host.of(api.TurnEnded)[0].ending is api.Ending.INTERRUPTED_BY_STOP


TIMER = (ChangeRate(by=-1.0), StartTimer(60.0, "", "Done."), "Set.")
FREE = Settings(audio=AudioSettings(hands_free=True, headset=True))
DRAFTED = 0.4  # of confidence; FakeRecogniser has another


def fall_silent(host: Host, text: str, *, turn: int = 1, pause: int = 9_000) -> None:
    """The person pauses after these words."""
    transcript = Transcript(text, DRAFTED, "fake")
    interim = h.InterimTranscript(turn, pause, transcript, Completeness.WHOLE, time.monotonic())
    host.happen(interim)


def test_a_reply_prepared_in_a_pause_goes_out_when_the_turn_is_over():
    parts = FakeParts(model=FakeLanguageModel(*TIMER))
    with hosting(parts, FREE) as host:
        host.happen(vad.SpeechStarted(0, time.monotonic()))
        ended_at = time.monotonic()
        fall_silent(host, "hello there")
        host.wait(lambda: parts.model.given == len(TIMER))
        assert not host.of(api.ReplyDelta)
        assert not host.of(api.SettingChanged)
        prepared_by = time.monotonic()
        host.happen(vad.SpeechEnded(0, ended_at))
        metrics = host.ended(1).metrics
        assert len(parts.model.histories) == 1
        assert parts.model.histories[0][-1].confidence == DRAFTED
        assert api.SettingChanged("speech.rate", 3.0) in host.events
        assert metrics.first_token_ms is not None
        assert 0.0 <= metrics.first_token_ms <= (prepared_by - ended_at) * 1000
        assert metrics.discarded == 0


@pytest.mark.parametrize(
    ("computer", "discarded"), [("127.0.0.1", 1), ("localhost", 1), ("models.example", 0)]
)
def test_another_computer_is_not_asked_in_pauses(computer, discarded):
    """Each request there may cost money."""
    server = LanguageModelSettings("server", address=f"http://{computer}:8080/v1")
    with hosting(None, replace(FREE, language_model=server)) as host:
        host.happen(vad.SpeechStarted(0, time.monotonic()))
        fall_silent(host, "hello")
        host.happen(vad.SpeechResumed(9_000, time.monotonic()))
        host.happen(vad.SpeechEnded(0, time.monotonic()))
        assert host.ended(1).metrics.discarded == discarded
        assert host.parts.model.histories[-1][-1].text == "hello there"


def test_an_interim_transcript_after_the_end_of_speech_is_answered_once(monkeypatch):
    """Slow ears have no interim transcript by the end of the longest silence. That they are waited
    for long enough, test_floor.py says.
    """
    decoding, decoded = threading.Event(), threading.Event()

    def interim(recognition: FakeRecognition, wanted: Callable[[], bool]) -> Transcript | None:
        decoding.set()
        assert decoded.wait(10.0)
        return recognition.finish() if wanted() else None

    monkeypatch.setattr(FakeRecognition, "interim", interim)
    with hosting(None, FREE) as host:
        host.say_something()
        assert decoding.wait(10.0)
        fall_silent(host, "hello there")  # too late to prepare anything
        decoded.set()
        ended = host.ended(1)
        assert (ended.said, ended.ending) == ("hello there", api.Ending.COMPLETE)
        assert [said[-1].text for said in host.parts.model.histories] == ["hello there"]
        assert not host.of(api.Failed)


def test_a_person_who_goes_on_before_the_reply_is_heard_gets_one_answer_to_all_of_it():
    gate = threading.Event()
    parts = FakeParts(model=FakeLanguageModel(*TIMER[:2], gate, "Set."))
    with hosting(parts, FREE) as host:
        host.say_something()
        host.wait(lambda: bool(host.of(api.SettingChanged)))
        host.happen(vad.SpeechStarted(20_000, time.monotonic()))
        first = host.ended(1)
        assert (first.ending, first.said) == (api.Ending.SUPERSEDED, "")
        parts.recogniser.text, parts.model.deltas = "hello there you", ("Good day.",)
        gate.set()
        host.happen(vad.SpeechEnded(0, time.monotonic()))
        second = host.ended(2)
        assert (second.said, second.reply) == ("hello there you", "Good day.")
        assert [message.text for message in parts.model.histories[-1]] == ["hello there you"]
        assert host.of(api.SettingChanged)[-1] == api.SettingChanged("speech.rate", None)


@pytest.mark.parametrize(
    ("said", "rate"), [("", None), ("Más despacio, por favor.", pytest.approx(4.0 - STEP))]
)
def test_a_cough_or_a_wish_before_the_reply_puts_it_off_and_nothing_is_asked_or_done_twice(
    said, rate
):
    """A cough undoes what was done; a wish changes the reply."""
    gate = threading.Event()
    parts = FakeParts(model=FakeLanguageModel(*(() if said else TIMER[:2]), gate, "Set."))
    with hosting(parts, FREE) as host:
        host.post(api.SendText("set it"))
        host.wait(lambda: bool(parts.model.histories if said else host.of(api.SettingChanged)))
        parts.recogniser.text = said
        host.happen(vad.SpeechStarted(20_000, time.monotonic()))
        host.wait(lambda: any(e.phase is api.Phase.LISTENING for e in host.of(api.PhaseChanged)))
        gate.set()
        parts.model.deltas = ("Good day.",)
        host.happen(vad.SpeechEnded(0, time.monotonic()))
        last = host.ended(3)
        assert (last.ending, last.said, last.reply) == (api.Ending.COMPLETE, "set it", "Good day.")
        first = host.ended(1)
        assert (first.ending, first.said) == (api.Ending.SUPERSEDED, "")
        assert [message.text for message in parts.model.histories[-1]] == ["set it"]
        assert host.of(api.SettingChanged)[-1] == api.SettingChanged("speech.rate", rate)
        assert len(host.of(api.SettingChanged)) == (1 if said else 2)


def test_muted_while_talking_what_was_said_is_forgotten_and_the_stream_is_closed():
    with hosting() as host:
        host.post(api.PressTalk())
        host.wait(lambda: any(e.phase is api.Phase.LISTENING for e in host.of(api.PhaseChanged)))
        microphone = host.parts.microphones[""]
        microphone.hear(np.ones(16_000, np.float32))
        host.post(api.ChangeSetting("audio.muted", True))
        assert host.ended(1).ending is api.Ending.NOTHING_HEARD
        host.wait(lambda: microphone.closed)
        assert api.SettingChanged("audio.muted", True) in host.events
        host.post(api.PressTalk())
        host.wait(lambda: "The microphone is muted." in [e.message for e in host.of(api.Failed)])


class FrozenParts(FakeParts):
    """Every microphone that is opened fails soon, until `works` is set."""

    works = False

    def _microphone(self, name):
        self.microphones[""] = HandMicrophone("frozen")
        self.microphones[""].gone = not self.works
        return self.microphones[""]


def test_a_microphone_that_stays_frozen_is_given_up_until_the_person_talks():
    parts = FrozenParts()
    with hosting(parts) as host:
        host.wait(lambda: len(host.failed(api.Part.MICROPHONE)) == 2)
        host.ask("anything")
        assert len(host.failed(api.Part.MICROPHONE)) == 2
        parts.works = True
        host.post(api.PressTalk())
        host.post(api.ReleaseTalk())
        assert host.ended(2).said == "hello there"


def test_a_person_cut_off_who_just_goes_on_is_answered_to_all_of_it(monkeypatch):
    monkeypatch.setattr(rules, "REACTION_S", 60.0)  # however slow this machine is
    with hosting(None, FREE) as host:
        host.say_something()
        host.wait(lambda: host.parts.loudspeakers[""].samples_written > WORD_SAMPLES)
        host.parts.loudspeakers[""].play(WORD_SAMPLES)
        host.wait(lambda: any(e.phase is api.Phase.SPEAKING for e in host.of(api.PhaseChanged)))
        host.happen(vad.SpeechStarted(20_000, time.monotonic()))
        first = host.ended(1)
        assert (first.ending, first.said, first.heard) == (api.Ending.SUPERSEDED, "", "")
        host.parts.recogniser.text = "hello there you"
        host.happen(vad.SpeechEnded(0, time.monotonic()))
        assert host.ended(2).said == "hello there you"
        assert [message.text for message in host.parts.model.histories[-1]] == ["hello there you"]
