"""A reply, from the words it answers to its last sample: one handle, and one end.

Conductor, language model and speaker share the same Reply. The first thread to end it does so for
all, for any reason (spoken completely, cut, a failed part, a lost device, a new conversation,
quitting), and informs the conductor unless it is the conductor. Other threads then drop their work,
because each checks `ending` between two tokens and frames.

Invariant: `ending` is set once, and from then on nothing more of the reply is heard or counted.
"""

import time
from threading import Lock

from engine.languages import ENGLISH
from engine.llm.base import Message
from engine.messages.words import Ending
from engine.runtime.turn.facts import Delivery
from engine.runtime.turn.live_controls import LiveControls
from engine.runtime.turn.playback import Playback


class Reply:
    """The reply of one turn, to the last message of `asked`, or the `text` that is read out; with
    both, the text and then the model's continuation. Unless `aloud` it is only prepared.
    `paced`: its words have paces of their own.
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
        # The reply that it continues, from this character on; `text` is known of it already.
        self.rest_of: tuple[Reply, int] | None = None
        self.language = asked[-1].language if asked else ENGLISH  # that it should have
        self.aloud = aloud  # set by the conductor, read by the language model
        self.awaits_words = True  # the voice has spoken all its words and waits for more
        self.written = False  # its text is complete
        self.broke = False  # the language model failed; its words so far are spoken
        self.ending: Ending | None = None  # None = it goes on
        self.moved_at = time.monotonic()  # time of its last token or frame
        self._controls = controls
        self._playback: Playback | None = None  # None = its speech has not begun
        self._paused_at: float | None = None  # None = not paused, though it may have ended
        self._lock = Lock()

    def move(self) -> None:
        """Note that the work goes on."""
        self.moved_at = time.monotonic()

    def begin(self, playback: Playback) -> None:
        """Its speech begins (speaker's thread)."""
        with self._lock:
            self._playback = playback
            if self.ending is None and self._paused_at is None:
                self._controls.hush(False)
            else:
                playback.hush()

    def end(self, ending: Ending) -> bool:
        """End it; inaudible at once. False if it had already ended; nothing changes then."""
        with self._lock:
            if self.ending is not None:
                return False
            self.ending = ending
            if self._playback is not None:
                self._playback.hush()
                self._controls.hush(True)
            return True

    def retract(self) -> None:
        """Make it inaudible at once; nothing of it counts as heard, and it may begin again."""
        with self._lock:
            if self.ending is None and self._playback is not None:
                self._playback.hush()
                self._playback = None
                self._controls.hush(True)

    def pause(self) -> None:
        """Make it inaudible at once; unheard samples wait for resume()."""
        with self._lock:
            if self.ending is None and self._playback is not None:
                self._playback.hush()
                self._controls.hush(True)
                self._paused_at = time.monotonic()

    def resume(self) -> None:
        """Continue from the first unheard sample (speaker's thread)."""
        with self._lock:
            if self.ending is None and self._playback is not None and self._paused_at is not None:
                self._paused_at = None
                self._playback.resume()
                self._controls.hush(False)

    def give_way(self, on: bool) -> None:
        """Wait while the ring or the screen reader is audible, or continue from the first unheard
        sample (speaker's thread).
        """
        with self._lock:
            if self._playback is not None and self.ending is None and self._paused_at is None:
                if on:
                    self._playback.hush()
                else:
                    self._playback.resume()

    @property
    def paused_s(self) -> float | None:
        """Duration of the current pause; None without one."""
        since = self._paused_at
        return None if since is None else time.monotonic() - since

    @property
    def delivery(self) -> Delivery:
        """The part that was heard so far."""
        playback = self._playback
        return Delivery() if playback is None else playback.delivery()
