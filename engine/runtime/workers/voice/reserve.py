"""How much must be in the loudspeaker's ring while a voice makes frames that follow no others.

Such a frame takes a voice long, and the next ones may take longer than they last. Meanwhile the
ring runs low: by the time that passed less the speech that was made in it. At the beginning of an
utterance nothing sounds before its first frame; what the next ones need is waited for. Invariant:
belongs to the speaker's thread.
"""

import time

from engine.runtime.turn.playback import KEPT_MS

_BLOCK_MS = 30.0  # a device takes samples in blocks: a ring that holds less than one runs dry
_MARGIN = 1.5  # times the need
_MOST_KEPT_MS, _MOST_HELD_MS = 500.0, 150.0  # a hiccup of the machine must not count more
_FORGETTING = 0.97  # of the largest need, with each start: some rates need more than others


class Reserve:
    def __init__(self) -> None:
        self._largest_ms = self._largest_behind_ms = 0.0
        self._since: float | None = None  # None = nothing is measured
        self._first_ms = 0.0  # until the first frame
        self._need_ms = 0.0  # with the first frame
        self._behind_ms = 0.0  # of the frames behind it
        self._made_ms = 0.0
        self._frame_ms = 0.0  # made in the step before; its time ends when the next one begins

    @property
    def kept_ms(self) -> float:
        """What stays in the ring when the rest is made again."""
        need_ms = max(self._need_ms, self._largest_ms)
        return min(max(KEPT_MS, _MARGIN * need_ms), _MOST_KEPT_MS)

    @property
    def held_ms(self) -> float:
        """For how long the first frame of an utterance is held back."""
        return min(_MARGIN * self._largest_behind_ms, _MOST_HELD_MS)

    def begin(self) -> None:
        """A frame is asked for that follows no other."""
        self.end()
        self._since = time.monotonic()

    def come(self, frame_ms: float) -> None:
        """A step made a frame."""
        self._frame_ms = frame_ms

    def note(self) -> None:
        """Called before each step."""
        if self._since is not None and self._frame_ms:
            low_ms = (time.monotonic() - self._since) * 1000 - self._made_ms + _BLOCK_MS
            if self._made_ms:
                self._behind_ms = max(self._behind_ms, low_ms - self._first_ms)
            else:
                self._first_ms = low_ms - _BLOCK_MS
            self._need_ms = max(self._need_ms, low_ms)
            self._made_ms += self._frame_ms
        self._frame_ms = 0.0

    def end(self) -> None:
        """It waits: for words, or for the person."""
        if self._made_ms:
            self._largest_ms = max(self._need_ms, _FORGETTING * self._largest_ms)
            self._largest_behind_ms = max(self._behind_ms, _FORGETTING * self._largest_behind_ms)
        self._since = None
        self._first_ms = self._need_ms = self._behind_ms = self._made_ms = 0.0
