"""A client's speech: its sound, with starts, pauses and ends of utterances.

Invariant: positions count from the first sample. At most one utterance of the sound is kept, with a
little before it.
"""

from typing import Final

import numpy as np

from engine.asr.base import SAMPLE_RATE as EAR_RATE
from engine.asr.base import Transcript
from engine.asr.completeness import Completeness
from engine.audio.pcm import Pcm, Resampler
from engine.audio.vad import SpeechEnded, SpeechEvent, SpeechStarted
from engine.runtime.turn.facts import InterimTranscript
from engine.runtime.turn.waiting import LONGEST_S, Patience
from engine.runtime.workers.ears.speech_watch import SpeechWatch
from engine.serve.service import SAMPLE_RATE

_BEFORE: Final = EAR_RATE // 2  # samples kept before speech was noticed
_MOST: Final = round((LONGEST_S + 2.0) * EAR_RATE)
SLICE: Final = SAMPLE_RATE // 10  # samples per call; more would delay other clients


class ClientMicrophone:
    """Sound at `rate` (Hz) in, utterances at 16 kHz out. `heard`: the kept samples [S]."""

    def __init__(self, rate: int = SAMPLE_RATE) -> None:
        self._resampler = Resampler(rate, EAR_RATE)
        self._watch: SpeechWatch | None = None  # None = the client itself ends its utterances
        self.heard = np.zeros(0, np.float32)
        self._end = 0  # sample after the last one that is kept

    def listen(self, patience: Patience | None) -> None:
        """Set how the end of an utterance is detected; None = not at all. Slow unless the detector
        was loaded, see Service. ModelError.
        """
        if patience is None:
            self._watch = None
        elif self._watch is None:
            watch = SpeechWatch(patience)
            watch.load()
            self._watch = watch
        else:
            self._watch.patience = patience

    def push(self, pcm: Pcm) -> list[SpeechEvent]:
        """Append sound [S], at most SLICE; return its events in order."""
        new = self._resampler.push(pcm)
        self._end += len(new)
        self.heard = np.concatenate([self.heard, new])[-_MOST:]
        if self._watch is None:
            return []
        seen = self._watch.push(new, self._end)
        shown = [event for event in seen if isinstance(event, SpeechEvent)]
        for event in shown:
            if isinstance(event, SpeechStarted | SpeechEnded):
                self._watch.follow(event.sample if isinstance(event, SpeechStarted) else None)
        if not (self._watch.speaking or any(isinstance(event, SpeechEnded) for event in shown)):
            self.heard = self.heard[-_BEFORE:]
        return shown

    def judge(self, pause: int, transcript: Transcript, completeness: Completeness) -> None:
        """Wait as long as the words before a pause need."""
        if self._watch is not None:
            self._watch.judge(InterimTranscript(0, pause, transcript, completeness, 0.0))

    def clear(self) -> None:
        """Delete the kept samples."""
        self.heard = self.heard[:0]
