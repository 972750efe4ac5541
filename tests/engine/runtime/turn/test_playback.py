from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.audio.base import Pcm
from engine.runtime.turn.edges import FADE_MS
from engine.runtime.turn.playback import RETIME_MARGIN_MS, Playback
from engine.text.word import Word
from engine.tts.base import AudioFrame, Onset
from tests.help.fakes.parts import RATE, HandLoudspeaker

WORDS = tuple(Word(text, 0, 0) for text in ("one", "two", "three"))


FADE = RATE * FADE_MS // 1000  # samples


class Air:
    """Time, and a loudspeaker whose sound needs some to reach the air."""

    def __init__(self, latency_s: float) -> None:
        self.loudspeaker = HandLoudspeaker()
        self.loudspeaker.latency_s = latency_s
        self.now = 100.0
        self.playback = playing(self.loudspeaker, clock=lambda: self.now)

    def go_on(self, blocks: int) -> None:
        """So many times 160 samples, which take 10 ms."""
        for _ in range(blocks):
            self.loudspeaker.play(160)
            self.now += 0.01
            self.playback.pump()


def playing(
    loudspeaker: HandLoudspeaker, model_rate: int = RATE, clock: Callable[[], float] = lambda: 0.0
) -> Playback:
    """Three words of 1,000 samples each, all handed over."""
    playback = Playback(loudspeaker, model_rate, clock=clock)
    for number, word in enumerate(WORDS):
        pcm = np.full(1_000, number + 1.0, np.float32)
        onsets = (Onset(number, number * 1_000),)
        playback.add(AudioFrame(pcm, number * 1_000, onsets, 4.0), (word,), None)
    playback.complete()
    return playback


@pytest.mark.parametrize("times", [1, 2])
def test_a_word_is_heard_when_its_first_sample_has_left_the_loudspeaker(times):
    """Whose rate is so many times that of the voice."""
    loudspeaker = HandLoudspeaker()
    playback = playing(loudspeaker, model_rate=RATE // times)
    assert playback.delivery().words == ()
    loudspeaker.play(1_000 * times)
    assert playback.delivery().words == WORDS[:1]
    loudspeaker.play(times)
    assert playback.delivery().words == WORDS[:2]
    assert playback.delivery().speech_ms == pytest.approx(1_001 * 1000 * times / RATE)
    assert playback.delivery().onsets_ms == (0.0, pytest.approx(1_000 * 1000 * times / RATE))


def test_a_full_ring_is_topped_up_until_everything_was_written():
    loudspeaker = HandLoudspeaker(capacity=600)
    playback = playing(loudspeaker)
    while not playback.over:
        playback.pump()
        loudspeaker.play(256)
    samples = np.concatenate(loudspeaker.heard)
    assert samples.tolist() == np.repeat([1.0, 2.0, 3.0], 1_000).tolist()


def test_a_word_is_heard_when_it_is_in_the_air_and_not_when_it_leaves_the_ring():
    air = Air(latency_s=0.25)
    air.go_on(10)
    assert air.playback.lead_ms == 1_400 * 1000 / RATE  # without what the device holds
    air.go_on(15)
    assert air.loudspeaker.samples_played == 3_000
    assert not air.playback.audible
    assert air.playback.begun_words() == ()
    air.go_on(1)
    assert [(begun.word, begun.ago_s) for begun in air.playback.begun_words()] == [
        (WORDS[0], pytest.approx(0.01, abs=1e-3))
    ]
    assert air.playback.audible
    air.go_on(19 + 24 - 26)  # the ring is empty after 19 blocks
    assert not air.playback.over
    assert air.playback.delivery().words == WORDS
    air.go_on(2)
    assert air.playback.over
    assert air.playback.delivery().speech_ms == 3_000 * 1000 / RATE


def test_what_is_on_its_way_through_the_device_when_a_reply_is_cut_was_not_heard():
    air = Air(latency_s=0.1)
    air.go_on(15)  # 2,400 samples have left the ring, 800 are in the air
    air.playback.hush()
    air.go_on(50)
    assert air.playback.delivery().words == WORDS[:1]
    assert air.playback.delivery().speech_ms == pytest.approx(50, abs=0.1)


def test_a_gap_in_the_ring_is_a_gap_in_the_air():
    air = Air(latency_s=0.1)
    play = air.loudspeaker.play
    for blocks, plays, heard_ms in (
        *((5, play, 0), (10, lambda samples: None, 50), (5, lambda samples: None, 50)),
        *((10, play, 50), (2, play, 70)),
    ):
        air.loudspeaker.play = plays  # type: ignore[method-assign]
        air.go_on(blocks)
        assert air.playback.delivery().speech_ms == pytest.approx(heard_ms, abs=0.1)


def test_after_a_pause_nothing_is_said_twice_that_came_out_of_the_device_meanwhile():
    air = Air(latency_s=0.1)
    air.go_on(15)
    air.playback.hush()
    air.loudspeaker.gain = 0.0
    air.go_on(30)
    air.playback.resume()
    air.loudspeaker.gain = 1.0
    while not air.playback.over:
        air.go_on(1)
    samples = np.concatenate(air.loudspeaker.heard)
    samples = samples[samples > 0]
    assert len(samples) == 3_000
    risen = slice(2_400, 2_400 + FADE)  # where it goes on
    assert np.all(np.diff(samples[risen]) > 0)
    samples[risen] = 3.0
    assert samples.tolist() == np.repeat([1.0, 2.0, 3.0], 1_000).tolist()
    assert air.playback.delivery().words == WORDS


def test_another_loudspeaker_says_again_what_was_lost_in_the_device():
    air = Air(latency_s=0.1)
    air.go_on(15)
    second = HandLoudspeaker()
    air.playback.move_to(second)
    second.play(5_000)
    heard = np.concatenate(second.heard)
    assert heard[0] < 0.02
    assert heard[FADE:].tolist() == [1.0] * (200 - FADE) + [2.0] * 1_000 + [3.0] * 1_000
    assert air.playback.over


# ------------------------------------------------------------------ words that come late


def spoken_slowly(waits_ms: Sequence[int], *, words_late: bool) -> Pcm:
    """What is heard of a tone whose frames of 80 ms each come so late after the one before, because
    its word is late or the voice is slow: the loudspeaker plays 10 ms at a time. The playback is
    pumped as often while a word is awaited, but not by a voice that is making a frame.
    """
    loudspeaker = HandLoudspeaker()
    playback = Playback(loudspeaker, RATE, clock=lambda: 0.0)
    size = RATE * 80 // 1000
    tone = np.cos(np.arange(size * len(waits_ms)) * 2 * np.pi * 220 / RATE).astype(np.float32) / 2
    for number, wait_ms in enumerate(waits_ms):
        for _ in range(wait_ms // 10):
            if words_late:
                playback.pump()
            loudspeaker.play(RATE // 100)
        playback.feeding()
        at = number * size
        playback.add(AudioFrame(tone[at : at + size], at), (), None)
        if words_late:
            playback.starved()
    playback.complete()
    loudspeaker.play(10 * RATE)
    return loudspeaker.heard_with_gaps


@settings(max_examples=30)
@given(
    st.lists(st.integers(0, 30).map(lambda blocks: 10 * blocks), min_size=2, max_size=12),
    st.booleans(),
)
def test_where_speech_stops_for_words_or_a_slow_voice_and_goes_on_no_step_is_heard(waits, late):
    heard = spoken_slowly([0, *waits], words_late=late)
    rise = np.flatnonzero(heard)[0]
    own = 0.5 * 2 * np.pi * 220 / RATE  # of the tone
    assert np.abs(np.diff(heard[rise + 1 : np.flatnonzero(heard)[-1]])).max(initial=0) < own + 0.02


@pytest.mark.parametrize("late", [True, False], ids=["words", "voice"])
def test_what_comes_in_time_leaves_every_sample_as_it_is(late):
    waits = [0, *[20] * 3, *[70] * 20]
    heard = spoken_slowly(waits, words_late=late)
    size = RATE * 80 // 1000
    tone = np.cos(np.arange(size * len(waits)) * 2 * np.pi * 220 / RATE).astype(np.float32) / 2
    assert np.array_equal(heard[: len(tone)], tone)


# ---------------------------------------------------------------------- what is made again


def toned(model_rate: int) -> tuple[HandLoudspeaker, Playback, list[AudioFrame]]:
    """A second of a tone in frames, all handed over."""
    loudspeaker = HandLoudspeaker()
    playback = Playback(loudspeaker, model_rate, clock=lambda: 0.0)
    tone = np.sin(np.arange(model_rate) * 2 * np.pi * 220 / model_rate).astype(np.float32)
    size = model_rate // 10
    frames = [
        AudioFrame(tone[at : at + size], at, (Onset(number % 3, at),), 4.0)
        for number, at in enumerate(range(0, model_rate, size))
    ]
    for frame in frames:
        playback.add(frame, (WORDS[frame.onsets[0].word],), None)
    return loudspeaker, playback, frames


def heard_to_the_end(loudspeaker: HandLoudspeaker, playback: Playback) -> Pcm:
    playback.complete()
    while not playback.over:
        playback.pump()
        loudspeaker.play(160)
    return np.concatenate(loudspeaker.heard)


def add_again(playback: Playback, frames: list[AudioFrame], sign: float = 1.0) -> None:
    for frame in frames:
        words = tuple(WORDS[onset.word] for onset in frame.onsets)
        playback.add(replace(frame, pcm=sign * frame.pcm), words, None)


@pytest.mark.parametrize("model_rate", [RATE, 22_050, 24_000])
@pytest.mark.parametrize("played", [0, 100, 5_000])
def test_what_is_made_again_takes_the_place_of_what_was_there(model_rate, played):
    whole = heard_to_the_end(*toned(model_rate)[:2])
    loudspeaker, playback, frames = toned(model_rate)
    loudspeaker.play(played)
    playback.pump()
    again = [frame for frame in frames if frame.sample >= playback.renewable()]
    add_again(playback, again[:1])
    end = again[0].sample + len(again[0].pcm)
    lead_ms = end * 1000 / model_rate - played * 1000 / RATE
    assert playback.lead_ms == pytest.approx(lead_ms, abs=0.1)
    add_again(playback, again[1:])
    np.testing.assert_allclose(heard_to_the_end(loudspeaker, playback), whole, atol=1e-4)
    assert len(playback.delivery().words) == len(frames)


@pytest.mark.parametrize("model_rate", [RATE, 22_050, 24_000])
@pytest.mark.parametrize("late_ms", [0, 5, 30, 55])
def test_what_is_made_again_too_late_is_heard_from_where_it_belongs(model_rate, late_ms):
    """No sample is missing or heard twice, and what sounds goes over into it."""
    whole = heard_to_the_end(*toned(model_rate)[:2])
    loudspeaker, playback, frames = toned(model_rate)
    reached = frames[5].sample * RATE // model_rate + late_ms * RATE // 1000
    loudspeaker.play(reached)
    playback.pump()
    add_again(playback, frames[5:], sign=-1)
    heard = heard_to_the_end(loudspeaker, playback)
    assert len(heard) == len(whole)
    over = RATE * (40 + 10 + 2 * 5) // 1000  # 40 ms at most stay for the device
    np.testing.assert_allclose(heard[:reached], whole[:reached], atol=1e-4)
    np.testing.assert_allclose(heard[reached + over :], -whole[reached + over :], atol=1e-4)
    if late_ms:
        assert np.abs(np.diff(heard)).max() < 1.5 * np.abs(np.diff(whole)).max()
    assert len(playback.delivery().words) == len(frames)


def test_of_what_is_to_be_made_again_nothing_old_is_heard():
    loudspeaker = HandLoudspeaker()
    playback = playing(loudspeaker)
    loudspeaker.play(10)
    assert playback.renewable() == 10 + (RETIME_MARGIN_MS + 5) * RATE // 1000
    playback.renew(2_000)
    assert not playback.over
    playback.complete()
    loudspeaker.play(5_000)
    assert np.concatenate(loudspeaker.heard).tolist() == [1.0] * 1_000 + [2.0] * 1_000
    assert playback.delivery().words == WORDS[:2]
    assert playback.over


def test_a_silence_that_is_held_before_the_first_frame_is_not_heard_as_speech():
    loudspeaker = HandLoudspeaker()
    playback = Playback(loudspeaker, RATE)
    playback.hold(10)
    playback.add(AudioFrame(np.ones(1_000, np.float32), 0, (Onset(0, 0),), None), WORDS[:1], None)
    loudspeaker.play(RATE // 100)
    assert playback.delivery().words == ()
    assert playback.lead_ms == 1_000 / RATE * 1000
    loudspeaker.play(1)
    assert playback.delivery().words == WORDS[:1]
    assert not np.any(np.concatenate(loudspeaker.heard)[: RATE // 100])
