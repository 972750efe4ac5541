"""The voice, ticked by hand: what is ducked is quieter, what is paused waits and loses nothing."""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from engine.audio.base import Pcm
from engine.messages.events import Event, RateMeasured, Ready
from engine.messages.words import Ending
from engine.runtime.turn import reply as reply_file
from engine.runtime.turn.facts import Delivery, Fact, ReplyEnded
from engine.runtime.turn.orders import Resume, UseDevice
from engine.runtime.turn.reply import DUCKED, LiveControls, Reply
from engine.runtime.workers.voice import reserve as reserve_file
from engine.runtime.workers.voice.orders import SayWords, SpeechOrder, Unsay
from engine.runtime.workers.voice.speech_worker import LONGEST_PAUSE_S, SpeechWorker
from engine.settings import SpeechSettings
from engine.text.word import Word
from engine.tts.base import Step
from tests.help.fakes.parts import RATE, FakeParts, FakeSession, HandLoudspeaker

BLOCK = 160  # samples that are played between two ticks
WORDS = tuple(Word(text, 0, 0) for text in ("one", "two", "three", "four", "five", "six"))


class Mouth:
    """A speaker with a loudspeaker in the hand, and a reply it has begun as turn 1."""

    def __init__(self, spoken: int = 0, words: tuple[Word, ...] = WORDS) -> None:
        """`spoken`: for so many ticks already."""
        parts = FakeParts()
        self.loudspeaker: HandLoudspeaker = parts.loudspeakers[""]
        self.parts = parts
        self.told: list[Fact | Event] = []
        self.controls = LiveControls(lead_ms=240)
        self.reply = Reply(1, self.controls, aloud=True)
        self.speaker = SpeechWorker(parts.factories(), self.told.append, self.controls)
        for order in (SpeechSettings(), UseDevice(""), SayWords(self.reply, words, last=True)):
            self.speaker._handle(order)
        for _ in range(spoken):
            self.run(1)

    @property
    def ends(self) -> list[ReplyEnded]:
        return [told for told in self.told if isinstance(told, ReplyEnded)]

    def lose_loudspeaker(self) -> None:
        self.parts.loudspeakers.clear()
        self.loudspeaker.gone = True

    def run(self, ticks: int, *orders: SpeechOrder) -> Pcm:
        """What is heard in so many ticks after these orders."""
        before = len(self.loudspeaker.heard)
        for order in orders:
            self.speaker._handle(order)
        for _ in range(ticks):
            self.speaker._tick()
            self.loudspeaker.play(BLOCK)
        return np.concatenate(self.loudspeaker.heard[before:])

    def heard(self) -> Pcm:
        samples = np.concatenate(self.loudspeaker.heard)
        return samples[samples != 0]


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Stands still unless it is moved: a busy machine would seem a slow voice."""
    stepped = SimpleNamespace(now=100.0)
    stepped.monotonic = lambda: stepped.now
    for file in (reply_file, reserve_file):
        monkeypatch.setattr(file, "time", stepped)
    return stepped


def undisturbed() -> Pcm:
    mouth = Mouth()
    mouth.run(400)
    return mouth.heard()


def test_a_reply_that_is_over_leaves_its_mean_rate():
    mouth = Mouth()
    mouth.run(400)
    measured = [told for told in mouth.told if isinstance(told, RateMeasured)]
    assert [told.over for told in measured] == [False] * (len(measured) - 1) + [True]
    assert measured[-1].measured == pytest.approx(4.0, rel=0.01)
    assert measured[-1].turn == 1


def test_a_pause_that_the_text_asks_for_is_heard_between_two_words():
    played = []
    for pause_s in (0.0, 1.0):
        mouth = Mouth(words=(*WORDS[:3], replace(WORDS[3], pause_s=pause_s), *WORDS[4:]))
        mouth.run(600)
        assert len(mouth.ends) == 1
        played.append(mouth.loudspeaker.samples_played)
    assert played[1] - played[0] == RATE


def test_a_paused_reply_is_silent_and_goes_on_without_losing_a_sample():
    mouth = Mouth(spoken=20)
    mouth.reply.pause()
    assert not np.any(mouth.run(50))
    before = len(mouth.heard())
    mouth.run(400, Resume(1))
    heard, whole = mouth.heard(), undisturbed()
    rising = slice(before, before + 160)  # for 10 ms
    assert heard[before] < 0.001
    heard[rising] = whole[rising]
    np.testing.assert_array_equal(heard, whole)
    assert mouth.loudspeaker.underruns == 0


class ScreenReader:
    """Speaks while it is told to."""

    def __init__(self) -> None:
        self.is_speaking = False

    def speaks(self) -> bool:
        return self.is_speaking


def test_a_reply_waits_while_the_screen_reader_speaks_however_long_and_is_heard_to_its_end(clock):
    mouth = Mouth(spoken=20)
    mouth.speaker._other_voice = reader = ScreenReader()  # type: ignore[assignment]
    reader.is_speaking = True
    mouth.run(2)  # it fades
    before = len(mouth.heard())
    clock.now += 100.0
    assert not np.any(mouth.run(50))
    assert mouth.reply.moved_at == clock.now  # the watchdog does not end it
    reader.is_speaking = False
    mouth.run(400)
    heard, whole = mouth.heard(), undisturbed()
    rest = heard[before:]
    np.testing.assert_array_equal(rest[160:], whole[-len(rest) :][160:])
    assert len(whole) - 2 * BLOCK <= len(heard) <= len(whole) + 2 * BLOCK
    assert mouth.ends == [ReplyEnded(1, Ending.COMPLETE)]


def test_a_reply_does_not_wait_for_the_screen_reader_if_the_person_says_so():
    mouth = Mouth(spoken=20)
    mouth.speaker._other_voice = reader = ScreenReader()  # type: ignore[assignment]
    reader.is_speaking, mouth.controls.gives_way = True, False
    mouth.run(400)
    np.testing.assert_array_equal(mouth.heard(), undisturbed())


def test_a_reply_that_begins_again_is_silent_at_once_and_counts_its_new_words_alone():
    mouth = Mouth(spoken=20)
    mouth.reply.retract()
    assert not np.any(mouth.run(50))
    assert mouth.reply.delivery == Delivery()
    assert not np.any(mouth.run(50, Unsay(mouth.reply)))
    assert np.any(mouth.run(400, SayWords(mouth.reply, WORDS[:2], last=True)))
    assert mouth.reply.delivery.words == WORDS[:2]
    assert mouth.ends == [ReplyEnded(1, Ending.COMPLETE)]


def test_a_voice_that_has_said_all_it_was_given_awaits_words_until_there_are_more():
    mouth = Mouth()
    other = Reply(2, mouth.controls, aloud=True)
    mouth.run(400, SayWords(other, WORDS[:1]))
    assert other.awaits_words
    mouth.speaker._handle(SayWords(other, WORDS[1:3], last=False))
    assert not other.awaits_words


def test_a_pause_that_nobody_ends_ends_by_itself(clock):
    mouth = Mouth(spoken=20)
    mouth.reply.pause()
    clock.now += LONGEST_PAUSE_S - 0.1
    assert not np.any(mouth.run(10))
    clock.now += 0.2
    assert np.any(mouth.run(10))


@pytest.mark.parametrize("paused", [True, False])
def test_of_a_reply_that_was_stopped_nothing_is_heard_nor_told_any_more(*, paused):
    mouth = Mouth(spoken=20)
    if paused:
        mouth.reply.pause()
    assert mouth.reply.end(Ending.INTERRUPTED_BY_SPEECH)
    delivery = mouth.reply.delivery
    mouth.run(2)  # what the loudspeaker has
    assert not np.any(mouth.run(50, *[Resume(1)] * paused))
    assert 0 < len(delivery.words) < len(WORDS)
    assert mouth.ends == []
    assert mouth.reply.delivery == delivery
    assert mouth.parts.voice.sessions[0].closed
    late = Reply(2, mouth.controls, aloud=True)
    late.end(Ending.SUPERSEDED)
    assert not np.any(mouth.run(50, SayWords(late, WORDS)))
    assert late.delivery == Delivery()
    assert len(mouth.parts.voice.sessions) == 1


def test_what_is_chosen_during_a_reply_is_loaded_once_and_after_it():
    mouth = Mouth(spoken=20)
    loads = mouth.parts.count_loads()
    mouth.run(20, *(SpeechSettings(device=device) for device in ("cuda", "auto", "cpu")))
    assert loads == []
    mouth.run(400)
    assert mouth.ends[0].ending is Ending.COMPLETE
    assert [settings.device for settings in loads] == ["cpu"]


def test_a_new_rate_reaches_words_that_were_made_ahead_of_the_ear():
    mouth = Mouth()
    mouth.run(15)  # into the second word; the lead holds the third and the fourth
    mouth.controls.rate = 6.0
    mouth.run(400)
    assert mouth.parts.voice.sessions[0].rates == [None, None, None, 6.0, 6.0, 6.0]
    np.testing.assert_array_equal(mouth.heard(), undisturbed())
    assert mouth.reply.delivery.words == WORDS
    assert mouth.loudspeaker.underruns == 0


def slow_down(mouth: Mouth, wait: Callable[[int], None], *delays_ms: int) -> FakeSession:
    """Let the next steps of the session take these times; return it."""
    session = mouth.parts.voice.sessions[0]
    genuine, left = session.step, iter(delays_ms)

    def slow() -> Step:
        wait(next(left, 0))
        return genuine()

    session.step = slow  # type: ignore[method-assign]
    return session


def test_of_a_voice_that_was_slow_to_begin_more_is_kept(clock):
    def wait(ms: int) -> None:
        clock.now += ms / 1000

    mouth = Mouth()
    session = slow_down(mouth, wait, 170)
    mouth.run(15)
    mouth.controls.rate = 6.0
    mouth.run(400)
    assert session.rates == [None, None, None, None, 6.0, 6.0]


def test_the_old_speech_sounds_on_until_a_slow_voice_is_ahead_of_it():
    mouth = Mouth()
    mouth.controls.lead_ms = 400
    mouth.run(15)
    session = slow_down(mouth, lambda ms: mouth.loudspeaker.play(ms * BLOCK // 10), 110, 170)
    mouth.controls.rate = 6.0
    mouth.run(400)
    assert session.rates == [None, None, None, 6.0, 6.0, 6.0]
    np.testing.assert_array_equal(mouth.heard(), undisturbed())
    assert mouth.reply.delivery.words == WORDS
    assert mouth.loudspeaker.underruns == 0


@pytest.mark.parametrize(("wanted_ms", "lead_words"), [(0, 2), (500, 5)])
def test_a_voice_that_wants_a_longer_lead_than_the_dial_gets_it(wanted_ms, lead_words):
    mouth = Mouth()
    voice = mouth.parts.voice
    voice.info = replace(voice.info, lead_ms=wanted_ms)
    for _ in range(20):
        mouth.speaker._tick()
    assert len(voice.sessions[0].rates) == lead_words


def test_a_slider_that_is_pulled_all_the_time_tears_nothing():
    mouth = Mouth()
    for rate in range(200):
        mouth.controls.rate = 2.0 + rate / 50
        mouth.run(1)
    np.testing.assert_array_equal(mouth.heard(), undisturbed())
    assert mouth.loudspeaker.underruns == 0


def test_a_duck_is_quieter_and_passes():
    mouth = Mouth(spoken=20)
    mouth.controls.duck(True)
    assert mouth.loudspeaker.gain == pytest.approx(DUCKED)
    mouth.controls.volume = 0.5
    assert mouth.loudspeaker.gain == pytest.approx(0.5 * DUCKED)
    mouth.controls.duck(False)
    assert mouth.loudspeaker.gain == pytest.approx(0.5)
    mouth.reply.pause()
    mouth.controls.duck(True)
    mouth.controls.duck(False)
    mouth.controls.volume = 0.7
    assert mouth.loudspeaker.gain == 0.0  # which wakes no paused reply


def test_a_loudspeaker_that_goes_before_the_first_sound_leaves_the_reply_to_be_read():
    mouth = Mouth()
    mouth.lose_loudspeaker()
    mouth.run(10)
    assert mouth.reply.ending is Ending.COMPLETE
    assert mouth.reply.delivery == Delivery(read=True)
    assert mouth.told[-1] == ReplyEnded(1, Ending.COMPLETE)


def test_a_device_that_cannot_be_chosen_ends_no_waiting_for_the_one_that_went():
    mouth = Mouth(spoken=40)
    mouth.lose_loudspeaker()
    mouth.run(1)
    mouth.run(10, UseDevice(""))
    assert mouth.reply.ending is None
    mouth.loudspeaker = mouth.parts.loudspeakers[""] = HandLoudspeaker("again")
    mouth.run(400, UseDevice(""))
    assert mouth.reply.ending is Ending.COMPLETE
    assert mouth.reply.delivery.words == WORDS
    assert [each.name for each in mouth.told if isinstance(each, Ready)].count("again") == 1


@pytest.mark.parametrize("name", ["default loudspeaker", "another one"])
def test_a_loudspeaker_that_is_back_stands_in_for_none(name):
    mouth = Mouth(spoken=40)
    lost, mouth.loudspeaker = mouth.loudspeaker, HandLoudspeaker(name)
    lost.gone, mouth.parts.loudspeakers[""] = True, mouth.loudspeaker
    mouth.run(1)
    ready = [told for told in mouth.told if isinstance(told, Ready)][-1]
    assert (ready.name, ready.instead) == (name, name != "default loudspeaker")
