"""The seam every recogniser stands behind: one Recognition per user utterance.

Invariant: audio is mono float32 at 16 kHz. A Recognition is used from one thread. Nothing is said
about silence: an utterance without words is a Transcript with empty text.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from engine.settings import RecogniserSettings

SAMPLE_RATE = 16_000  # Hz; what Silero, Whisper and pocketsphinx are made for


@dataclass(frozen=True)
class RecogniserInfo:
    """`name` is the kind ('sphinx', 'whisper'), `detail` the model in words for the status line."""

    name: str
    detail: str


@dataclass(frozen=True)
class Transcript:
    """Final text of one utterance; `confidence` 0..1 is how sure the recogniser is, comparable
    within one kind.
    """

    text: str
    confidence: float
    recogniser: str
    language: str = ""  # a code, where the recogniser told it; empty = as in the settings


class Recognition(Protocol):
    """One utterance while it is being heard."""

    def push(self, pcm: npt.NDArray[np.float32]) -> None:
        """Append samples [S] at 16 kHz; may decode, so it can take as long as the audio lasts."""
        ...

    def partial(self) -> str:
        """Best text so far; empty when there is none. May be revised by later calls."""
        ...

    def peek(self) -> str:
        """As partial(), but at once and less certain: to decide whether to fall silent, not for the
        screen.
        """
        ...

    def interim(self, wanted: Callable[[], bool]) -> Transcript | None:
        """What finish() would say now; more audio may follow. `wanted` is asked on the way: None
        when it turned false. RecogniserError as finish().
        """
        ...

    def overlapping(self) -> Transcript:
        """As interim(), for what a person said while the assistant spoke. That is often one of a
        few words (engine/text/interaction.py), which a recogniser may expect.
        """
        ...

    def finish(self) -> Transcript:
        """No more audio: decode the rest. RecogniserError when this utterance cannot be decoded."""
        ...

    def close(self) -> None:
        """Throw the utterance away; allowed at any moment, also after finish()."""
        ...


class Recogniser(Protocol):
    """A loaded model; opens one Recognition at a time."""

    @property
    def info(self) -> RecogniserInfo: ...

    def open(self) -> Recognition: ...

    def adjust(self, settings: RecogniserSettings) -> None:
        """Recognise from the next Recognition on as these settings say, which name what is loaded:
        in their language. ModelError when it does not know that one; nothing changes then.
        """
        ...

    def close(self) -> None: ...


class KeywordSpotter(Protocol):
    """Listens for the wake phrase; owned by one thread. What is found depends on the samples since
    the last reset alone, never on how they were cut into blocks by more than a block's length.
    """

    def push(self, pcm: npt.NDArray[np.float32]) -> int | None:
        """More samples [S] at 16 kHz. How many samples ago the phrase ended, None = not heard."""
        ...

    def reset(self) -> None:
        """Forget what was heard."""
        ...
