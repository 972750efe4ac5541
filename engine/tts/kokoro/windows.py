"""Samples of some frames of a plan, and the silences that belong between them.

Invariant: a frame's samples do not depend on the window it is rendered in: the decoder gets as much
around the frames as its convolutions see (graph/decoder.py), and nothing in it is measured over the
window. So windows of any size join without a seam.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from engine.tts.kokoro.parts import Floats, Given, Parts
from engine.tts.kokoro.plan import Plan
from engine.tts.kokoro.source import EDGE, FINE_ROWS, FRAME

# Frames around a window that each stage sees: the coarse one 13 on the left and 14 on the right,
# its result 5, the noise of the middle stage 6, the middle stage 4.
_COARSE, _RESULT, _NOISE, _MIDDLE = 14, 5, 6, 4
_ROWS: Final = 20  # of the middle stage, a frame
_FINE_SEES: Final = 22  # such rows, for the last stage: 125 of its own, six to one of these
_FINE: Final = FINE_ROWS // _ROWS
_FADE: Final = 120  # samples at both sides of a silence, and at the end


def render(parts: Parts, given: Given, plan: Plan, first: int, last: int) -> Floats:
    """Samples [FRAME * (last - first)] of the frames from `first` to `last`."""
    total = len(plan.features)

    def around(frames: int) -> tuple[int, int]:
        return max(0, first - frames), min(total, last + frames)

    coarse, result, noise, middle = map(around, (_COARSE, _RESULT, _NOISE, _MIDDLE))
    begin = max(0, _ROWS * first - _FINE_SEES)
    end = min(_ROWS * total, _ROWS * last + _FINE_SEES)
    crops = [
        [2 * (each - coarse[0]) for each in result],
        [_ROWS * (each - result[0]) for each in middle],
        [_ROWS * (each - noise[0]) for each in middle],
        [each - _ROWS * middle[0] for each in (begin, end)],
        [_FINE * begin - FINE_ROWS * noise[0], _FINE * end - FINE_ROWS * noise[0] + 1],
    ]
    spectrum = parts.source.spectrum(plan.pitch, plan.turns, *noise)
    samples = parts.decode(
        {
            **given,
            "features": plan.features[None, slice(*coarse)],
            "curves": plan.curves[None, slice(*coarse)],
            "spectrum": spectrum[None],
            "crops": np.array(crops, np.int64),
        }
    )
    at = begin * FRAME // _ROWS + EDGE  # of the sentence, the first of the samples
    wanted = np.zeros(FRAME * (last - first), np.float32)
    low, high = max(at, FRAME * first), min(at + len(samples), FRAME * last)
    wanted[low - FRAME * first : high - FRAME * first] = samples[low - at : high - at]
    return wanted


def with_silences(
    plan: Plan, pcm: Floats, first: int, last: int
) -> tuple[Floats, npt.NDArray[np.int64]]:
    """The samples of the frames from `first` to `last`, with the plan's silences before the frames
    they belong to, and the sample at which each frame starts (before its silence) and the last one
    ends. Fades `pcm` in place.
    """
    places = FRAME * np.arange(last - first + 1)
    pieces, before = [], 0
    for frame, length in sorted(plan.silences.items()):
        at = FRAME * (frame - first)
        if first < frame <= last:
            faded_out(pcm[:at])
        if first <= frame < last:
            pcm[at : at + _FADE] *= np.linspace(0, 1, _FADE, dtype=np.float32)
            pieces += [pcm[before:at], np.zeros(FRAME * length, np.float32)]
            places[frame - first + 1 :] += FRAME * length
            before = at
    return np.concatenate([*pieces, pcm[before:]]), places


def faded_out(pcm: Floats) -> None:
    """Let the end of the samples die away, in place."""
    end = pcm[-_FADE:]
    end *= np.linspace(1, 0, len(end), dtype=np.float32)
