"""Which words of a reply really left the loudspeaker, found in the sound itself.

Invariant: asks neither playback nor ledger, whose answer it is there to check: the end of what was
played is looked for in what the synthesiser made, and the words are those that begin before it.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import soxr
from numpy.typing import NDArray
from scipy import signal

from engine.audio.base import Pcm
from engine.tts.base import AudioFrame, Onset, Step, TtsModel, TtsSession, Voice
from tests.simulation.room import RATE

FADE_S = 0.02  # a block and a ramp until a reply is silent: who can say whether that was a word
_TAIL_S = 1.5  # of what was played, in which the place is recognised
FAINT = 1e-3  # what is softer is silence
_GAP_S = 0.2  # of silence: the reply may have been paused there, and gone on from before it
_LEAST_S = 0.3  # by which a place can be recognised
_ALIKE = 0.9  # correlation from which two sounds are the same


@dataclass
class Said:
    """One utterance as it was made."""

    sample_rate: int
    pcm: list[Pcm] = field(default_factory=list)
    onsets: list[Onset] = field(default_factory=list)

    def forget(self, end: int) -> None:
        """What comes from the sample `end` on: it is made again."""
        self.pcm = [np.concatenate(self.pcm)[:end]] if self.pcm else []
        self.onsets = [onset for onset in self.onsets if onset.sample < end]


class TappedModel:
    """A synthesiser of which every utterance is kept in `said`."""

    def __init__(self, model: TtsModel) -> None:
        self._model = model
        self.said: list[Said] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def open(self, voice: Voice, *, seed: int) -> TtsSession:
        session = self._model.open(voice, seed=seed)
        said = Said(self._model.info.sample_rate)
        self.said.append(said)
        step, rewind = session.step, session.rewind

        def tapped() -> Step:
            made = step()
            if isinstance(made, AudioFrame):
                said.pcm.append(made.pcm)
                said.onsets += made.onsets
            return made

        def rewound(sample: int) -> int | None:
            end = rewind(sample)
            if end is not None:
                said.forget(end)
            return end

        session.step = tapped  # type: ignore[method-assign]
        session.rewind = rewound  # type: ignore[method-assign]
        return session


@dataclass(frozen=True)
class HeardWords:
    """How many words of an utterance were heard: `surely`, and `perhaps` while it fell silent or
    began without a sound, as a t does.
    """

    surely: int
    perhaps: int


def heard_words(said: Said, played: Pcm) -> list[HeardWords]:
    """Of `played` [S] at RATE, whose last sound is of this utterance; [] when it is not. Of an
    utterance that says the same again and again, one for each time.
    """
    begin = np.array([onset.sample / said.sample_rate for onset in said.onsets])
    places = _places(said, played)
    if not places:
        return []
    loud = np.flatnonzero(np.abs(np.concatenate(said.pcm)) > FAINT) / said.sample_rate
    return [
        HeardWords(int(np.sum(begin < end - FADE_S)), int(np.sum(begin < _next(loud, end))))
        for end in places
    ]


def _next(loud: NDArray[np.float64], end: float) -> float:
    """When something is heard again after `end`."""
    at = int(np.searchsorted(loud, end))
    return max(end, float(loud[at])) if at < len(loud) else end


def _places(said: Said, played: Pcm) -> list[float]:
    """Seconds into the utterance at which the sound may have ended."""
    loud = np.flatnonzero(np.abs(played) > FAINT)
    if not len(loud) or not said.pcm:
        return []
    last = int(loud[-1]) + 1
    tail = _unbroken(played[max(0, last - round(_TAIL_S * RATE)) : last])
    pcm = soxr.resample(np.concatenate(said.pcm), said.sample_rate, RATE)
    made = np.concatenate([np.zeros(len(tail), np.float32), pcm])
    likeness = signal.correlate(made, tail, "valid", "fft")
    energy = signal.correlate(made**2, np.ones(len(tail), np.float32), "valid", "fft")
    likeness /= np.sqrt(np.maximum(energy, 1e-6) * np.sum(tail**2))
    alike = np.flatnonzero(likeness > _ALIKE)
    groups = np.split(alike, np.flatnonzero(np.diff(alike) > _LEAST_S * RATE) + 1)
    return [int(group[np.argmax(likeness[group])]) / RATE for group in groups if len(group)]


def _unbroken(tail: Pcm) -> Pcm:
    """What follows the last gap, if that is enough."""
    loud = np.flatnonzero(np.abs(tail) > FAINT)
    gaps = np.flatnonzero(np.diff(loud) > _GAP_S * RATE)
    start = int(loud[gaps[-1] + 1]) if len(gaps) else 0
    return tail[start:] if len(tail) - start >= _LEAST_S * RATE else tail
