"""A reply, from the words it answers to its last sample: one handle, and one end.

Conductor, language model and speaker hold the same Reply. Whoever is first to end it has ended it,
whatever happened (spoken to its end, cut, a part that broke, a device that went away, a new
conversation, quitting), and tells the conductor unless it is the conductor; what another thread
still does for it is dropped there, because each looks at `ending` between two tokens and frames.

Invariant: `ending` is set once, and from then on nothing more of the reply is heard or counted.
"""

import time
from threading import Lock

from engine.llm.base import Message
from engine.messages.words import Ending
from engine.runtime.turn.facts import Delivery
from engine.runtime.turn.live_controls import LiveControls
from engine.runtime.turn.playback import Playback


class Reply:
    """The reply of one turn, to the last message of `asked`, or the `text` that is read out. Unless
    `aloud` it is prepared and nobody hears of it yet. `paced`: its words have paces of their own.
    """

    def __init__(
        self,
        turn: int,
        controls: LiveControls,
        *,
        asked: tuple[Message, ...] = (),
        text: str | None = None,
        paced: bool = True,
        aloud: bool = False,
    ) -> None:
        self.turn = turn
        self.asked = asked
        self.text = text  # None = the language model writes it
        self.paced = paced
        self.aloud = aloud  # set by the conductor, read by the language model
        self.awaits_words = True  # the voice has said all it was given, and waits for more
        self.broke = False  # what was written is spoken, but it should have been more
        self.ending: Ending | None = None  # None = it goes on
        self.moved_at = time.monotonic()  # when a token or a frame was last made for it
        self._controls = controls
        self._playback: Playback | None = None  # None = nothing of it has come to be spoken
        self._paused_at: float | None = None  # None = not paused, though it may be at its end
        self._lock = Lock()

    def move(self) -> None:
        """Note that the work goes on."""
        self.moved_at = time.monotonic()

    def begin(self, playback: Playback) -> None:
        """It comes to be spoken (speaker's thread)."""
        with self._lock:
            self._playback = playback
            if self.ending is None and self._paused_at is None:
                self._controls.hush(False)
            else:
                playback.hush()

    def end(self, ending: Ending) -> bool:
        """End it; inaudible at once. False when it had ended before, which changes nothing."""
        with self._lock:
            if self.ending is not None:
                return False
            self.ending = ending
            if self._playback is not None:
                self._playback.hush()
                self._controls.hush(True)
            return True

    def retract(self) -> None:
        """Inaudible at once, and nothing of it was heard; it may begin again."""
        with self._lock:
            if self.ending is None and self._playback is not None:
                self._playback.hush()
                self._playback = None
                self._controls.hush(True)

    def pause(self) -> None:
        """Inaudible at once; what was not heard waits for resume()."""
        with self._lock:
            if self.ending is None and self._playback is not None:
                self._playback.hush()
                self._controls.hush(True)
                self._paused_at = time.monotonic()

    def resume(self) -> None:
        """Go on from the first sample that was not heard (speaker's thread)."""
        with self._lock:
            if self.ending is None and self._playback is not None and self._paused_at is not None:
                self._paused_at = None
                self._playback.resume()
                self._controls.hush(False)

    def give_way(self, on: bool) -> None:
        """Wait while the ring has the loudspeaker, or go on from the first sample that was not
        heard (speaker's thread).
        """
        with self._lock:
            if self._playback is not None and self.ending is None and self._paused_at is None:
                if on:
                    self._playback.hush()
                else:
                    self._playback.resume()

    @property
    def paused_s(self) -> float | None:
        """How long it has been paused; None when it is not."""
        since = self._paused_at
        return None if since is None else time.monotonic() - since

    @property
    def delivery(self) -> Delivery:
        """What of it was heard so far."""
        playback = self._playback
        return Delivery() if playback is None else playback.delivery()
