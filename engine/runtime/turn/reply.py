"""A reply, from the words it answers to its last sample: one handle, one end; and its loudness.

Conductor, language model and speaker share the same Reply. The first thread to end it does so for
all, for any reason (spoken completely, cut, a failed part, a lost device, a new conversation,
quitting), and informs the conductor unless it is the conductor. Other threads then drop their work,
because each checks `ending` between two tokens and frames.

Invariant: `ending` is set once, and from then on nothing more of the reply is heard or counted.
Three parts decide the loudness of speech: the user's volume, the ears, which duck it, and the
conductor, which hushes it. They share one lock and take effect at once, without waiting for the
current step. A ringing timer has its own volume, because it must be audible when speech is muted.
"""

import time
from threading import Lock

from engine.audio.base import Loudspeaker, SilentLoudspeaker
from engine.audio.pcm import SILENCE_DB
from engine.languages import ENGLISH
from engine.llm.base import Message
from engine.messages.words import Ending
from engine.runtime.turn.facts import Delivery
from engine.runtime.turn.playback import Playback

DUCKED = 0.2  # of the volume: -14 dB, so that the user is heard over it and still hears it


class LiveControls:
    """The loudspeaker in use, its level, and the values read before every step."""

    def __init__(self, *, lead_ms: int, rate: float | None = None) -> None:
        self.rate = rate  # SPS, None = the voice's own pace; a change is audible in the next frame
        self.lead_ms = lead_ms  # how far synthesis may run ahead of playback
        self.gives_way = True  # to the screen reader
        self.level_db = SILENCE_DB  # of the audible speech; shown beside the microphone's
        self._loudspeaker: Loudspeaker = SilentLoudspeaker()
        self._volume = 1.0
        self._ducked = False
        self._hushed = False
        self._rings = False
        self.ring_waits = False  # while the user speaks, or waits for the answer
        self._lock = Lock()

    @property
    def loudspeaker(self) -> Loudspeaker:
        return self._loudspeaker

    def connect(self, loudspeaker: Loudspeaker) -> None:
        """Use another loudspeaker with the same gain (speaker's thread)."""
        with self._lock:
            self._loudspeaker = loudspeaker
            self._apply()

    @property
    def volume(self) -> float:
        """0..1, as set by the user."""
        return self._volume

    @volume.setter
    def volume(self, gain: float) -> None:
        with self._lock:
            self._volume = gain
            self._apply()

    def duck(self, ducked: bool) -> None:
        """Make speech quieter, or restore it; it continues meanwhile."""
        with self._lock:
            self._ducked = ducked
            self._apply()

    def hush(self, hushed: bool) -> None:
        """Make speech inaudible, or restore it."""
        with self._lock:
            self._hushed = hushed
            self._apply()

    @property
    def rings(self) -> bool:
        """Whether the loudspeaker plays the ring, not speech (speaker's thread)."""
        return self._rings

    @rings.setter
    def rings(self, on: bool) -> None:
        with self._lock:
            self._rings = on
            self._apply()

    def _apply(self) -> None:
        loud = 0.0 if self._hushed else self._volume
        self._loudspeaker.gain = (1.0 if self._rings else loud) * (DUCKED if self._ducked else 1.0)


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
