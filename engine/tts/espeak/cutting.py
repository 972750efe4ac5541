"""Cut each piece out of the speech of its context, and join the pieces to one wave: in phase, faded
at pauses, slowed further than espeak can.

Invariants: the samples depend only on the pieces and their order; the end of a piece in one context
and the start of the next piece in the next context are found by the same rule, so consecutive cuts
neither lose nor repeat a sound.
"""

from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final

import numpy as np

from engine.text.phonemes import is_nucleus
from engine.tts.base import Pcm
from engine.tts.espeak.library import SAMPLE_RATE, Speech
from engine.tts.espeak.phrasing import Context

# 5 ms to fade, and 5 ms to either side to look for the same phase: together one whole period of
# every voice above 100 Hz, and most of one of the deepest.
FADE: Final = SAMPLE_RATE * 5 // 1000
_SEARCH: Final = SAMPLE_RATE * 5 // 1000
_RISE: Final = (np.sin(np.linspace(0, np.pi / 2, FADE)) ** 2).astype(np.float32)
# Stretching works on windows of 30 ms: two periods of a deep voice.
_WINDOW: Final = SAMPLE_RATE * 30 // 1000
_HOP: Final = _WINDOW // 2
_BELL: Final = (np.sin(np.pi * (np.arange(2 * _HOP) + 0.5) / (2 * _HOP)) ** 2).astype(np.float32)


@dataclass(frozen=True)
class Span:
    """Samples [start, end) of `pcm` [S]. Fades use the samples after `end`."""

    pcm: Pcm
    start: int
    end: int


class Joiner:
    """The wave of one utterance, in parts that are final once they are returned."""

    def __init__(self) -> None:
        self._tail: Pcm = np.zeros(0, np.float32)  # how the last piece would go on

    def append(self, span: Span, factor: float = 1.0) -> Pcm:
        """Return the span made `factor` >= 1 times as long. It begins in phase with the wave before
        it, or after a pause with a fade.
        """
        start = _in_phase(self._tail, span.pcm, span.start) if len(self._tail) else span.start
        segment = stretch(Span(span.pcm, start, span.end), factor)
        body = segment.pcm[: segment.end].copy()
        length = min(len(self._tail), len(body))
        rise = _RISE[:length]
        body[:length] = body[:length] * rise + self._tail[:length] * (1 - rise)
        self._tail = segment.pcm[segment.end : segment.end + FADE]
        sounding = np.flatnonzero(body)
        if len(sounding) and not length:
            rising = body[sounding[0] :][:FADE]
            rising *= _RISE[: len(rising)]
        if len(sounding) and not self._tail[:1].any():  # espeak may stop in a sound
            falling = body[: sounding[-1] + 1][-FADE:]
            falling *= _RISE[: len(falling)][::-1]
        return body

    def pause(self, samples: int) -> Pcm:
        """Return silence, into which the last piece fades. The next piece begins anew."""
        silence = np.zeros(samples, np.float32)
        length = min(len(self._tail), samples)
        silence[:length] = self._tail[:length] * (1 - _RISE[:length])
        self._tail = np.zeros(0, np.float32)
        return silence


def _in_phase(tail: Pcm, pcm: Pcm, start: int) -> int:
    """Return the position near `start` at which `pcm` is most like `tail`."""
    first = max(0, start - _SEARCH)
    around = pcm[first : start + _SEARCH + len(tail)]
    if len(around) <= len(tail):
        return start
    likeness = np.correlate(around, tail, "valid")
    if not likeness.any():  # silence fits everywhere
        return start
    energy = np.convolve(np.square(around), np.ones(len(tail), np.float32), "valid")
    return first + int(np.argmax(likeness / np.sqrt(energy + 1e-9)))


def stretch(span: Span, factor: float) -> Span:
    """Make a span `factor` >= 1 times as long at the same pitch. The result's `pcm` begins with the
    span and continues for FADE samples after its end.

    WSOLA (Verhelst and Roelands 1993): windows are placed at a fixed hop. Each is taken from near
    its proportional position, where it continues the previous window best.
    """
    length = span.end - span.start
    if factor <= 1.0 or length < _WINDOW:
        return Span(span.pcm[span.start : span.end + FADE], 0, max(length, 0))
    source = np.concatenate([span.pcm[span.start :], np.zeros(3 * _WINDOW, np.float32)])
    wanted_length = round(length * factor)
    out = np.zeros(wanted_length + 2 * _WINDOW, np.float32)
    out[:_HOP] = source[:_HOP] * _BELL[_HOP:]  # the second half of the window before the first
    position = 0
    for place in range(0, wanted_length + FADE, _HOP):
        if place:
            going_on = source[position + _HOP : position + 2 * _HOP]
            position = _in_phase(going_on, source, min(round(place / factor), length))
        out[place : place + 2 * _HOP] += source[position : position + 2 * _HOP] * _BELL
    return Span(out[: wanted_length + FADE], 0, wanted_length)


@dataclass(frozen=True)
class Cut:
    """A piece in the speech of its context. `syllables`: the samples at which its syllables end:
    the last one with the piece, others before the one consonant, or half of several, behind them.
    """

    span: Span
    syllables: tuple[int, ...]


def cut(speech: Speech, context: Context) -> Cut | None:
    """Find the piece's samples in the speech of its context; None if the piece is silent."""
    sounding = [following.sample for phone, following in pairwise(speech.phones) if phone.ipa]
    last_sound = min([len(speech.pcm), *sounding[-1:]]) if sounding else 0
    onsets = _onsets(speech, context.tokens, last_sound)
    start, end = onsets[context.target], onsets[context.target + 1]
    if end <= start:
        return None
    phones = [pair for pair in pairwise(speech.phones) if start <= pair[0].sample < end]
    vowels = [place for place, (phone, _) in enumerate(phones) if is_nucleus(phone.ipa)]
    last = [phones[one + (other - one - 1) // 2][1] for one, other in pairwise(vowels)]
    syllables = (*(following.sample - start for following in last), end - start) if vowels else ()
    return Cut(Span(speech.pcm, start, end), syllables)


def _onsets(speech: Speech, tokens: tuple[str, ...], end_of_speech: int) -> list[int]:
    """Return the first sample of each token, and the end of the speech after the last one."""
    starts = [0, *accumulate(len(token) + 1 for token in tokens)]
    marks: list[list[int]] = [[] for _ in tokens]
    place = 0
    for mark in speech.words:
        while place + 1 < len(tokens) and mark.character >= starts[place + 1]:
            place += 1
        marks[place].append(mark.sample)
    onsets = [samples[0] if samples else -1 for samples in marks] + [end_of_speech]
    onsets[0] = 0
    for run in pairwise([place for place, onset in enumerate(onsets) if onset >= 0]):
        if run[1] > run[0] + 1:  # espeak spoke several as one: 'of the', 'such as', 'it is'
            _divide(speech, tokens, run, onsets, marks[run[0]])
    return onsets


def _divide(
    speech: Speech,
    tokens: tuple[str, ...],
    run: tuple[int, int],
    onsets: list[int],
    marks: list[int],
) -> None:
    """Set the onsets of the tokens inside a run that espeak spoke as one: espeak's own marks if
    there is one for each token, else phone boundaries in proportion to the letters.
    """
    token, following = run
    inside = range(token + 1, following)
    if len(marks) == following - token:
        for place, sample in zip(inside, marks[1:], strict=True):
            onsets[place] = sample
        return
    first, last = onsets[token], onsets[following]
    letters = list(accumulate(len(word) for word in tokens[token:following]))
    boundaries = [p.sample for p in speech.phones if first < p.sample < last] or [last]
    for place, letters_before in zip(inside, letters, strict=False):
        target = first + (last - first) * letters_before // letters[-1]
        onsets[place] = max(
            onsets[place - 1], min(boundaries, key=lambda sample: abs(sample - target))
        )
