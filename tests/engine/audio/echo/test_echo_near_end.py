"""The two streams meet in step, whenever and however they are looked at."""

import numpy as np
import pytest

from engine.audio.base import Pcm, Played
from engine.audio.echo.canceller import FRAME, SAMPLE_RATE, EchoCanceller
from engine.audio.echo.near_end import EARLY_S, HOLD_S, STRAY_S, TAIL_S, DelayEstimator, NearEnd

NOTHING = np.zeros(0, np.float32)
TICK = SAMPLE_RATE // 50


class Watcher:
    """A canceller that remembers what it was given, and gives back silence."""

    cancels = True
    improves = False
    double_talk = False

    def __init__(self) -> None:
        self.heard: list[Pcm] = []
        self.played: list[Pcm] = []
        self.resets = 0

    def reset(self) -> None:
        self.resets += 1
        self.heard.clear()
        self.played.clear()

    def process(self, heard: Pcm, played: Pcm, delay_ms: int) -> Pcm:
        self.heard.append(heard)
        self.played.append(played)
        return np.zeros(FRAME, np.float32)


def noise(samples: int, seed: int = 1) -> Pcm:
    return (0.1 * np.random.default_rng(seed).standard_normal(samples)).astype(np.float32)


def silent(more: bool = False) -> Played:
    return Played(NOTHING, SAMPLE_RATE, more)


def test_without_a_canceller_or_a_reply_the_microphone_passes_at_once():
    near = NearEnd(EchoCanceller(), SAMPLE_RATE)
    heard = noise(5 * TICK)
    np.testing.assert_array_equal(near.push(heard, Played(heard, SAMPLE_RATE, True)), heard)
    assert not near.settled
    watcher = Watcher()
    near = NearEnd(watcher, SAMPLE_RATE)
    out = [near.push(heard[i : i + TICK], silent()) for i in range(0, len(heard), TICK)]
    np.testing.assert_array_equal(np.concatenate(out), heard)
    assert not watcher.heard  # it rests


def echoed(near: NearEnd, played: Pcm, *, delay: int, tick: int = TICK) -> list[Pcm]:
    """Let a room with this delay (samples) play and hear; what came out, tick by tick."""
    heard = np.concatenate([np.zeros(delay, np.float32), played])[: len(played)]
    blocks = (slice(start, start + tick) for start in range(0, len(played) - tick, tick))
    return [near.push(heard[at], Played(played[at], SAMPLE_RATE, more=True)) for at in blocks]


@pytest.mark.parametrize("delay_ms", [20, 80, 300])
def test_the_delay_is_found_and_made_up_for(delay_ms):
    watcher = Watcher()
    near = NearEnd(watcher, SAMPLE_RATE)
    echoed(near, noise(4 * SAMPLE_RATE), delay=delay_ms * 16)
    assert near.settled
    assert watcher.resets == 1
    heard, played = (np.concatenate(part) for part in (watcher.heard, watcher.played))
    early = int(EARLY_S * SAMPLE_RATE)
    middle = slice(SAMPLE_RATE, 2 * SAMPLE_RATE)
    shifted = slice(SAMPLE_RATE - early, 2 * SAMPLE_RATE - early)
    assert np.corrcoef(heard[middle], played[shifted])[0, 1] > 0.9


def test_double_talk_is_told_once_the_delay_is_known_and_while_something_sounds():
    watcher = Watcher()
    watcher.double_talk = True
    near = NearEnd(watcher, SAMPLE_RATE)
    assert not near.double_talk
    echoed(near, noise(4 * SAMPLE_RATE), delay=480)
    assert near.double_talk
    assert near.sounding
    for _ in range(int(TAIL_S * 50) + 2):
        near.push(noise(TICK), silent())
    assert not near.double_talk
    assert not near.sounding
    heard = noise(TICK)  # passes again
    np.testing.assert_array_equal(near.push(heard, silent())[-TICK // 2 :], heard[-TICK // 2 :])


def test_every_sample_comes_out_however_often_one_looks():
    for tick in (100, TICK, 3 * TICK):
        near = NearEnd(Watcher(), SAMPLE_RATE)
        out = echoed(near, noise(SAMPLE_RATE), delay=480, tick=tick)
        given = tick * len(out)
        assert given - FRAME <= sum(map(len, out)) <= given


def test_what_was_heard_never_waits_long_for_what_was_played():
    near = NearEnd(Watcher(), SAMPLE_RATE)
    echoed(near, noise(SAMPLE_RATE // 2), delay=480)
    held = 0
    for _ in range(20):
        held += TICK - len(near.push(noise(TICK), silent(more=True)))
    assert held <= (HOLD_S + 0.02) * SAMPLE_RATE


def creeping(seconds: int, ppm: float) -> tuple[Pcm, Pcm]:
    """What is played, and heard 80 ms later by a clock that runs so much slower."""
    played = noise(seconds * SAMPLE_RATE)
    places = np.arange(int(len(played) / (1 + ppm * 1e-6))) * (1 + ppm * 1e-6) - 1280
    return played, np.interp(places, np.arange(len(played)), played, left=0.0).astype(np.float32)


def apart(heard: Pcm, given: Pcm) -> int:
    """Samples by which the canceller's last second was played before it was heard."""
    likely = np.fft.irfft(np.fft.rfft(heard, 65536) * np.conj(np.fft.rfft(given, 65536)))
    return int(np.argmax(np.abs(likely)))


def test_a_delay_that_creeps_is_followed_without_a_new_beginning():
    watcher = Watcher()
    near = NearEnd(watcher, SAMPLE_RATE)
    played, heard = creeping(60, ppm=100)
    for start in range(0, len(heard) - TICK, TICK):
        block = slice(start, start + TICK)
        near.push(heard[block], Played(played[block], SAMPLE_RATE, more=True))
    assert watcher.resets == 1
    last = (np.concatenate(part[-100:]) for part in (watcher.heard, watcher.played))
    assert abs(apart(*last) - EARLY_S * SAMPLE_RATE) <= 2  # it crept by 96


def test_where_clocks_count_apart_nothing_is_lost_to_the_canceller_nor_given_twice():
    watcher = Watcher()
    near = NearEnd(watcher, SAMPLE_RATE)
    played, heard = creeping(120, ppm=200)
    given = 0
    for start in range(0, len(heard) - TICK, TICK):
        until = round((start + TICK) * (1 + 2e-4))  # the loudspeaker's count runs with its clock
        near.push(heard[start : start + TICK], Played(played[given:until], SAMPLE_RATE, more=True))
        given = until
    assert watcher.resets == 1
    assert given - (start + TICK) > STRAY_S * SAMPLE_RATE  # so names were changed on the way
    joined = np.concatenate(watcher.played)
    place, places = 0, []
    for start in range(SAMPLE_RATE, len(joined) - SAMPLE_RATE, SAMPLE_RATE // 2):
        first = place + start - FRAME if places else 0
        around = played[first : first + (3 * FRAME if places else 4 * SAMPLE_RATE)]
        likely = np.correlate(around, joined[start : start + FRAME], mode="valid")
        place = first + int(np.argmax(likely)) - start
        places.append(place)
    assert max(map(abs, np.diff(places))) <= 4  # half a second of 200 ppm is 1.6 samples
    last = (np.concatenate(part[-100:]) for part in (watcher.heard, watcher.played))
    assert abs(apart(*last) - EARLY_S * SAMPLE_RATE) < 0.005 * SAMPLE_RATE


def fed(heard: Pcm, played: Pcm) -> int | None:
    estimator = DelayEstimator()
    for start in range(0, len(heard), FRAME):
        estimator.push(heard[start : start + FRAME], played[start : start + FRAME])
    return estimator.delay


def test_a_delay_is_found_under_noise_as_loud_as_the_echo_and_none_in_what_is_no_echo():
    played = noise(3 * SAMPLE_RATE)
    heard = np.concatenate([np.zeros(2000, np.float32), played])[: len(played)]
    assert fed(heard + noise(len(heard), seed=2), played) == 2000
    assert fed(noise(10 * SAMPLE_RATE, seed=3), noise(10 * SAMPLE_RATE, seed=4)) is None
    assert fed(played, np.zeros(3 * SAMPLE_RATE, np.float32)) is None
