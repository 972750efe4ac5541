"""Interface of all synthesisers: a model opens sessions, a session turns words into frames step by
step.

Invariant: `step()` never sleeps, never waits, reads no clock. "Not ready" is the value Starved,
"the end" is the value Finished. On one device, the same voice, seed, words and rate at each step
give the same samples, whatever the order of the calls of push_word and step between two Starved.
For a model that reads ahead (TtsInfo.reads_ahead), the samples also depend on which words and
whether the end were known at each step.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol, Self

import numpy as np
import numpy.typing as npt

from engine.errors import InvalidInput
from engine.languages import ENGLISH, SPOKEN

Pcm = npt.NDArray[np.float32]  # [S] mono, -1..1
LANGUAGE: Final = "language"  # of a voice's metadata, as espeak-ng calls it


@dataclass(frozen=True)
class RateRange:
    """Range of a model's speaking rates, in SPS."""

    lowest: float
    highest: float

    def nearest(self, rate: float) -> float:
        """Clamp a rate to the range. InvalidInput for NaN or infinity."""
        if not math.isfinite(rate):
            raise InvalidInput("A speaking rate of {rate} cannot be spoken.", rate=rate)
        return min(max(rate, self.lowest), self.highest)


@dataclass(frozen=True)
class TtsInfo:
    """Properties of a model. `rate_range` None: the model does not follow a rate. `sample_rate`: of
    its frames, in Hz. `edition` distinguishes models of one name with incompatible voices.
    `can_clone`: see pick.can_clone(). `recipe_version`: of the recipe by which the model makes
    voices today, `learnt`: of the recipe of voices that are fitted to a recording in a separate
    process; both as in a voice's metadata["making"]. `resembles`: a voice made of a recording only
    resembles the speaker. `can_mix`: see voice_lookup.mixed(). `note`: a sentence to the person on
    how the model runs, or empty; it can change when a voice is prepared or a session opened.
    `lead_ms`: the least lead of the computation over the loudspeaker. `reads_ahead`: samples depend
    on the words known before a step, see above. `side_by_side`: a second one may be loaded, and
    each uses one thread. `languages`: codes of those that it speaks.
    """

    name: str
    sample_rate: int
    rate_range: RateRange | None
    can_clone: bool = False
    device: str = "cpu"  # its device, as torch names it
    edition: str = ""
    recipe_version: str = ""
    learnt: str = ""
    resembles: bool = False
    note: str = ""
    can_mix: bool = False
    lead_ms: int = 0
    reads_ahead: bool = False
    side_by_side: bool = False
    languages: tuple[str, ...] = (ENGLISH,)

    @property
    def voice_model(self) -> str:
        """The value of Voice.model in voices that are made for this model."""
        return f"{self.name} {self.edition}".rstrip()


def language_code(metadata: Mapping[str, str]) -> str:
    """Return the code of the language in a voice's metadata; English if there is no known one."""
    code = metadata.get(LANGUAGE, ENGLISH).split("-")[0]
    return code if code in SPOKEN else ENGLISH


@dataclass(frozen=True)
class Voice:
    """A prompt encoded for one model (`model` = its TtsInfo.voice_model). `tensors` and `metadata`
    go to safetensors as they are.
    """

    name: str
    model: str
    tensors: Mapping[str, npt.NDArray[np.generic]] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)

    @property
    def language(self) -> str:
        """The code of the language that the voice speaks (engine/languages.py)."""
        return language_code(self.metadata)


@dataclass(frozen=True)
class Onset:
    """Word number `word` (counting push_word calls from 0) begins at `sample` of its utterance."""

    word: int
    sample: int


@dataclass(frozen=True)
class AudioFrame:
    """The next samples of the utterance.

    `sample` is the position of pcm[0] in the utterance; `onsets` are those in this frame, in order.
    `rate` and `mean` are measured up to the middle of this frame, in SPS: since the target changed,
    and over the utterance. None if there is too little speech to measure.
    """

    pcm: Pcm
    sample: int
    onsets: tuple[Onset, ...] = ()
    rate: float | None = None
    mean: float | None = None


@dataclass(frozen=True)
class Starved:
    """The session needs more words, or the end of the input."""


@dataclass(frozen=True)
class Finished:
    """The utterance is complete; every further step() is Finished too."""


Step = AudioFrame | Starved | Finished


class TtsSession(Protocol):
    """The speech of one utterance, owned by one thread. close() may be called at any time."""

    rate: float | None
    """Target SPS, read at the start of every step; None = the model's own pace. Clamped to the
    model's range.
    """

    def push_word(self, text: str, pace: float = 1.0) -> None:
        """Append a complete word with its punctuation; `pace` is a factor on the rate while this
        word is spoken (see pacing.paced). InvalidInput after end_input() or for text with spaces.
        """
        ...

    def end_input(self) -> None:
        """End the input. Calling it twice is harmless."""
        ...

    def step(self) -> Step: ...

    def rewind(self, sample: int) -> int | None:
        """Take back the speech from the first word that begins at or after `sample` of the
        utterance, and the part after `sample` of the pause before that word. The following steps
        make it again, at their rate. Return the sample at which the utterance goes on. None =
        nothing was taken back, because no such word has begun or the model cannot rewind.
        """
        ...

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class TtsModel(Protocol):
    """Immutable weights; opens any number of sessions. Used from one thread."""

    @property
    def info(self) -> TtsInfo: ...

    def voices(self) -> tuple[Voice, ...]:
        """Return the voices that come with the model, at least one; the first is the default."""
        ...

    def encode_voice(self, pcm: Pcm, sample_rate: int) -> Voice:
        """Make a voice from a recording, which takes long. Only for models whose info.can_clone is
        True.

        May run on another thread while sessions are stepped: it changes nothing of the model.
        """
        ...

    def warm(self, voice: Voice) -> None:
        """Prepare a voice, so that its first utterance starts at once. This is slow the first time.
        InvalidInput for a voice of another model.
        """
        ...

    def open(self, voice: Voice, *, seed: int) -> TtsSession: ...

    def close(self) -> None: ...
