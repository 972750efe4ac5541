"""Latency and steadiness of a session whose words come one by one, for any delay between them.

The samples of a session do not depend on when words arrive, and it takes a word only when it is
Starved. So one run without waiting gives the words that each frame needed and its computing time;
the timing for any delay follows by arithmetic. Invariant: times are CPU seconds of the steps, so
the load of the machine does not count.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import Final

import numpy as np

from engine.languages import ENGLISH, SPOKEN
from engine.text import syllables
from engine.text.phonemes import Espeak, WordPhonemizer
from engine.tts.base import AudioFrame, Finished, Pcm, TtsModel, TtsSession, Voice

SEED: Final = 90_001  # that training never used
OWN_RATE: Final = 4.0  # SPS, about the rate of a voice without a target
LONGEST: Final = 4.0  # times the expected length; a longer session counts as lost
SLACK_SECONDS: Final = 5.0
RUNS: Final = 3  # of each sentence; a frame's cost is their median
AUDIBLE_DB: Final = -35.0  # below the loudest 10 ms of the utterance (SpeakStream, footnote 1)
_WINDOW_S: Final = 0.01


@dataclass(frozen=True)
class TimedFrame:
    """A frame of a session, the number of words pushed before it, and its CPU time."""

    frame: AudioFrame
    words: int
    cpu_s: float


@dataclass(frozen=True)
class FrameTiming:
    """The length of a frame, the number of words that it needed, and its CPU time."""

    words: int
    cpu_s: float
    seconds: float


@dataclass(frozen=True)
class Trace:
    """The frames of one utterance. `speech`: beginning and end of the audible part, in seconds."""

    words: int
    frames: tuple[FrameTiming, ...]
    speech: tuple[float, float]


@dataclass(frozen=True)
class Timing:
    """Timing at a loudspeaker for one delay, in seconds after the arrival of the first word."""

    first_packet_s: float  # FPL: until the first frame is made
    first_audible_s: float  # TTFA: until the first sound is played
    dry_s: float  # how long the loudspeaker had nothing to play before the last word was out
    dry_times: int
    tail_s: float  # from the arrival of the last word to the end of the speech


def syllables_of(words: Iterable[str], language: str = ENGLISH) -> int:
    """Count the syllables of words; in other languages than English those of their phones."""
    if language == ENGLISH:
        return sum(map(syllables.count, words))
    phonemizer = WordPhonemizer(Espeak(SPOKEN[language].espeak))
    phoned = [each for word in words for each in phonemizer.push(word)]
    return sum(each.syllables for each in (*phoned, *phonemizer.finish()))


def longest_s(words: Iterable[str], rate: float | None = None, language: str = ENGLISH) -> float:
    """Return the seconds after which an utterance of these words at a rate (SPS) counts as lost."""
    return LONGEST * syllables_of(words, language) / (rate or OWN_RATE) + SLACK_SECONDS


def speak(
    session: TtsSession, words: Sequence[str], wait: Callable[[int], None] = lambda number: None
) -> Iterator[TimedFrame]:
    """Yield every frame of an utterance as soon as it is made, until the session ends. The session
    gets a word when it needs one; before that, `wait` is called with the word's number, from 0.
    """
    given, since = 0, time.process_time()
    while not isinstance(step := session.step(), Finished):
        if isinstance(step, AudioFrame):
            yield TimedFrame(step, given, time.process_time() - since)
            since = time.process_time()
        elif given < len(words):
            wait(given)
            session.push_word(words[given])
            given += 1
        else:
            session.end_input()


def traced(words: Sequence[str], made: Sequence[TimedFrame], sample_rate: int) -> Trace:
    """Return the trace of an utterance of at least one frame."""
    frames = [
        FrameTiming(each.words, each.cpu_s, len(each.frame.pcm) / sample_rate) for each in made
    ]
    pcm = np.concatenate([each.frame.pcm for each in made])
    return Trace(len(words), tuple(frames), audible_span(pcm, sample_rate))


def speak_once(
    model: TtsModel, voice: Voice, text: str, rate: float | None
) -> tuple[list[TimedFrame], bool]:
    """Speak a text word by word; return its frames, and True if it ended by itself. An utterance
    that becomes too long is cut off.
    """
    made, words = list[TimedFrame](), text.split()
    left = model.info.sample_rate * longest_s(words, rate, voice.language)
    with model.open(voice, seed=SEED) as session:
        session.rate = rate
        for each in speak(session, words):
            made.append(each)
            left -= len(each.frame.pcm)
            if left <= 0:
                return made, False
    return made, True


def trace(model: TtsModel, voice: Voice, text: str, rate: float | None = None) -> Trace:
    """Speak a text RUNS times; the cost of a frame is the median."""
    all_made = [speak_once(model, voice, text, rate)[0] for _ in range(RUNS)]
    runs = [traced(text.split(), made, model.info.sample_rate) for made in all_made]
    costs = zip(*([frame.cpu_s for frame in run.frames] for run in runs), strict=True)
    frames = zip(runs[0].frames, costs, strict=True)
    return replace(
        runs[0], frames=tuple(replace(frame, cpu_s=median(cost)) for frame, cost in frames)
    )


def timing(trace: Trace, delay_s: float) -> Timing:
    """Return the timing of an utterance whose word number k (from 0) comes at k * delay_s."""
    last_word_s = (trace.words - 1) * delay_s
    ready_s, end_s, dry_s, dry_times = 0.0, 0.0, 0.0, 0
    starts: list[float] = []  # where each frame begins to be played
    for frame in trace.frames:
        ready_s = max(ready_s, (frame.words - 1) * delay_s) + frame.cpu_s
        if starts and end_s < min(ready_s, last_word_s):
            dry_s += min(ready_s, last_word_s) - end_s
            dry_times += 1
        starts.append(max(end_s, ready_s))
        end_s = starts[-1] + frame.seconds
    first_s, last_s = (_played(trace, starts, place_s) for place_s in trace.speech)
    return Timing(starts[0], first_s, dry_s, dry_times, last_s - last_word_s)


def words_before_sound(trace: Trace) -> int:
    """Return the number of words that the first frame needed."""
    return trace.frames[0].words


def real_time_factor(trace: Trace) -> float:
    """Return the processor time over the length of the sound (RTF)."""
    return sum(frame.cpu_s for frame in trace.frames) / sum(f.seconds for f in trace.frames)


def audible_span(pcm: Pcm, sample_rate: int) -> tuple[float, float]:
    """Return the beginning and the end of the audible part, in seconds."""
    size = int(_WINDOW_S * sample_rate)
    windows = np.pad(pcm, (0, -len(pcm) % size)).reshape(-1, size)
    level = np.sqrt(np.mean(windows**2, axis=1))
    audible = np.flatnonzero(level > level.max() * 10 ** (AUDIBLE_DB / 20))
    if not len(audible):
        return 0.0, len(pcm) / sample_rate
    return float(audible[0]) * _WINDOW_S, float(audible[-1] + 1) * _WINDOW_S


def _played(trace: Trace, starts: Sequence[float], place_s: float) -> float:
    """Return the time at which a position of the sound (in seconds) is played."""
    edges = np.cumsum([0.0, *(frame.seconds for frame in trace.frames)])
    for number, (first, last) in enumerate(pairwise(edges)):
        if place_s <= last:
            return float(starts[number] + max(0.0, place_s - first))
    return float(starts[-1] + trace.frames[-1].seconds)
