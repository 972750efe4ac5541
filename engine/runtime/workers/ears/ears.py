"""The ears: turn microphone samples into 16 kHz audio, voice activity and utterances.

The turn rules decide whether an utterance begins, or continues an earlier one. Its end is detected
here, so the recogniser transcribes it while the rules are informed. Positions are those of the
microphone's input.
"""

import math
import time
from contextlib import suppress
from dataclasses import replace
from typing import assert_never

from engine.asr.base import SAMPLE_RATE
from engine.audio import vad
from engine.audio.base import Microphone, Pcm
from engine.audio.echo.canceller import Cleaning
from engine.audio.pcm import level_db
from engine.errors import DeviceError, EngineError
from engine.messages.events import Failed, Levels, Notice, Ready
from engine.messages.words import Part
from engine.runtime.factories import Factories
from engine.runtime.turn import orders
from engine.runtime.turn.facts import EchoCancelled, InterimTranscript, SpeechGoesOn
from engine.runtime.turn.reply import LiveControls
from engine.runtime.turn.waiting import Patience
from engine.runtime.workers.ears.loudness import FAINT, Loudness
from engine.runtime.workers.ears.microphone_input import MicrophoneInput
from engine.runtime.workers.ears.speech_watch import SpeechWatch
from engine.runtime.workers.ears.transcriber import HearAudio, Transcriber
from engine.runtime.workers.ears.wake_gate import WakeGate
from engine.runtime.workers.recorder import Tap
from engine.runtime.workers.voice.loudspeakers import RELAPSE_S
from engine.runtime.workers.worker import Actor, Tell
from engine.settings import RecogniserSettings, WakeSettings
from engine.translatable import Translatable

ECHO_TAIL_S = 0.3  # the room and the device still sound after the last sample of a reply
READ_S = 0.02  # interval between reads of the microphone while the user speaks
DURING_REPLY_READ_S = 0.01  # while the assistant speaks: it must fall silent at once
IDLE_READ_S = 0.1  # in silence, for less processor time; the preroll hides the delay
HOLD_S = 0.25  # between two syllables, and until a voice detector has enough samples
LEVEL_S = 0.1  # interval of level events: each costs the window as much as a frame
KEY_PREROLL_S = 0.2  # people start to speak a little before the talk key is down
VOICE_PREROLL_S = 0.3  # soft beginnings before voice is noticed, which is later under a reply
MUTED = "muted"  # the microphone's name in the status while muted
TOO_SOON = Translatable("You started before I was listening. Please say that again.")
NO_CANCELLER = Translatable(
    "Without echo cancellation I do not listen while I speak. Install the package "
    "'livekit', or wear a headset and say so in the settings."
)

EarJob = orders.EarOrder | Tap | InterimTranscript


class Ears(Actor[EarJob]):
    """Owns the microphone and the voice-activity detector, and has a transcriber."""

    def __init__(self, factories: Factories, tell: Tell, controls: LiveControls) -> None:
        super().__init__("listener", tell)
        self._factories = factories
        self._transcriber = Transcriber(factories, tell, self.post)
        self._recognise = self._transcriber.post
        self._input = MicrophoneInput(factories.canceller)
        self._lost_at = -math.inf  # the microphone, last
        self._controls = controls
        self._ducked_until: int | None = None  # sample; None = the reply has its normal level
        self._muted = False
        self._wake_gate = WakeGate(factories.spotter, tell)
        self._watch = SpeechWatch(Patience.of(RecogniserSettings().patience))
        self._loudness = Loudness()
        self._utterance: int | None = None  # turn being sent to the recogniser; None = none
        self._closed: int | None = None  # turn of the utterance before; None = there was none
        self._closed_at = 0  # sample up to which it was sent
        self._attending = orders.Attend(hands_free=False, ignore_microphone=False)
        self._ignored_until = 0
        self._next_level = 0

    def start(self) -> None:
        self._transcriber.start()
        super().start()

    def stop(self, timeout_s: float) -> bool:
        """See Actor; each of the two threads gets this much time."""
        ended = super().stop(timeout_s)
        return self._transcriber.stop(timeout_s) and ended

    def _release(self) -> None:
        self._input.close()

    # ------------------------------------------------------------------- orders

    def _handle(self, order: EarJob) -> None:
        match order:
            case orders.UseDevice(name, closed):
                self._muted = closed
                if closed:
                    self._mute()
                else:
                    self._use(name)
            case Tap(sink):
                self._input.sink = sink
            case Cleaning():
                self._clean(order)
            case orders.Attend():
                self._attend(order)
            case RecogniserSettings(patience=patience):
                self._watch.patience = Patience.of(patience)
                self._recognise(order)
            case WakeSettings():
                self._wake_gate.use(order, self._position)
            case InterimTranscript():
                if self._watch.judge(order):
                    self._tell(order)
            case _:
                self._direct(order)

    def _direct(self, order: orders.UtteranceOrder) -> None:
        match order:
            case orders.OpenUtterance():
                self._open(order)
            case orders.JoinUtterance():
                self._join(order)
            case orders.HoldUtterance():
                self._hold(order)
            case orders.CloseUtterance() | orders.DropUtterance():
                self._close(order)
            case _:
                assert_never(order)

    def _mute(self) -> None:
        self._forget()
        self._input.close()
        self._input.forget()
        self._tell(Ready(Part.MICROPHONE, MUTED))

    def _use(self, name: str, *, lost: str | None = None) -> None:
        """Use the named microphone, else the default one. Each failure is reported, and the last
        ends a running utterance. `lost`: the microphone that was just lost.
        """
        self._input.close()
        for candidate in dict.fromkeys((name, "")):
            try:
                microphone = self._factories.microphone(candidate)
            except DeviceError as error:
                turn = None if candidate else self._give_up()
                self._tell(Failed.of(error, Part.MICROPHONE, turn))
            else:
                instead = candidate != name or lost not in (None, microphone.name)
                self._adopt(microphone, instead=instead)
                return

    def _give_up(self) -> int | None:
        """No microphone works; return the turn that ends by that."""
        turn, self._utterance = self._utterance, None
        if turn is not None:
            self._recognise(orders.DropUtterance(turn))
        self._watch.follow(None)
        self._watch.reset()
        return turn

    def _adopt(self, microphone: Microphone, *, instead: bool = False) -> None:
        self._forget()
        try:
            self._watch.load()
        except EngineError as error:  # without it, the talk key and the keyboard still work
            self._tell(Failed.of(error))
        self._watch.begin_anew(midway=self._input.use(microphone))
        self._next_level = self._ignored_until = 0
        self._wake_gate.begin_anew()
        self._tell(Ready(Part.MICROPHONE, microphone.name, instead=instead))

    def _forget(self) -> None:
        """Restart the detection. Report running speech as ended; nothing tracks it any more."""
        if self._watch.speaking and not self._watch.joined_midway:
            self._tell(vad.SpeechEnded(self._position, time.monotonic()))
        self._watch.reset()

    def _attend(self, order: orders.Attend) -> None:
        if self._attending.ignore_microphone and not order.ignore_microphone:
            self._ignored_until = self._position + int(ECHO_TAIL_S * SAMPLE_RATE)
        before, self._attending = self._attending, order
        if (order.hands_free, order.ignore_microphone) != (
            before.hands_free,
            before.ignore_microphone,
        ):
            self._forget()
        self._watch.attend(during_reply=order.during_reply)

    def _clean(self, cleaning: Cleaning) -> None:
        if self._input.clean(cleaning):
            self._forget()
            self._tell(EchoCancelled(self._input.cancels))
            if cleaning.echo and not self._input.cancels:
                self._tell(Notice(NO_CANCELLER))

    def _open(self, order: orders.OpenUtterance) -> None:
        turn, from_sample = order.turn, order.from_sample
        self._utterance = turn
        if self._muted:
            raise DeviceError(
                "The microphone is muted.", hint="Unmute it at the top of the window, or type."
            )
        if self._input.name is None:
            with suppress(DeviceError):  # the missing device was already reported
                self._adopt(self._factories.microphone(""))
        if self._input.name is None:
            raise DeviceError(
                "No microphone is connected.",
                hint="Connect one, or choose another in the settings. You can also type.",
            )
        self._watch.follow(self._position, key_held=from_sample is None)
        self._recognise(order)
        before_s = KEY_PREROLL_S if from_sample is None else VOICE_PREROLL_S
        noticed = self._position if from_sample is None else from_sample
        heard = self._input.since(noticed - int(before_s * SAMPLE_RATE))
        self._recognise(HearAudio(turn, heard))
        if not self._attending.during_reply:
            self._loudness.begin_utterance()

    def _close(self, order: orders.CloseUtterance | orders.DropUtterance) -> None:
        if self._utterance == order.turn:
            self._closed, self._utterance = self._utterance, None
            self._closed_at = self._position
            self._watch.follow(None)
            self._recognise(order)
            if self._loudness.end_utterance() and isinstance(order, orders.CloseUtterance):
                self._tell(Notice(FAINT))

    def _hold(self, order: orders.HoldUtterance) -> None:
        """Hold the utterance; if it ended a moment before the key was down, it continues."""
        if self._utterance is None and self._closed == order.turn:
            self._join(orders.JoinUtterance(order.turn, order.turn))
        if self._utterance == order.turn:
            self._watch.hold()

    def _join(self, order: orders.JoinUtterance) -> None:
        turn = self._utterance = order.turn
        self._watch.follow(self._position)
        self._recognise(order)
        self._recognise(HearAudio(turn, self._input.since(self._closed_at)))

    # --------------------------------------------------------------------- the loop

    def _tick(self) -> float | None:
        if self._input.name is None:
            return None
        before = self._position
        pcm = self._input.read(self._controls.loudspeaker.take_played)
        self._duck(self._attending.during_reply and self._input.near.double_talk, before)
        if len(pcm):
            level = level_db(pcm)
            self._loudness.hear(level, len(pcm) / SAMPLE_RATE)
            self._stir()
            if self._utterance is not None:
                self._recognise(HearAudio(self._utterance, pcm))
            self._detect(pcm)
            if self._position >= self._next_level:
                self._next_level = self._position + int(LEVEL_S * SAMPLE_RATE)
                self._tell(Levels(level, self._controls.level_db))
        if self._attending.during_reply:
            return DURING_REPLY_READ_S
        return READ_S if self._utterance is not None else IDLE_READ_S

    def _duck(self, trace: bool, now: int) -> None:
        """Make the reply quieter at the first trace of another sound, for HOLD_S after the last.

        Independent of the turn rules, because a trace is noticed long before its cause is known. A
        mistake costs little: the reply continues, and soon has its old level.
        """
        if trace:
            if self._ducked_until is None:
                self._controls.duck(True)
            self._ducked_until = now + int(HOLD_S * SAMPLE_RATE)
        elif self._ducked_until is not None and now >= self._ducked_until:
            self._ducked_until = None
            self._controls.duck(False)

    @property
    def _position(self) -> int:
        """16 kHz samples since the microphone was opened."""
        return self._input.position

    def _detect(self, pcm: Pcm) -> None:
        attending = self._attending
        if self._controls.rings and not self._input.cancels:
            self._ignored_until = self._position + int(ECHO_TAIL_S * SAMPLE_RATE)
        if (
            not attending.hands_free
            or attending.ignore_microphone
            or self._position < self._ignored_until
        ):
            return
        if self._input.cancels and self._input.near.sounding and not self._input.near.settled:
            self._forget()  # the canceller still learns: this may be the loudspeaker
            return
        heeded = self._utterance is not None or self._watch.speaking or attending.during_reply
        if self._loudness.is_quiet and not heeded:  # skip the detector, which costs most
            if not self._watch.resting:
                self._watch.reset()
            return
        echoes = attending.during_reply and self._input.near.sounding
        self._follow(pcm, plausible=self._ducked_until is not None or not echoes)

    def _follow(self, pcm: Pcm, *, plausible: bool = True) -> None:
        """Report the speech in these samples; asleep, search it only for the wake phrase."""
        joined_midway = self._watch.joined_midway
        gain = 1.0 if self._attending.during_reply else self._loudness.gain
        events = self._watch.push(pcm * gain, self._position, plausible=plausible)
        if not self._wake_gate.asleep:
            if joined_midway and not self._watch.joined_midway:
                self._tell(Notice(TOO_SOON))
            for event in events:
                if not isinstance(event, SpeechGoesOn):  # convert to the engine's clock
                    ago_s = (self._position - event.sample) / SAMPLE_RATE
                    event = replace(event, at=time.monotonic() - ago_s)
                self._note(event)
            return
        if any(isinstance(event, vad.SpeechStarted) for event in events):
            called = self._wake_gate.find(self._input.since(0), begins=True)
        else:
            called = self._wake_gate.find(pcm) if self._watch.speaking else None
        if called is not None:
            self._wake(called)

    def _wake(self, ago: int) -> None:
        """Wake up. The phrase ended `ago` samples ago, and speech since then may be a request."""
        self._input.forget(before=self._position - ago)
        since = self._input.since(0)
        self._wake_gate.wake(self._position)
        self._watch.reset()
        self._follow(since)

    def _stir(self) -> None:
        """Stay awake while the floor is taken or a voice is heard, and some seconds longer."""
        heard = self._watch.speaking and not self._wake_gate.asleep
        if self._attending.busy or self._utterance is not None or heard:
            self._wake_gate.wake(self._position)
        self._wake_gate.look(self._position, hands_free=self._attending.hands_free)

    def _note(self, event: vad.SpeechEvent | SpeechGoesOn) -> None:
        """Report speech. In a pause of an utterance, which may be its end, have its words
        recognised; at its end, close it.
        """
        turn = self._utterance
        match event:
            case vad.SpeechPaused():
                pass  # the interim transcript before it is reported instead
            case vad.SpeechResumed() if turn is None:
                pass  # no utterance listens to this speech
            case _:
                self._tell(event)
        if turn is None or isinstance(event, SpeechGoesOn):
            return
        if isinstance(event, vad.SpeechEnded):
            self._close(orders.CloseUtterance(turn, overlapping=self._attending.during_reply))
        else:
            self._recognise(event)

    def _report(self, error: Exception) -> None:
        """Replace a lost microphone by the default one; the utterance continues with that."""
        if isinstance(error, DeviceError) and self._input.name is not None:
            relapsed = time.monotonic() - self._lost_at < RELAPSE_S
            self._lost_at = time.monotonic()
            turn, lost = self._give_up() if relapsed else None, self._input.name
            self._tell(Failed.of(error, Part.MICROPHONE, turn))
            self._input.close()
            if not relapsed:
                self._use("", lost=lost)
            return
        super()._report(error)

    def _unknown(self, error: Exception) -> EngineError:
        return DeviceError(
            "Listening failed: {error}", hint="Choose another microphone.", error=error
        )

    def _fail(self, error: EngineError) -> None:
        self._tell(Failed.of(error, Part.MICROPHONE, self._give_up()))
