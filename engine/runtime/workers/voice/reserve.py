"""The reserve of speech for frames that do not follow others.

Such a frame takes long to make, and the next ones may take longer than they last. Meanwhile the
speech in the ring runs low: by the elapsed time minus the speech made in it. After a move of the
slider, that much of the old speech is kept. A first frame may be late, as the old speech sounds
until then (playback.py); nothing follows the old speech. At the beginning of an utterance nothing
sounds before its first frame, which is delayed by the need of the next ones. Invariant: belongs to
the speaker's thread.
"""

import time
from collections import deque
from dataclasses import dataclass
from typing import Final

import numpy as np

from engine.runtime.turn.playback import RETIME_MARGIN_MS

# A device takes blocks of samples: a ring with less than one runs dry. The resampler holds some
# samples back, too (soxr at 24 to 48 kHz 32 ms).
_BLOCK_MS, _BEHIND_MS = 30.0, 62.0
_REMEMBERED: Final = 12  # starts
_USUAL: Final = 0.75  # share of the first frames that come in time
_MARGIN: Final = 1.5  # times the need of frames behind an utterance's first
_MOST_KEPT_MS, _MOST_HELD_MS = 500.0, 150.0  # limits the effect of a hiccup of the machine


@dataclass
class _Start:
    """How low the speech ran (ms) until the first frame, and at most after it (0 = no other
    frame).
    """

    first: float
    behind: float = 0.0


class Reserve:
    def __init__(self) -> None:
        self._moves: deque[_Start] = deque(maxlen=_REMEMBERED)
        self._utterances: deque[_Start] = deque(maxlen=_REMEMBERED)
        self._kind = self._utterances  # of the start that is measured
        self._since: float | None = None  # None = no measurement
        self._made_ms = 0.0
        self._frame_ms = 0.0  # of the last step's frame; its time ends when the next step begins

    @property
    def retime_margin_ms(self) -> float:
        """Length of old speech to keep when the rest is made again."""
        starts = self._moves or self._utterances
        firsts = [each.first for each in starts] or [0.0]
        usual_ms = float(np.quantile(firsts, _USUAL, method="lower")) + _BLOCK_MS
        return min(
            max(RETIME_MARGIN_MS, usual_ms, *(each.behind for each in starts)), _MOST_KEPT_MS
        )

    @property
    def start_delay_ms(self) -> float:
        """Delay of the first frame of an utterance."""
        needs = [each.behind - each.first for each in self._utterances]
        return min(_MARGIN * max(0.0, *needs, 0.0), _MOST_HELD_MS)

    def begin(self, *, moved: bool = False) -> None:
        """The next frame follows no other; `moved`: because of the slider."""
        self._kind = self._moves if moved else self._utterances
        self._since = time.monotonic()
        self._made_ms = self._frame_ms = 0.0

    def frame_made(self, frame_ms: float) -> None:
        """A step made a frame."""
        self._frame_ms = frame_ms

    def before_step(self) -> None:
        """Measure; called before each step."""
        if self._since is not None and self._frame_ms:
            low_ms = (time.monotonic() - self._since) * 1000 - self._made_ms
            if self._made_ms:
                behind_ms = low_ms + _BEHIND_MS
                self._kind[-1].behind = max(self._kind[-1].behind, behind_ms)
            else:
                self._kind.append(_Start(low_ms))
            self._made_ms += self._frame_ms
        self._frame_ms = 0.0

    def end(self) -> None:
        """Stop measuring while the speaker waits for words or for the user."""
        self._since = None
