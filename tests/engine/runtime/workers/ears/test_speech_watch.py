"""Under a reply a first sign of voice counts where there is a trace of somebody, and only there."""

import numpy as np
import pytest

from engine.audio import vad
from engine.audio.base import Pcm
from engine.audio.vad import WINDOW, SpeechStarted
from engine.runtime.turn.endpointing import Patience
from engine.runtime.workers.ears.speech_watch import INSISTENT, SpeechWatch


class ScriptedVad:
    """Gives the probability that a window's samples are."""

    def push(self, pcm: Pcm) -> list[float]:
        return [float(each) for each in pcm[::WINDOW]]

    def reset(self) -> None:
        """Nothing is remembered."""


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> SpeechWatch:
    monkeypatch.setattr(vad, "Vad", ScriptedVad)
    watch = SpeechWatch(Patience(700))
    watch.attend(during_reply=True)
    return watch


def starts(watch: SpeechWatch, probabilities: list[float], *, plausible: bool) -> list[int]:
    """Windows after which speech began, counting from 0."""
    found = []
    for number, probability in enumerate(probabilities):
        pcm = np.full(WINDOW, probability, np.float32)
        events = watch.push(pcm, (number + 1) * WINDOW, plausible=plausible)
        found += [number for event in events if isinstance(event, SpeechStarted)]
    return found


@pytest.mark.parametrize(
    ("voice", "plausible", "began"),
    [
        pytest.param([0.1, 0.1, 0.35], True, [2], id="first sign with a trace"),
        pytest.param([0.1, 0.9, 0.1, 0.9, 0.4, 0.9, 0.1], False, [], id="moments without one"),
        pytest.param([0.1, *[0.9] * INSISTENT], False, [INSISTENT], id="goes on without one"),
        pytest.param([0.7] * 50, False, [], id="perhaps a voice: the rest of an echo"),
    ],
)
def test_speech_begins(
    watch: SpeechWatch, voice: list[float], plausible: bool, began: list[int]
) -> None:
    assert starts(watch, voice, plausible=plausible) == began


def test_what_went_before_a_reset_does_not_count(watch: SpeechWatch) -> None:
    assert starts(watch, [0.9] * (INSISTENT - 1), plausible=False) == []
    watch.reset()
    assert starts(watch, [0.9] * (INSISTENT - 1), plausible=False) == []
