"""What belongs to the reply being spoken.

Invariant: belongs to the speaker's thread.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from engine.runtime.turn.breaks import Breaks
from engine.runtime.turn.playback import FrameCue, Playback
from engine.runtime.turn.reply import Reply
from engine.runtime.workers.voice.unspoken import Unspoken
from engine.text.word import Word
from engine.tts.base import AudioFrame, Step
from engine.tts.rate import PLAIN

# How far what is made again is ahead of what sounds when it takes its place: the next frame may
# take a voice long, and the resampler and the device hold some of it.
AHEAD_MS = 150.0


@dataclass
class Utterance:
    """A reply, the session that speaks it, and how far it is."""

    reply: Reply
    session: Breaks | Unspoken
    playback: Playback
    words: list[Word] = field(default_factory=list)
    rate: float | None = None  # SPS; None = the dial's
    pace: float = PLAIN  # of the word of the last frame
    heard: FrameCue | None = None  # the last one whose rate was measured
    queued: bool = False
    audible: bool = False
    starved: bool = False
    ended: bool = False  # no more words will come


def made_again(utterance: Utterance) -> Step:
    """The next frames as one: the old speech sounds on until they are far enough ahead of it."""
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
