"""Duration tokens from the times of phones. A duration token says which phones an 80 ms frame
speaks.

Of all sequences of tokens that the alignment cursor can walk (VoXtream2, 3.1), walk() finds the one
that fits the sound best. Invariant: the walk begins before the first phone and ends exactly on the
last one.
"""

from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt

from engine.codec.mimi import FRAME_SAMPLES
from engine.training.voxtream import VOXTREAM
from engine.tts.voxtream.config import DURATION_TOKENS, DurationToken
from engine.tts.voxtream.voxtream1 import config as original

ABSENT: Final = 0.3  # cost of a phone in a frame where it does not sound; a wrong frame costs 1
SKIPPED: Final = 0.15  # cost of a phone that no frame speaks
Ints = npt.NDArray[np.int64]


def tokens_of(system: str) -> tuple[DurationToken, ...]:
    """Return the duration tokens of a system. VoXtream's are the first ones of VoXtream2's."""
    return original.TOKENS if system == VOXTREAM else DURATION_TOKENS


def spans(tokens: Iterable[int]) -> Ints:
    """Return the first and last phone of each frame [T, 2], given the frames' duration tokens."""
    frames, last = [], -1
    for token in tokens:
        step = DURATION_TOKENS[token]
        first = last + step.shift
        last = first + step.phones - 1
        frames.append((first, last))
    return np.asarray(frames, np.int64)


def walk(
    starts: npt.NDArray[np.int64], frames: int, tokens: tuple[DurationToken, ...]
) -> Ints | None:
    """Return the duration tokens of `frames` frames for phones that begin at `starts` (samples; the
    first one lasts from sample 0). None if there are too many phones for the frames.
    """
    edges = np.append(np.concatenate(([0], starts[1:])), frames * FRAME_SAMPLES).astype(np.float64)
    count = len(starts)
    best = np.full(count + 1, np.inf)  # by the last phone; place 0 = before the first
    best[0] = 0.0
    choices = np.zeros((frames, count + 1), np.int64)
    for frame in range(frames):
        begin, end = frame * FRAME_SAMPLES, (frame + 1) * FRAME_SAMPLES
        sounding = np.clip(np.minimum(edges[1:], end) - np.maximum(edges[:-1], begin), 0, None)
        sounding /= FRAME_SAMPLES  # [P] share of the frame
        costs = np.stack([_token_costs(best, sounding, token) for token in tokens])
        choices[frame] = costs.argmin(axis=0)
        best = costs.min(axis=0)
    if not np.isfinite(best[count]):
        return None
    numbers, place = np.zeros(frames, np.int64), count
    for frame in reversed(range(frames)):
        numbers[frame] = choices[frame, place]
        token = tokens[numbers[frame]]
        place = place - token.phones + 1 - token.shift
    return numbers


def _token_costs(
    best: npt.NDArray[np.float64], sounding: npt.NDArray[np.float64], token: DurationToken
) -> npt.NDArray[np.float64]:
    """Return the cost of ending a frame on each phone (index 0 = before the first one) with this
    token. `best`: the costs of the frame before; `sounding`: each phone's share of the frame.
    """
    costs = np.full(len(best), np.inf)
    first = np.arange(len(best) - token.phones)  # 0-based first phone of the frame
    before = first + 1 - token.shift  # place of the last phone of the frame before
    fits = before >= (0 if token.shift else 1)
    first, before = first[fits], before[fits]
    phone_costs = np.where(sounding > 0, 0.0, ABSENT) - sounding
    spoken = phone_costs[first] + (phone_costs[first + 1] if token.phones == 2 else 0)
    skipped = SKIPPED if token.shift == 2 else 0.0
    costs[first + token.phones] = best[before] + 1 + spoken + skipped
    return costs
