import numpy as np
import pytest

from engine.errors import DeviceError
from engine.runtime.playback import Playback
from engine.text.word import Word
from engine.tts.base import AudioFrame, Onset
from tests.fakes import RATE, HandLoudspeaker

WORDS = tuple(Word(text, 0, 0) for text in ("one", "two", "three"))


def playing(loudspeaker: HandLoudspeaker, model_rate: int = RATE) -> Playback:
    """Three words of 1,000 samples each, all handed over."""
    playback = Playback(loudspeaker, model_rate)
    for number, word in enumerate(WORDS):
        pcm = np.full(1_000, number + 1.0, np.float32)
        onsets = (Onset(number, number * 1_000),)
        playback.add(AudioFrame(pcm, number * 1_000, onsets, 4.0), (word,), None)
    playback.complete()
    return playback


def test_a_word_is_heard_when_its_first_sample_has_left_the_loudspeaker() -> None:
    loudspeaker = HandLoudspeaker()
    playback = playing(loudspeaker)
    assert playback.delivery().words == ()
    loudspeaker.play(1_000)
    assert playback.delivery().words == WORDS[:1]
    loudspeaker.play(1)
    assert playback.delivery().words == WORDS[:2]


def test_the_lead_is_what_was_produced_and_not_heard() -> None:
    loudspeaker = HandLoudspeaker()
    playback = playing(loudspeaker)
    loudspeaker.play(1_400)
    assert playback.lead_ms == 1_600 / RATE * 1000


def test_hushing_freezes_what_was_heard() -> None:
    loudspeaker = HandLoudspeaker()
    playback = playing(loudspeaker)
    loudspeaker.play(500)
    playback.hush()
    loudspeaker.play(2_000)
    assert playback.delivery().words == WORDS[:1]


def test_after_a_pause_it_goes_on_with_the_first_unheard_sample() -> None:
    loudspeaker = HandLoudspeaker()
    playback = playing(loudspeaker)
    loudspeaker.play(1_250)
    playback.hush()
    loudspeaker.gain = 0.0
    loudspeaker.play(300)
    playback.resume()
    loudspeaker.gain = 1.0
    while not playback.over:
        playback.pump()
        loudspeaker.play(256)
    samples = np.concatenate(loudspeaker.heard)
    assert samples[samples > 0].tolist() == np.repeat([1.0, 2.0, 3.0], 1_000).tolist()
    assert playback.delivery().words == WORDS


def test_it_is_over_when_everything_was_heard_and_not_before() -> None:
    loudspeaker = HandLoudspeaker()
    playback = playing(loudspeaker)
    loudspeaker.play(2_999)
    assert not playback.over
    loudspeaker.play(1)
    assert playback.over


def test_a_full_ring_is_topped_up_until_everything_was_written() -> None:
    loudspeaker = HandLoudspeaker(capacity=600)
    playback = playing(loudspeaker)
    while not playback.over:
        playback.pump()
        loudspeaker.play(256)
    samples = np.concatenate(loudspeaker.heard)
    assert samples.tolist() == np.repeat([1.0, 2.0, 3.0], 1_000).tolist()


def test_another_loudspeaker_goes_on_with_the_first_unheard_sample() -> None:
    first, second = HandLoudspeaker(), HandLoudspeaker()
    playback = playing(first)
    first.play(1_250)
    playback.move_to(second)
    while not playback.over:
        playback.pump()
        second.play(256)
    samples = np.concatenate(first.heard + second.heard)
    assert samples.tolist() == np.repeat([1.0, 2.0, 3.0], 1_000).tolist()
    assert playback.delivery().words == WORDS


def test_positions_hold_when_the_loudspeaker_has_another_rate() -> None:
    loudspeaker = HandLoudspeaker()
    playback = playing(loudspeaker, model_rate=RATE // 2)
    loudspeaker.play(2_000)
    assert playback.delivery().words == WORDS[:1]
    loudspeaker.play(2)
    assert playback.delivery().words == WORDS[:2]
    assert playback.delivery().speech_ms == pytest.approx(1_001 / (RATE // 2) * 1000)


def test_what_an_earlier_utterance_left_in_the_ring_is_not_heard_as_this_one() -> None:
    loudspeaker = HandLoudspeaker()
    loudspeaker.write(np.zeros(700, np.float32))
    playback = playing(loudspeaker)
    loudspeaker.play(700)
    assert playback.delivery().words == ()
    loudspeaker.play(1)
    assert playback.delivery().words == WORDS[:1]


def test_a_loudspeaker_lost_after_the_last_write_is_noticed() -> None:
    loudspeaker = HandLoudspeaker()
    playback = playing(loudspeaker)
    loudspeaker.gone = True
    with pytest.raises(DeviceError):
        playback.pump()


def test_each_word_is_told_once_with_how_long_ago_it_began() -> None:
    loudspeaker = HandLoudspeaker()
    playback = playing(loudspeaker)
    loudspeaker.play(1_160)
    assert [(begun.word, begun.ago_s) for begun in playback.begun_words()] == [
        (WORDS[0], 1_160 / RATE),
        (WORDS[1], 160 / RATE),
    ]
    assert playback.begun_words() == ()
    loudspeaker.play(2_000)
    assert [begun.word for begun in playback.begun_words()] == [WORDS[2]]


def test_a_delivery_says_after_how_much_speech_each_word_began() -> None:
    loudspeaker = HandLoudspeaker()
    playback = playing(loudspeaker)
    loudspeaker.play(1_500)
    assert playback.delivery().onsets_ms == (0.0, 62.5)
    assert playback.delivery().speech_ms == pytest.approx(93.75)
