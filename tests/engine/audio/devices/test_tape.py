"""What was handed to a loudspeaker can still be changed, without a click; and the ring below it."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.audio.base import Pcm
from engine.audio.devices.tape import Ring, Tape
from tests.engine.audio.tone import sine

RATE = 48_000
MARGIN = 480
LOUDEST_STEP = 0.5 * 2 * np.pi * 440 / RATE  # between neighbours in tone.sine
FADE_STEP = 0.5 / 480  # added by a fade of 10 ms from half the full scale


class Deck:
    """A tape and a consumer that takes blocks when told to."""

    def __init__(self, samples: int = RATE) -> None:
        self.ring = Ring(samples)
        self.tape = Tape(self.ring, sample_rate=RATE, margin=MARGIN)
        self.heard: list[Pcm] = []

    def play(self, samples: int) -> Pcm:
        block = np.zeros(samples, np.float32)
        self.ring.read_into(block)
        self.heard.append(block)
        return block

    @property
    def everything(self) -> Pcm:
        return np.concatenate(self.heard)


def playing() -> Deck:
    """Of half a second of the tone a tenth of a second was heard."""
    deck = Deck()
    deck.tape.write(sine(RATE, 0.5))
    deck.play(4800)
    return deck


def cut() -> Deck:
    """The tone is cut then."""
    deck = playing()
    deck.tape.cut(fade_ms=10)
    return deck


def _largest_step(pcm: Pcm) -> float:
    return float(np.abs(np.diff(pcm)).max())


@pytest.mark.parametrize("played", [0, 480, 4321, 9000, 9300])
def test_a_cut_fades_without_a_click(played):
    deck = Deck()
    deck.tape.write(sine(RATE, 0.2))
    deck.play(played)
    deck.tape.cut(fade_ms=10)
    deck.play(RATE // 2)
    fade = min(480, 9600 - played)
    assert _largest_step(deck.everything) <= LOUDEST_STEP + 0.5 / fade


@pytest.mark.parametrize("following", [0, 1000])
def test_a_cut_is_silent_after_margin_and_fade_but_for_the_next_utterance(following):
    deck = cut()
    deck.tape.write(np.full(following, 0.25, np.float32))
    after = deck.play(RATE // 2)
    start = MARGIN + 480
    assert np.abs(after[:MARGIN]).max() > 0.4
    assert after[start : start + following].tolist() == [0.25] * following
    assert not after[start + following :].any()
    assert deck.tape.samples_played == 4800 + start + following


def test_the_silence_between_a_cut_and_what_follows_is_not_heard():
    deck = cut()
    deck.play(4800)
    played = deck.tape.samples_played
    deck.tape.write(sine(RATE, 0.01))
    deck.play(MARGIN)
    assert deck.tape.samples_played == played
    deck.play(480)
    assert deck.tape.samples_played == played + 480


def test_a_gain_change_does_not_revive_what_was_cut():
    deck = cut()
    deck.play(1440)
    deck.tape.write(np.zeros(4800, np.float32))
    deck.tape.gain = 0.5
    assert not deck.play(RATE // 2)[MARGIN:].any()


@pytest.mark.parametrize("later", [120, 240, 480, 960])
def test_what_a_gain_has_silenced_is_not_revived_by_a_cut_and_the_next_gain(later):
    deck = playing()
    deck.tape.gain = 0.0
    deck.play(later)
    deck.tape.cut(fade_ms=10)
    deck.tape.gain = 1.0
    after = deck.play(RATE // 2)
    assert not after[max(0, MARGIN + 480 - later) :].any()
    assert _largest_step(deck.everything) <= LOUDEST_STEP + 2 * FADE_STEP


def test_a_gain_reaches_samples_already_handed_over_without_a_click():
    deck = playing()
    deck.tape.gain = 0.25
    after = deck.play(RATE // 4)
    assert np.abs(after[MARGIN + 480 : 9600]).max() == pytest.approx(0.125, rel=0.01)
    assert _largest_step(deck.everything) <= LOUDEST_STEP + FADE_STEP


@pytest.mark.parametrize("least", [0.0, 0.1])
@pytest.mark.parametrize("ramp", [600, 960])
def test_a_gain_that_comes_back_is_whole_and_does_not_click(least, ramp):
    """600: before it has arrived where it went."""
    deck = playing()
    deck.tape.gain = least
    deck.play(ramp)
    deck.tape.gain = 1.0
    deck.play(MARGIN + 480)
    at = 4800 + ramp + MARGIN + 480
    np.testing.assert_array_equal(deck.play(4800), sine(RATE, 0.5)[at : at + 4800])
    assert _largest_step(deck.everything) <= LOUDEST_STEP + FADE_STEP


def test_a_gain_changed_in_silence_holds_from_the_first_sample():
    deck = Deck()
    deck.tape.gain = 0.5
    deck.tape.write(np.ones(100, np.float32))
    assert deck.play(100).tolist() == [0.5] * 100


def test_what_is_taken_back_is_not_heard_and_what_follows_joins_without_a_gap():
    deck = Deck()
    tone = sine(RATE, 0.5)
    deck.tape.write(tone[:9600])
    deck.play(4800)
    assert deck.tape.take_back(2400) == 2400
    assert deck.tape.samples_written == 7200
    deck.tape.write(tone[7200:12000])
    deck.play(RATE)
    np.testing.assert_array_equal(deck.everything[:12000], tone[:12000])
    assert deck.tape.samples_played == 12000


def test_what_the_device_is_about_to_play_is_not_taken_back_and_runs_dry():
    deck = playing()
    deck.tape.expect_more(True)
    assert deck.tape.take_back(RATE) == RATE // 2 - 4800 - MARGIN
    deck.play(RATE)
    assert deck.tape.samples_played == 4800 + MARGIN
    assert deck.tape.underruns == 1


ACTION = st.one_of(
    st.tuples(st.just("write"), st.integers(0, 3000)),
    st.tuples(st.just("play"), st.integers(0, 3000)),
    st.tuples(st.just("cut"), st.integers(0, 20)),
    st.tuples(st.just("gain"), st.integers(0, 4)),
    st.tuples(st.just("take back"), st.integers(0, 3000)),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(ACTION, max_size=40))
@example([("gain", 0), ("write", 1), ("cut", 1), ("write", 1), ("cut", 1)])
def test_counts_hold_whatever_happens(actions):
    deck = Deck(4096)
    tape = deck.tape
    written = played = 0
    for action, amount in actions:
        match action:
            case "write":
                taken = tape.write(np.full(amount, 0.5, np.float32))
                assert tape.samples_written == written + taken
                # What is left has no room.
                assert taken == amount or not tape.write(np.full(1, 0.5, np.float32))
            case "play":
                # A consumer never hears more than it is given, and no louder than it was written.
                assert np.abs(deck.play(amount)).max(initial=0) <= 0.5
                assert played <= tape.samples_played <= played + amount
            case "cut":
                tape.cut(fade_ms=amount)
                assert tape.samples_written <= written
            case "gain":
                tape.gain = amount / 4
            case "take back":
                taken = tape.take_back(amount)
                assert 0 <= taken <= amount
                assert tape.samples_written == written - taken
        written, played = tape.samples_written, tape.samples_played
        assert 0 <= played <= written
    deck.play(8192)
    assert tape.samples_played == tape.samples_written
    whole = np.zeros(len(deck.ring.memory) + 1, np.float32)
    assert tape.write(whole) == len(deck.ring.memory)


def remembering() -> Deck:
    """Half a second of the tone, on a tape that remembers a quarter of a second."""
    deck = Deck()
    deck.tape = Tape(deck.ring, sample_rate=RATE, margin=MARGIN, history=RATE // 4)
    deck.tape.write(sine(RATE, 0.5))
    return deck


def test_what_was_played_is_remembered_as_loud_as_it_was():
    deck = remembering()
    taken = []
    for block in range(100):
        if block == 10:
            deck.tape.gain = 0.2
        if block == 20:
            deck.tape.cut(fade_ms=10)
        deck.play(480)
        taken.append(deck.tape.take_played())
    heard = deck.everything
    remembered = np.concatenate([played.pcm for played in taken])
    np.testing.assert_array_equal(remembered, heard[: len(remembered)])
    assert not heard[len(remembered) :].any()
    assert taken[0].more
    assert not taken[-1].more


def test_of_a_long_time_the_end_is_remembered_and_never_written_over():
    deck = remembering()
    played = deck.play(RATE // 2)
    deck.tape.write(0.3 * sine(RATE, 3.0))
    np.testing.assert_array_equal(deck.tape.take_played().pcm, played[-RATE // 4 :])


def _write(ring: Ring, pcm: np.ndarray, position: int) -> None:
    places = np.arange(position, position + len(pcm)) % len(ring.memory)
    ring.memory[places, 0] = pcm
    ring.publish(len(pcm))


@given(st.lists(st.tuples(st.integers(0, 64), st.integers(0, 80)), max_size=40))
def test_samples_come_out_as_they_went_in_whatever_the_chunks(chunks):
    ring = Ring(64)
    written = read = 0
    for wanted, asked in chunks:
        fits = min(wanted, 64 - ring.unread)
        _write(ring, np.arange(written, written + fits), written)
        written += fits
        out = np.full(asked, -1, np.float32)
        got = ring.read_into(out)
        assert got == min(asked, written - read)
        assert out[:got].tolist() == list(range(read, read + got))
        assert (out[got:] == -1).all()
        read += got
    assert ring.unread == written - read
