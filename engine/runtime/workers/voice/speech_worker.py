"""The speaker: words come in, samples go out, at most the lead ahead of playback.

Invariant: only this thread uses the synthesiser, its sessions and the loudspeaker's ring. A reply
that has ended (reply.py) is dropped between two steps, and is inaudible before that. A chosen
synthesiser is loaded between two replies, the newest choice only.
"""

import time
from contextlib import suppress
from typing import assert_never

from engine.audio.base import Loudspeaker, SilentLoudspeaker
from engine.audio.other_voice import OtherVoice
from engine.audio.pcm import SILENCE_DB
from engine.errors import DeviceError, EngineError, SynthesisError
from engine.messages.events import Failed, RateMeasured, Ready
from engine.messages.words import Ending, Part
from engine.runtime.factories import Factories
from engine.runtime.turn.facts import AudioQueued, ReplyAudible, ReplyEnded, WordBegan
from engine.runtime.turn.orders import Resume, UseDevice
from engine.runtime.turn.playback import Playback
from engine.runtime.turn.reply import LiveControls, Reply
from engine.runtime.workers.voice import orders
from engine.runtime.workers.voice.loaded_voice import LoadedVoice
from engine.runtime.workers.voice.loudspeakers import RETRY_S, Loudspeakers
from engine.runtime.workers.voice.reserve import Reserve
from engine.runtime.workers.voice.ring import Ring
from engine.runtime.workers.voice.utterance import Unspoken, Utterance, rewound_frames
from engine.runtime.workers.worker import Actor, Tell
from engine.settings import SpeechSettings
from engine.tts.base import AudioFrame, Finished, Starved
from engine.tts.rate import paced

LONGEST_PAUSE_S = 4.0  # at most; usually the user's words end a pause much sooner
TICK_S = 0.01  # interval of showing words and writing to the ring


class SpeechWorker(Actor[orders.SpeechOrder]):
    """Owns the synthesiser and the loudspeaker."""

    def __init__(self, factories: Factories, tell: Tell, controls: LiveControls) -> None:
        super().__init__("speaker", tell)
        self._factories = factories
        self._controls = controls
        self.voice = LoadedVoice(factories, tell)  # some of its calls are for any thread
        self._wanted: SpeechSettings | None = None  # None = the chosen one is loaded
        self._loudspeakers = Loudspeakers(factories.loudspeaker)
        self._reply: Reply | None = None  # the reply of a fault; None = none
        self._utterance: Utterance | None = None  # None = nothing is being spoken
        self._reserve = Reserve()
        self._ring = Ring(controls)
        self._other_voice = OtherVoice()
        self._gave_way = False

    def stop(self, timeout_s: float) -> bool:
        """See Actor; inaudible at once."""
        self._controls.hush(True)
        return super().stop(timeout_s)

    def _release(self) -> None:
        self._drop()
        with suppress(DeviceError):  # closing a lost device may fail
            self._controls.loudspeaker.close()
        self.voice.close()

    # ------------------------------------------------------------------ orders

    def _handle(self, order: orders.SpeechOrder) -> None:
        match order:
            case orders.SayWords(reply) if reply.ending is None:
                self._say(self._open(reply, order.language), order)
            case orders.Audition(reply) if reply.ending is None:
                self._audition(order)
            case orders.Unsay(reply) if self._utterance and self._utterance.reply is reply:
                self._drop()
            case orders.SayWords() | orders.Unsay() | orders.Audition():
                pass
            case orders.Sound(on):
                self._look_again()
                self._ring.switch(on)
            case Resume(turn):
                if self._utterance and self._utterance.reply.turn == turn:
                    self._utterance.reply.resume()
            case _:
                self._set_up(order)

    def _set_up(self, order: orders.SetUpOrder) -> None:
        match order:
            case SpeechSettings():
                self._wanted = order
            case orders.SelectVoice(settings):
                if self._wanted is not None:
                    self._wanted = settings
                else:  # preparing takes longer than the lead, and would interrupt running speech
                    self.voice.select(settings, warm=self._utterance is None)
            case UseDevice(name):
                self._use_loudspeaker(name)
            case orders.GetVoiceReady(language):
                self.voice.get_ready(language)
            case _:
                assert_never(order)

    def _load_wanted(self) -> None:
        """Load the last choice, as nothing is being spoken."""
        wanted, self._wanted = self._wanted, None
        if wanted is not None:
            self.voice.load(wanted)

    def _use_loudspeaker(self, name: str) -> None:
        try:
            loudspeaker = self._factories.loudspeaker(name)
        except DeviceError as error:
            self._tell(Failed.of(error, Part.LOUDSPEAKER))
            if self._loudspeakers.return_by is None:
                other = self._loudspeakers.default() if name else SilentLoudspeaker()
                self._replace_loudspeaker(other, instead=True)
        else:
            self._loudspeakers.return_by = None
            self._replace_loudspeaker(loudspeaker)

    def _look_again(self) -> None:
        """Before a reply, check whether a missing loudspeaker is back."""
        if isinstance(self._controls.loudspeaker, SilentLoudspeaker):
            loudspeaker = self._loudspeakers.default()
            if not isinstance(loudspeaker, SilentLoudspeaker):
                self._replace_loudspeaker(loudspeaker)

    def _replace_loudspeaker(self, loudspeaker: Loudspeaker, *, instead: bool = False) -> None:
        before = self._controls.loudspeaker
        self._controls.connect(loudspeaker)
        if self._utterance:
            self._move(self._utterance, loudspeaker)
        with suppress(DeviceError):
            before.close()
        if not isinstance(loudspeaker, SilentLoudspeaker):
            other = instead and loudspeaker.name != before.name  # the same one may be back
            self._tell(Ready(Part.LOUDSPEAKER, loudspeaker.name, instead=other))

    def _move(self, utterance: Utterance, loudspeaker: Loudspeaker) -> None:
        """Continue on another loudspeaker; without one, the reply is only shown."""
        if not isinstance(loudspeaker, SilentLoudspeaker) or utterance.reply.ending is not None:
            utterance.playback.move_to(loudspeaker)
            return
        utterance.session.close()
        utterance.session = Unspoken(ended=utterance.ended)
        utterance.playback = _to_be_read(loudspeaker)
        utterance.starved = False
        utterance.reply.begin(utterance.playback)

    def _say(self, utterance: Utterance, more: orders.SayWords) -> None:
        for word in more.words:
            utterance.words.append(word)
            utterance.session.push(word)
        if more.last:
            utterance.session.end_input()
            utterance.ended = True
        utterance.starved = utterance.reply.awaits_words = False
        if not utterance.queued:
            self._reserve.begin()

    def _open(self, reply: Reply, language: str) -> Utterance:
        self._reply = reply
        if self._utterance and self._utterance.reply is reply:
            return self._utterance
        if self._utterance:
            self._end(self._utterance.reply, Ending.SUPERSEDED)  # a preview; a reply has ended
        self._make_room(reply)
        loudspeaker = self._controls.loudspeaker
        if isinstance(loudspeaker, SilentLoudspeaker):
            self._utterance = Utterance(reply, Unspoken(), _to_be_read(loudspeaker))
        else:
            session = self.voice.open(language)
            playback = Playback(loudspeaker, self.voice.sample_rate)
            self._utterance = Utterance(reply, session, playback)
        reply.begin(self._utterance.playback)
        return self._utterance

    def _make_room(self, reply: Reply) -> None:
        self._drop()
        self._load_wanted()
        self._look_again()
        self._reply = reply

    def _audition(self, order: orders.Audition) -> None:
        if self._utterance and self._utterance.reply.ending is None:
            self._end(order.reply, Ending.SUPERSEDED)
            return
        self._make_room(order.reply)
        loudspeaker = self._controls.loudspeaker
        if isinstance(loudspeaker, SilentLoudspeaker):
            raise DeviceError("No loudspeaker is connected.", hint="Connect one, and try again.")
        session = self.voice.audition(order.voice)
        playback = Playback(loudspeaker, self.voice.sample_rate)
        self._utterance = Utterance(order.reply, session, playback, rate=order.rate)
        order.reply.begin(playback)
        self._say(self._utterance, orders.SayWords(order.reply, order.words, last=True))

    def _drop(self) -> None:
        if self._utterance:
            self._utterance.session.close()
            if heard := self._utterance.heard:
                turn = self._utterance.reply.turn
                self._tell(RateMeasured(turn, heard.target, heard.mean, over=True))
            if not self._utterance.playback.over:
                self._utterance.playback.cut()
            self._utterance = None
            self._reply = None
            self._controls.level_db = SILENCE_DB

    # ------------------------------------------------------------------- the loop

    def _tick(self) -> float | None:
        utterance = self._utterance
        if utterance is not None and self._loudspeakers.return_by is not None:
            instead = self._loudspeakers.come_back(waits=utterance.reply.ending is None)
            if instead is None:
                return RETRY_S
            self._go_on(utterance, instead)
        if utterance is not None and utterance.reply.ending is not None:
            self._drop()
        if self._utterance is not None:
            self._give_way(self._utterance.reply)
        try:
            ring_s = self._ring.look(self._utterance.reply if self._utterance else None)
            if self._utterance is not None:
                return self._speak(self._utterance)
        except DeviceError as error:
            self._lose_loudspeaker(self._utterance, error)
            return TICK_S
        self._load_wanted()
        return ring_s

    def _give_way(self, reply: Reply) -> None:
        """Be silent while the screen reader speaks, and go on from the first unheard sample."""
        speaks = self._controls.gives_way and self._other_voice.speaks()
        if speaks and not self._gave_way:
            self._controls.loudspeaker.cut()
        if speaks:
            reply.give_way(True)
            reply.move()  # it is not stalled
        elif self._gave_way:
            reply.give_way(False)
        self._gave_way = speaks

    def _lose_loudspeaker(self, utterance: Utterance | None, error: DeviceError) -> None:
        """Continue on another loudspeaker; an audible reply waits for it."""
        audible = utterance is not None and utterance.playback.audible
        instead = self._loudspeakers.lose(waits=audible)
        over = audible and (instead is None or isinstance(instead, SilentLoudspeaker))
        turn = utterance.reply.turn if utterance is not None and over else None
        self._tell(Failed.of(error, Part.LOUDSPEAKER, turn))
        if instead is not None:
            self._go_on(utterance, instead, instead=True)

    def _go_on(
        self, utterance: Utterance | None, other: Loudspeaker, *, instead: bool = False
    ) -> None:
        """Continue on `other`; an audible reply ends at its last heard sample if it is silent."""
        if isinstance(other, SilentLoudspeaker) and utterance and utterance.playback.audible:
            self._end(utterance.reply, Ending.DEVICE_LOST)
        self._replace_loudspeaker(other, instead=instead)

    def _end(self, reply: Reply, ending: Ending) -> None:
        """End a reply, and report it unless another thread was first."""
        if reply.end(ending):
            self._tell(ReplyEnded(reply.turn, ending))

    def _speak(self, utterance: Utterance) -> float:
        playback = utterance.playback
        if playback.hushed:
            return self._wait(utterance)
        playback.pump()
        self._show(utterance)
        self._reserve.before_step()
        end = None
        if self._rate(utterance) != utterance.session.rate:
            end = self._retime(utterance)
        if playback.over:
            self._finish(utterance)
            return 0.0
        lead_ms = max(self._controls.lead_ms, self.voice.lead_ms)
        if end is None and (
            utterance.starved or playback.lead_ms + playback.frame_ms / 2 >= lead_ms
        ):
            return TICK_S
        self._step(utterance, end)
        return 0.0

    def _wait(self, utterance: Utterance) -> float:
        """While hushed, wait for the end of the reply, or of the pause."""
        self._controls.level_db = SILENCE_DB
        self._reserve.end()
        utterance.playback.starved()  # the ring runs empty, which is not an underrun
        if (utterance.reply.paused_s or 0.0) > LONGEST_PAUSE_S:
            utterance.reply.resume()
        return TICK_S

    def _rate(self, utterance: Utterance) -> float | None:
        return self._controls.rate if utterance.rate is None else utterance.rate

    def _retime(self, utterance: Utterance) -> int | None:
        """The rate has changed: return the first sample to replace, if the loudspeaker has it. The
        old sound plays until its replacement is ready.
        """
        utterance.session.rate = self._rate(utterance)
        end = utterance.session.rewind(utterance.playback.renewable(self._reserve.retime_margin_ms))
        if end is None:
            return None
        utterance.starved = False
        if end >= utterance.playback.produced:
            return None
        self._reserve.begin(moved=True)
        return end

    def _step(self, utterance: Utterance, end: int | None) -> None:
        """Make the next frame; from the sample `end` it replaces the loudspeaker's, unless None."""
        rate = utterance.session.rate
        utterance.reply.move()
        match utterance.session.step() if end is None else rewound_frames(utterance):
            case AudioFrame() as frame:
                words = tuple(utterance.words[onset.word] for onset in frame.onsets)
                utterance.pace = words[-1].pace if words else utterance.pace
                target = None if rate is None else paced(rate, utterance.pace)
                if not utterance.queued:
                    utterance.queued = True
                    utterance.playback.hold(self._reserve.start_delay_ms)
                    self._tell(AudioQueued(utterance.reply.turn, time.monotonic()))
                utterance.playback.feeding()
                utterance.playback.add(frame, words, target)
                self._reserve.frame_made(utterance.playback.frame_ms)
            case (Starved() | Finished()) as last:
                if end is not None:
                    utterance.playback.renew(end)
                utterance.starved = True  # also at the end: no step follows, the rest is playing
                self._reserve.end()
                utterance.playback.starved()
                if isinstance(last, Finished):
                    utterance.playback.complete()
                else:
                    utterance.reply.awaits_words = not utterance.ended

    def _show(self, utterance: Utterance) -> None:
        """Report words and rates that became audible since the last call."""
        playback, turn = utterance.playback, utterance.reply.turn
        if not utterance.audible and playback.audible:
            utterance.audible = True
            self._tell(ReplyAudible(turn, time.monotonic()))
        for begun in playback.begun_words():
            self._tell(WordBegan(turn, begun.word, time.monotonic() - begun.ago_s))
        for cue in playback.passed_frames():
            utterance.reply.move()
            self._controls.level_db = cue.level_db
            if cue.measured is not None or utterance.heard:
                self._tell(RateMeasured(turn, cue.target, cue.measured))
            utterance.heard = cue if cue.mean is not None else utterance.heard

    def _finish(self, utterance: Utterance) -> None:
        reply = utterance.reply
        self._end(reply, Ending.FAILED if reply.broke else Ending.COMPLETE)
        self._drop()
        self.voice.warm()  # for a voice that was chosen meanwhile

    def _unknown(self, error: Exception) -> EngineError:
        return SynthesisError(
            "The voice failed: {error}", hint="Ask again; the voice was restarted.", error=error
        )

    def _fail(self, error: EngineError) -> None:
        reply, self._reply = self._reply, None
        self._tell(Failed.of(error, Part.SYNTHESISER, reply.turn if reply else None))
        if reply is not None:
            self._end(reply, Ending.FAILED)
        self._drop()


def _to_be_read(loudspeaker: Loudspeaker) -> Playback:
    return Playback(loudspeaker, loudspeaker.sample_rate, read=True)
