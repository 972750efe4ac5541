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


SILENCE = np.zeros(SAMPLE_RATE, np.float32)  # after the last sound it is no speech


@pytest.mark.parametrize(
    ("look_s", "looks_at", "speech", "final"),
    [
        pytest.param(0.0, 0.0, SPEECH, PAUSE_S + 0.4, id="begins when the pause is noticed"),
        pytest.param(0.0, 0.0, np.concatenate([SPEECH, SILENCE]), PAUSE_S + 0.4, id="silence"),
        pytest.param(0.8, 1.0, SPEECH, PAUSE_S + 0.4, id="a look that is over delays nothing"),
        pytest.param(0.8, 1.9, SPEECH, 1.9 + 0.8 + 0.4 - 2.0, id="waits for a look that is not"),
    ],
)
def test_the_time_to_the_transcript_is_counted_from_the_last_sound(look_s, looks_at, speech, final):
    slow = Slow(look_s=look_s, interim_s=0.4, looks_at=looks_at)
    heard = hear(slow, speech, slow.now)
    assert slow.closed
    assert heard.text == "hello"
    assert heard.final_s == pytest.approx(final)
    assert heard.busy_s == pytest.approx(look_s + 0.4)  # what is computed is counted once
