"""State of the reply being spoken, also without a loudspeaker.

Invariant: belongs to the speaker's thread.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from engine.runtime.turn.breaks import Breaks
from engine.runtime.turn.playback import FrameCue, Playback
from engine.runtime.turn.reply import Reply
from engine.text.word import Word
from engine.tts.base import AudioFrame, Finished, Starved, Step
from engine.tts.rate import PLAIN


class Unspoken:
    """See Breaks."""

    def __init__(self, *, ended: bool = False) -> None:
        """`ended`: no more words will come."""
        self.rate: float | None = None
        self._ended = ended

    def push(self, word: Word) -> None:
        """Do nothing: it is on the screen already."""

    def end_input(self) -> None:
        self._ended = True

    def step(self) -> Step:
        return Finished() if self._ended else Starved()

    def rewind(self, sample: int) -> int | None:
        """Nothing was made."""
        return None

    def close(self) -> None:
        """Nothing to release."""


# Minimum lead of a replacement over playback when it takes over: the next frame may take long, and
# the resampler and the device hold some samples back.
AHEAD_MS = 150.0


@dataclass
class Utterance:
    """A reply, its session, and its progress."""

    reply: Reply
    session: Breaks | Unspoken
    playback: Playback
    words: list[Word] = field(default_factory=list)
    rate: float | None = None  # SPS; None = the slider's
    pace: float = PLAIN  # of the word of the last frame
    heard: FrameCue | None = None  # the last one with a measured rate
    queued: bool = False
    audible: bool = False
    starved: bool = False
    ended: bool = False  # no more words will come


def rewound_frames(utterance: Utterance) -> Step:
    """Return the next frames as one; the old speech plays until they are far enough ahead."""
    playback, session = utterance.playback, utterance.session
    step = session.step()
    frames = list[AudioFrame]()
    while isinstance(step, AudioFrame):
        frames.append(step)
        if playback.ahead_ms(step.sample + len(step.pcm)) >= min(AHEAD_MS, playback.lead_ms):
            break
        step = session.step()
    if not frames:
        return step
    pcm = np.concatenate([frame.pcm for frame in frames])
    onsets = tuple(onset for frame in frames for onset in frame.onsets)
    return replace(frames[-1], pcm=pcm, sample=frames[0].sample, onsets=onsets)
