"""The time from the end of speech to its transcript, on a clock that is stepped by hand."""

from collections.abc import Callable

import numpy as np
import pytest

from engine.asr.base import SAMPLE_RATE, Transcript
from engine.bench.hearing import hear

SPEECH = np.full(2 * SAMPLE_RATE, 0.5, np.float32)
PAUSE_S = 0.192


class Slow:
    """A recogniser and its recognition: looks and interim transcripts cost what they are to."""

    def __init__(self, look_s: float, interim_s: float, looks_at: float = 0.0) -> None:
        self.seconds = 0.0
        self.samples = 0
        self.closed = False
        self._look_s, self._interim_s, self._looks_at = look_s, interim_s, looks_at

    def open(self) -> "Slow":
        return self

    def push(self, pcm: np.ndarray) -> None:
        self.samples += len(pcm)

    def peek(self) -> str:
        return ""

    def partial(self) -> str:
        if self.samples >= self._looks_at * SAMPLE_RATE:
            self.seconds += self._look_s
            self._look_s = 0.0  # one look
        return ""

    def interim(self, wanted: Callable[[], bool]) -> Transcript | None:
        self.seconds += self._interim_s
        return Transcript("hello", 1.0, "slow")

    def close(self) -> None:
        self.closed = True

    def now(self) -> float:
        return self.seconds


def final_s(slow: Slow, speech: np.ndarray = SPEECH) -> float:
    heard = hear(slow, speech, slow.now)
    assert slow.closed
    assert heard.text == "hello"
    return heard.final_s


def test_the_interim_transcript_begins_when_the_pause_is_noticed():
    assert final_s(Slow(look_s=0.0, interim_s=0.4)) == pytest.approx(PAUSE_S + 0.4)


def test_silence_after_the_last_sound_is_no_speech():
    speech = np.concatenate([SPEECH, np.zeros(SAMPLE_RATE, np.float32)])
    assert final_s(Slow(look_s=0.0, interim_s=0.4), speech) == pytest.approx(PAUSE_S + 0.4)


def test_a_look_that_is_over_before_the_pause_delays_nothing():
    assert final_s(Slow(look_s=0.8, interim_s=0.4, looks_at=1.0)) == pytest.approx(PAUSE_S + 0.4)


def test_the_interim_transcript_waits_for_a_look_that_is_not():
    slow = Slow(look_s=0.8, interim_s=0.4, looks_at=1.9)
    assert final_s(slow) == pytest.approx(1.9 + 0.8 + 0.4 - 2.0)


def test_what_is_computed_is_counted_once():
    slow = Slow(look_s=0.8, interim_s=0.4)
    assert hear(slow, SPEECH, slow.now).busy_s == pytest.approx(1.2)
