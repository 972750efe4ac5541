"""The voice: words come in, samples go out, never further ahead of the ear than the lead.

Invariant: only this thread touches the synthesiser, its sessions and the loudspeaker's ring. A
reply is cancelled by its turn number; hush() makes it inaudible at once from any thread, without
waiting for a step that is being computed.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import assert_never

from engine.audio.base import Loudspeaker, Played
from engine.audio.silent import SilentLoudspeaker
from engine.errors import DeviceError, EngineError, SynthesisError
from engine.messages import Event, Part, Ready
from engine.runtime.happenings import (
    AudioHeard,
    AudioQueued,
    Delivery,
    Happening,
    PartFailed,
    RateHeard,
    SpeechFinished,
    WordBegan,
)
from engine.runtime.loaded_voice import LoadedVoice
from engine.runtime.parts import Parts
from engine.runtime.playback import SILENCE_DB, Playback
from engine.runtime.relapse import Relapse
from engine.runtime.worker import Worker
from engine.settings import SpeechSettings
from engine.text.word import Word
from engine.tts.base import AudioFrame, Finished, Starved, TtsSession
from engine.tts.pacing import PLAIN, paced

DUCKED = 0.2  # of the volume: -14 dB, a person is heard over it and still hears it
LONGEST_PAUSE_S = 4.0  # somebody who speaks on, or is understood, ends a pause much sooner
TICK_S = 0.01  # while speaking: words are shown and the ring is fed this often


@dataclass(frozen=True)
class LoadSynthesiser:
    settings: SpeechSettings


@dataclass(frozen=True)
class SelectVoice:
    name: str  # empty = the synthesiser's default


@dataclass(frozen=True)
class UseLoudspeaker:
    name: str  # empty = the system's default


@dataclass(frozen=True)
class SayWords:
    turn: int
    words: tuple[Word, ...]


@dataclass(frozen=True)
class EndWords:
    turn: int


@dataclass(frozen=True)
class StopSaying:
    """Drop everything up to and including this turn."""

    turn: int


@dataclass(frozen=True)
class ResumeSaying:
    """Go on with what was paused in this turn."""

    turn: int


Order = (
    LoadSynthesiser | SelectVoice | UseLoudspeaker | SayWords | EndWords | StopSaying | ResumeSaying
)


@dataclass
class _Utterance:
    """What belongs to the reply being spoken."""

    turn: int
    session: TtsSession
    playback: Playback
    words: list[Word] = field(default_factory=list)
    pace: float = PLAIN  # of the word of the last frame
    queued: bool = False
    audible: bool = False
    starved: bool = False
    paused_at: float | None = None  # None = not paused, though it may be hushed


class Speaker:
    """Owns the synthesiser and the loudspeaker."""

    def __init__(
        self, parts: Parts, tell: Callable[[Happening | Event], None], *, lead_ms: int
    ) -> None:
        self._parts = parts
        self._tell = tell
        self.lead_ms = lead_ms  # how far to run ahead of the ear
        self._voice = LoadedVoice(parts, tell)
        self._loudspeaker: Loudspeaker = SilentLoudspeaker()
        self._relapse = Relapse()
        self._utterance: _Utterance | None = None  # None = nothing is being said
        self._turn: int | None = None  # the turn a fault would belong to; None = none
        self._stopped_turn = -1  # words of this turn and older are dropped
        self._volume = 1.0
        self._ducked = False
        self.rate: float | None = None  # SPS; read before every step
        self.level_db = SILENCE_DB  # of what is being heard
        self._worker: Worker[Order] = Worker(
            "speaker", handle=self._handle, tick=self._tick, report=self._report
        )

    # -------------------------------------------------------------- from any thread

    def start(self) -> None:
        self._worker.start()

    def post(self, order: Order) -> None:
        self._worker.post(order)

    def hush(self, turn: int) -> Delivery:
        """Make the reply of `turn` inaudible now and drop it; returns what was heard of it."""
        self.post(StopSaying(turn))
        utterance = self._utterance
        if utterance is None or utterance.turn != turn:
            return Delivery()
        self._hush(utterance)
        return utterance.playback.delivery()

    def pause(self, turn: int) -> None:
        """Make the reply of `turn` inaudible now; what was not heard waits for ResumeSaying."""
        utterance = self._utterance
        if utterance is not None and utterance.turn == turn:
            self._hush(utterance)
            utterance.paused_at = time.monotonic()

    def adopt(self, clip: Path, name: str) -> None:
        """See LoadedVoice: needs no turn on the speaker's own thread."""
        self._voice.adopt(clip, name)

    @property
    def volume(self) -> float:
        return self._volume

    @volume.setter
    def volume(self, gain: float) -> None:
        self._volume = gain
        self._loudspeaker.gain = self._gain

    def duck(self, ducked: bool) -> None:
        """Make what is said quieter, or as loud as before; it goes on meanwhile."""
        self._ducked = ducked
        if self._utterance is not None:
            self._loudspeaker.gain = self._gain

    def take_played(self) -> Played:
        """See Loudspeaker: what the microphone may hear."""
        return self._loudspeaker.take_played()

    def _hush(self, utterance: _Utterance) -> None:
        utterance.playback.hush()
        self._loudspeaker.gain = 0.0

    @property
    def _gain(self) -> float:
        if self._utterance is not None and self._utterance.playback.hushed:
            return 0.0
        return self._volume * (DUCKED if self._ducked else 1.0)

    def stop(self, timeout_s: float) -> bool:
        """End the thread, then release the device and the model."""
        self._loudspeaker.gain = 0.0
        ended = self._worker.stop(timeout_s)
        if ended:
            self._drop()
            self._loudspeaker.close()
            self._voice.close()
        return ended

    # ------------------------------------------------------------------ orders

    def _handle(self, order: Order) -> None:  # noqa: C901 - one case per kind
        match order:
            case LoadSynthesiser(settings):
                self._drop()
                self._voice.load(settings)
            case SelectVoice(name):
                # One that is being spoken would be torn by what takes longer than the lead.
                self._voice.select(name, warm=self._utterance is None)
            case UseLoudspeaker(name):
                self._use_loudspeaker(name)
            case SayWords(turn, words):
                self._say(turn, words)
            case EndWords(turn):
                self._end_words(turn)
            case StopSaying(turn):
                self._stopped_turn = max(self._stopped_turn, turn)
                if self._utterance and self._utterance.turn <= turn:
                    self._drop()
            case ResumeSaying(turn):
                if self._utterance and self._utterance.turn == turn > self._stopped_turn:
                    self._resume(self._utterance)
            case _:
                assert_never(order)

    def _use_loudspeaker(self, name: str) -> None:
        try:
            loudspeaker = self._parts.loudspeaker(name)
        except DeviceError as error:
            self._tell(PartFailed(Part.LOUDSPEAKER, error))
            loudspeaker = self._fallback(name)
        self._replace_loudspeaker(loudspeaker)

    def _fallback(self, name: str) -> Loudspeaker:
        """The system's default instead of `name`; a silent one when there is none at all."""
        if not name:
            return SilentLoudspeaker()
        try:
            return self._parts.loudspeaker("")
        except DeviceError:
            return SilentLoudspeaker()

    def _look_again(self) -> None:
        """Before a reply that nobody would hear, see whether the loudspeaker is back."""
        if isinstance(self._loudspeaker, SilentLoudspeaker):
            loudspeaker = self._fallback("the silent one")
            if not isinstance(loudspeaker, SilentLoudspeaker):
                self._replace_loudspeaker(loudspeaker)

    def _replace_loudspeaker(self, loudspeaker: Loudspeaker) -> None:
        loudspeaker.gain = self._gain
        if self._utterance:
            self._utterance.playback.move_to(loudspeaker)
        with suppress(DeviceError):  # one that is gone may not even close
            self._loudspeaker.close()
        self._loudspeaker = loudspeaker
        if not isinstance(loudspeaker, SilentLoudspeaker):
            self._tell(Ready(Part.LOUDSPEAKER, loudspeaker.name))

    def _say(self, turn: int, words: tuple[Word, ...]) -> None:
        if turn <= self._stopped_turn:
            return
        utterance = self._open(turn)
        for word in words:
            utterance.words.append(word)
            utterance.session.push_word(word.text, word.pace)
        utterance.starved = False

    def _end_words(self, turn: int) -> None:
        if turn <= self._stopped_turn:
            return
        utterance = self._open(turn)
        utterance.session.end_input()
        utterance.starved = False

    def _open(self, turn: int) -> _Utterance:
        self._turn = turn
        if self._utterance and self._utterance.turn == turn:
            return self._utterance
        self._drop()
        self._look_again()
        session = self._voice.open()
        self._loudspeaker.gain = self._gain
        playback = Playback(self._loudspeaker, self._voice.sample_rate)
        self._utterance = _Utterance(turn, session, playback)
        return self._utterance

    def _drop(self) -> None:
        if self._utterance:
            self._utterance.session.close()
            if not self._utterance.playback.over:
                self._utterance.playback.cut()
            self._utterance = None
            self._turn = None
            self.level_db = SILENCE_DB

    # ------------------------------------------------------------------- the loop

    def _tick(self) -> float | None:
        if self._utterance is None:
            return None
        try:
            return self._speak(self._utterance)
        except DeviceError as error:
            self._lose_loudspeaker(self._utterance, error)
            return TICK_S

    def _lose_loudspeaker(self, utterance: _Utterance, error: DeviceError) -> None:
        """Go on through another; where there is none, what was begun aloud ends as it was heard."""
        relapsed = self._relapse.again(time.monotonic())
        instead = self._fallback("" if relapsed else "the one that went away")
        over = isinstance(instead, SilentLoudspeaker) and utterance.playback.audible
        if over:
            utterance.playback.hush()
        self._tell(PartFailed(Part.LOUDSPEAKER, error, utterance.turn if over else None))
        self._replace_loudspeaker(instead)

    def _speak(self, utterance: _Utterance) -> float:
        playback = utterance.playback
        if playback.hushed:
            return self._wait(utterance)
        playback.pump()
        self._show(utterance)
        if playback.over:
            self._finish(utterance)
            return TICK_S
        if utterance.starved or playback.lead_ms + playback.frame_ms / 2 >= self.lead_ms:
            return TICK_S
        self._step(utterance)
        return 0.0

    def _wait(self, utterance: _Utterance) -> float:
        """While hushed: for the end of the reply, or of the pause."""
        self.level_db = SILENCE_DB
        utterance.playback.starved()  # the ring runs empty, which is nobody's fault
        since = utterance.paused_at
        if since is not None and time.monotonic() - since > LONGEST_PAUSE_S:
            self._resume(utterance)
        return TICK_S

    def _resume(self, utterance: _Utterance) -> None:
        utterance.paused_at = None
        utterance.playback.resume()
        self._loudspeaker.gain = self._gain

    def _step(self, utterance: _Utterance) -> None:
        rate = utterance.session.rate = self.rate
        match utterance.session.step():
            case AudioFrame() as frame:
                words = tuple(utterance.words[onset.word] for onset in frame.onsets)
                utterance.pace = words[-1].pace if words else utterance.pace
                target = None if rate is None else paced(rate, utterance.pace)
                utterance.playback.feeding()
                utterance.playback.add(frame, words, target)
                if not utterance.queued:
                    utterance.queued = True
                    self._tell(AudioQueued(utterance.turn, time.monotonic()))
            case Starved():
                utterance.starved = True
                utterance.playback.starved()
            case Finished():
                utterance.starved = True  # no step follows; the rest is playing
                utterance.playback.complete()

    def _show(self, utterance: _Utterance) -> None:
        """Tell what has become audible since the last look."""
        playback = utterance.playback
        if not utterance.audible and playback.audible:
            utterance.audible = True
            self._tell(AudioHeard(utterance.turn, time.monotonic()))
        audible = not isinstance(self._loudspeaker, SilentLoudspeaker)
        for begun in playback.begun_words():
            began_at = time.monotonic() - begun.ago_s
            self._tell(WordBegan(utterance.turn, begun.word, began_at, audible))
        for cue in playback.passed_frames():
            self.level_db = cue.level_db
            if cue.measured is not None:
                self._tell(RateHeard(utterance.turn, cue.target, cue.measured))

    def _finish(self, utterance: _Utterance) -> None:
        finished = SpeechFinished(utterance.turn, utterance.playback.delivery())
        self._stopped_turn = max(self._stopped_turn, utterance.turn)
        self._drop()
        self._tell(finished)
        self._voice.warm()  # for a voice that was chosen meanwhile

    def _report(self, error: Exception) -> None:
        turn, self._turn = self._turn, None
        self._drop()
        if turn is not None:
            self._stopped_turn = max(self._stopped_turn, turn)
        if not isinstance(error, EngineError):
            error = SynthesisError(
                f"The voice failed: {error}", hint="Ask again; it was restarted."
            )
        self._tell(PartFailed(Part.SYNTHESISER, error, turn))
