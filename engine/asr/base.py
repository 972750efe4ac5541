"""The protocol of every recogniser: one Recognition per utterance of the user.

Audio is mono float32 at 16 kHz. A Recognition is used from one thread. Silence is not an error: an
utterance without words is a Transcript with empty text.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from engine.settings import RecogniserSettings

SAMPLE_RATE = 16_000  # Hz; the rate of the models of Silero, Whisper and pocketsphinx


@dataclass(frozen=True)
class RecogniserInfo:
    """Kind of recogniser (`name`: 'sphinx' or 'whisper') and its model for the status line."""

    name: str
    detail: str


@dataclass(frozen=True)
class Transcript:
    """Final text of one utterance. `confidence` is between 0 and 1; compare it only between
    transcripts of the same recogniser.
    """

    text: str
    confidence: float
    recogniser: str
    language: str = ""  # the code that the recogniser detected; empty = as in the settings


class Recognition(Protocol):
    """Recognition of one utterance, which may still be going on."""

    def push(self, pcm: npt.NDArray[np.float32]) -> None:
        """Append samples [S] at 16 kHz. May decode, so it can take as long as the audio lasts."""
        ...

    def partial(self) -> str:
        """Return the best text so far, empty if there is none. Later calls may revise it."""
        ...

    def peek(self) -> str:
        """Return the text so far at once, less reliable than partial(). It decides whether the
        assistant falls silent; it is not shown.
        """
        ...

    def interim(self, wanted: Callable[[], bool]) -> Transcript | None:
        """Return the transcript that finish() would return now; more audio may follow. None as soon
        as `wanted`, polled on the way, turns false. RecogniserError as in finish().
        """
        ...

    def overlapping(self) -> Transcript:
        """As interim(), for speech during a reply of the assistant. Such speech is often one of a
        few words (engine/text/barge_in_words.py), which a recogniser may expect.
        """
        ...

    def finish(self) -> Transcript:
        """Decode the rest; no more audio follows. RecogniserError if that fails."""
        ...

    def close(self) -> None:
        """Discard the utterance. Allowed at any time, also after finish()."""
        ...


class Recogniser(Protocol):
    """A loaded model. Opens one Recognition at a time."""

    @property
    def info(self) -> RecogniserInfo: ...

    def open(self) -> Recognition: ...

    def adjust(self, settings: RecogniserSettings) -> None:
        """Apply settings of the loaded model from the next Recognition: the language may differ.
        ModelError if the model does not support it; nothing changes then.
        """
        ...

    def close(self) -> None: ...


class KeywordSpotter(Protocol):
    """Detector of the wake phrase; owned by one thread. Detections depend only on the samples since
    the last reset. The division into blocks shifts them by at most one block.
    """

    def push(self, pcm: npt.NDArray[np.float32]) -> int | None:
        """Search samples [S] at 16 kHz. Return how many samples ago the phrase ended, or None."""
        ...

    def reset(self) -> None:
        """Forget all samples."""
        ...
