"""How much speech must be there while a voice makes frames that follow no others.

Such a frame takes a voice long, and the next ones may take longer than they last. Meanwhile what is
there runs low: by the time that passed less the speech that was made in it. After a move of the
slider that much of the old speech is left to sound. A first frame may come later than usual, for
the old speech sounds on until then (playback.py); behind it nothing does. At the beginning of an
utterance nothing sounds before its first frame; what the next ones need is waited for.
Invariant: belongs to the speaker's thread.
"""

import time
from collections import deque
from dataclasses import dataclass
from typing import Final

import numpy as np

from engine.runtime.turn.playback import KEPT_MS

# A device takes samples in blocks: a ring that holds less than one runs dry. Of what was made the
# resampler holds some back, too (soxr at 24 to 48 kHz 32 ms).
_BLOCK_MS, _BEHIND_MS = 30.0, 62.0
_REMEMBERED: Final = 12  # starts
_USUAL: Final = 0.75  # share of the first frames that come in time
_MARGIN: Final = 1.5  # times what frames behind the first one of an utterance needed
_MOST_KEPT_MS, _MOST_HELD_MS = 500.0, 150.0  # a hiccup of the machine must not count more


@dataclass
class _Start:
    """How low it ran (ms) until the first frame, and at most behind it (0 = no other came)."""

    first: float
    behind: float = 0.0


class Reserve:
    def __init__(self) -> None:
        self._moves: deque[_Start] = deque(maxlen=_REMEMBERED)
        self._utterances: deque[_Start] = deque(maxlen=_REMEMBERED)
        self._kind = self._utterances  # of the start that is measured
        self._since: float | None = None  # None = nothing is measured
        self._made_ms = 0.0
        self._frame_ms = 0.0  # made in the step before; its time ends when the next one begins

    @property
    def kept_ms(self) -> float:
        """What is left to sound when the rest is made again."""
        starts = self._moves or self._utterances
        firsts = [each.first for each in starts] or [0.0]
        usual_ms = float(np.quantile(firsts, _USUAL, method="lower")) + _BLOCK_MS
        return min(max(KEPT_MS, usual_ms, *(each.behind for each in starts)), _MOST_KEPT_MS)

    @property
    def held_ms(self) -> float:
        """For how long the first frame of an utterance is held back."""
        needs = [each.behind - each.first for each in self._utterances]
        return min(_MARGIN * max(0.0, *needs, 0.0), _MOST_HELD_MS)

    def begin(self, *, moved: bool = False) -> None:
        """A frame is asked for that follows no other; `moved`: because the slider did."""
        self._kind = self._moves if moved else self._utterances
        self._since = time.monotonic()
        self._made_ms = self._frame_ms = 0.0

    def come(self, frame_ms: float) -> None:
        """A step made a frame."""
        self._frame_ms = frame_ms

    def note(self) -> None:
        """Called before each step."""
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
        """It waits: for words, or for the person."""
        self._since = None
