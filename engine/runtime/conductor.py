"""The conductor: one inbox for commands and happenings, one place where turns are decided.

Invariant: rules.advance() decides, this file carries out. Only the conductor emits events, so a
host receives them one at a time and in order.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial, singledispatchmethod
from pathlib import Path

from engine import messages as m
from engine.errors import EngineError, InvalidInput
from engine.llm.base import Situation
from engine.messages import Command, Event, Part, Phase
from engine.runtime.crew import assemble
from engine.runtime.effects import Effects
from engine.runtime.host import export
from engine.runtime.host.actions import Actions
from engine.runtime.host.preferences import Preferences
from engine.runtime.host.status import Status
from engine.runtime.host.timers import Timers
from engine.runtime.parts import Parts
from engine.runtime.turn import facts as h
from engine.runtime.turn import interruption, rules, watchdog
from engine.runtime.turn.facts import Fact
from engine.runtime.turn.log import TurnLog
from engine.runtime.turn.orders import Attend
from engine.runtime.workers.background import AdoptVoice
from engine.runtime.workers.recorder import BeginRecording, ChangeTape, EndRecording
from engine.runtime.workers.worker import Worker
from engine.settings import Settings, Value

Inbound = Command | Fact | Event

LONGEST_TEXT = 20_000  # characters; a typed turn beyond that is a mistake
EARS = (Part.MICROPHONE, Part.RECOGNISER)  # a fault of theirs ends what they were heard for
DEVICES = (Part.MICROPHONE, Part.LOUDSPEAKER)
REACTION_S = 0.6  # after a sound, and a voice is noticed in 0.1 s: who is sooner was going on
STOP_S = 2.0  # the conductor itself never waits for anyone, so this is ample


class Conductor:
    """Directs the crew by the turn rules and tells the host what happens."""

    def __init__(
        self,
        parts: Parts,
        settings: Settings,
        path: Path | None,
        emit: Callable[[Event], None],
        timers: Timers | None = None,
    ) -> None:
        self._emit = emit
        self._worker: Worker[Inbound] = Worker(
            "conductor", handle=self._receive, tick=self._tick, report=self._report
        )
        self._crew = assemble(parts, settings, self._worker.post, self.situation)
        self._preferences = Preferences(settings, path, self._crew, emit, parts.check)
        self._log = TurnLog()
        self._timers = timers or Timers()
        self._actions = Actions(self._change, self._timers, self.situation)
        self._effects = Effects(
            self._crew,
            self._log,
            self._actions,
            emit,
            attend=self._attend,
            settings=lambda: self._preferences.settings,
        )
        self._status = Status()
        self._moved_at = time.monotonic()  # when the floor was last decided about
        self._pause: int | None = None  # sample where the person fell silent; None = speaks on
        self._evidence = interruption.Evidence()  # on the voice that is doubted, if one is
        audio = settings.audio
        self._floor = rules.Floor(hands_free=audio.hands_free, headset=audio.headset)

    # -------------------------------------------------------------- from any thread

    def start(self) -> None:
        self._timers.load(self._worker.post)
        self._crew.start()
        self._preferences.load_all()
        self._attend()
        self._worker.start()  # last: a timer that came due meanwhile speaks at once

    def post(self, command: Command) -> None:
        self._worker.post(command)

    def stop(self) -> None:
        """End the turn, save the settings, stop every thread; Stopped is the last event."""
        self._worker.stop(STOP_S)
        self._floor = replace(self._floor, waiting=())  # who quits is told of no timer any more
        self._worker.guarded(partial(self._decide, rules.StopAsked()))
        self._worker.guarded(self._preferences.save)
        self._worker.guarded(partial(self._timers.save, self._emit))
        busy = self._crew.stop()
        if busy:
            self._emit(m.Notice(f"Still busy when stopping: {', '.join(busy)}."))
        self._emit(m.Stopped())

    def keep(self, path: Path) -> None:
        """Write the conversation as Export does, on the calling thread; after stop() only."""
        export.write_now(path, self._log, self._crew)

    def situation(self) -> Situation:
        """What a skill may know; reads values that are replaced whole, so any thread may ask."""
        settings = self._preferences.settings
        return Situation(
            rate=settings.speech.rate,
            volume=settings.audio.volume,
            voice=self._status.voice,
            voices=self._status.voices,
            timers=self._timers.running(),
            capabilities=self._status.capabilities(),
        )

    # ------------------------------------------------------------------- the loop

    def _receive(self, message: Inbound) -> None:
        try:
            self._on(message)
        except EngineError as error:
            self._emit(m.Failed(error.code, error.message, error.hint))

    def _tick(self) -> float | None:
        now = time.monotonic()
        for text in self._timers.due():
            self._decide(rules.TimerRang(text))
        self._timers.save(self._emit)
        waits = (self._timers.wait_s(), self._preferences.save_if_due(now), self._watch(now))
        return min((wait for wait in waits if wait is not None), default=None)

    def _watch(self, now: float) -> float | None:
        """End a turn in which nothing moves any more; returns seconds until it must be looked at
        again.
        """
        if self._status.loading:
            self._moved_at = now
        turn, reply = self._floor.turn, self._effects.replies.find(self._floor.turn)
        heard = reply if reply is not None and reply.aloud else None
        left_s = watchdog.left_s(self._floor.phase, heard, moved_at=self._moved_at, now=now)
        if left_s is None or left_s > 0:
            return left_s
        self._emit(watchdog.fault(turn, heard))
        self._decide(rules.TurnBroke(turn))
        return None

    def _report(self, error: Exception) -> None:
        self._emit(m.Failed("engine", f"Something went wrong: {error}", "Please report this."))

    # ------------------------------------------------------------------- commands

    @singledispatchmethod
    def _on(self, message: Inbound) -> None:
        """Act on one message; an event of another thread is shown as it is."""
        self._emit(message)  # type: ignore[arg-type] # what has no handler of its own is an Event

    @_on.register
    def _(self, command: m.PressTalk) -> None:
        self._decide(rules.TalkPressed())

    @_on.register
    def _(self, command: m.ReleaseTalk) -> None:
        if self._floor.talk_held:
            self._log.record(self._floor.turn).speech_ended_at = time.monotonic()
        self._decide(rules.TalkReleased())

    @_on.register
    def _(self, command: m.SendText) -> None:
        text = command.text.strip()
        if len(text) > LONGEST_TEXT:
            raise InvalidInput(
                f"That text has {len(text)} characters; {LONGEST_TEXT} is the most.",
                hint="Send it in parts.",
            )
        aloud = self._floor.phase is Phase.SPEAKING
        if text and not (aloud and self._actions.grant_said(text)):
            self._decide(rules.TextSent(text))

    @_on.register
    def _(self, command: m.StopReply) -> None:
        escape, stop = m.Ending.INTERRUPTED_BY_ESCAPE, m.Ending.INTERRUPTED_BY_STOP
        self._decide(rules.StopAsked(escape if command.by_escape else stop))

    @_on.register
    def _(self, command: m.SetHandsFree | m.SetRate | m.SetVolume | m.ChangeSetting) -> None:
        match command:
            case m.SetHandsFree(on):
                self._change("audio.hands_free", on)
            case m.SetRate(rate):
                self._change("speech.rate", rate)
            case m.SetVolume(gain):
                self._change("audio.volume", gain)
            case m.ChangeSetting(key, value):
                self._change(key, value)

    @_on.register
    def _(self, command: m.AddVoice) -> None:
        if command.consent:
            self._crew.background.post(AdoptVoice(command.clip, command.name))
        else:
            self._crew.background.inspect(command.clip)

    @_on.register
    def _(self, command: m.CancelClip) -> None:
        self._crew.background.cancel_clip()

    @_on.register
    def _(self, command: m.NewConversation) -> None:
        self._decide(rules.StopAsked())
        self._effects.begin_anew()
        self._crew.recorder.post(ChangeTape())
        self._emit(m.Notice("A new conversation."))

    @_on.register
    def _(self, command: m.Record) -> None:
        order = BeginRecording(command.path) if command.on else EndRecording()
        self._crew.recorder.post(order)

    @_on.register
    def _(self, command: m.Export) -> None:
        export.export(command.path, self._log, self._crew)

    # ----------------------------------------------------------------- happenings

    @_on.register
    def _(self, happened: h.SpeechStarted) -> None:
        record = self._log.find(self._floor.turn)
        heard_at = record.heard_at if record else None
        unmoved = heard_at is not None and time.monotonic() - heard_at < REACTION_S
        self._decide(rules.VoiceBegan(happened.sample, unmoved))

    @_on.register
    def _(self, happened: h.SpeechGoesOn) -> None:
        self._weigh(replace(self._evidence, spoken_ms=happened.spoken_ms))

    @_on.register
    def _(self, happened: h.EchoCancelled) -> None:
        self._floor = replace(self._floor, cancelling=happened.cancels)
        self._attend()

    @_on.register
    def _(self, happened: h.SpeechPaused) -> None:
        self._pause = happened.sample

    @_on.register
    def _(self, happened: h.SpeechResumed) -> None:
        self._pause = None
        self._effects.drop_rehearsal(self._floor.turn)

    @_on.register
    def _(self, happened: h.Drafted) -> None:
        """Settle how long to wait for more, and use the time."""
        listening = self._floor.phase is Phase.LISTENING and happened.turn == self._floor.turn
        if not listening or happened.pause != self._pause:
            return
        self._effects.rehearse(happened)

    @_on.register
    def _(self, happened: h.SpeechEnded) -> None:
        if self._floor.phase is Phase.LISTENING and not self._floor.talk_held:
            self._log.record(self._floor.turn).speech_ended_at = happened.at
        self._decide(rules.VoiceStopped())

    @_on.register
    def _(self, happened: h.PartialHeard) -> None:
        if happened.turn == self._floor.turn:
            self._emit(m.PartialTranscript(happened.turn, happened.text))

    @_on.register
    def _(self, happened: h.Glanced) -> None:
        if self._doubted(happened.turn):
            self._weigh(replace(self._evidence, text=happened.text))

    @_on.register
    def _(self, happened: h.Transcribed) -> None:
        turn, transcript = happened.turn, happened.transcript
        if self._doubted(turn):
            self._weigh(replace(self._evidence, text=transcript.text, final=True))
        if self._doubted(turn):  # still
            self._actions.grant_said(transcript.text)
            self._decide(rules.Understood(turn, ""))
            return
        record = self._log.find(turn)
        known = record is not None or self._log.say_late(turn, transcript.text)
        if known and transcript.text:
            self._emit(m.Heard(turn, transcript.text, transcript.confidence, transcript.recogniser))
        if record is not None:
            record.transcript_at = happened.at
            self._decide(rules.Understood(turn, transcript.text))

    @_on.register
    def _(self, happened: h.Progress) -> None:
        shown = self._log.note(happened)
        if shown is not None:
            self._emit(shown)

    @_on.register
    def _(self, happened: h.ActionAsked) -> None:
        if happened.turn == self._floor.turn:
            self._actions.grant(happened.action, happened.turn)

    @_on.register
    def _(self, happened: h.AudioHeard) -> None:
        self._log.note(happened)
        self._decide(rules.ReplyAudible(happened.turn))

    @_on.register
    def _(self, happened: h.RateHeard) -> None:
        self._emit(m.RateMeasured(happened.turn, happened.target, happened.measured))

    @_on.register
    def _(self, happened: h.ReplyEnded) -> None:
        self._decide(rules.ReplyOver(happened.turn, happened.ending))

    @_on.register
    def _(self, happened: h.MicrophoneLevel) -> None:
        self._emit(m.Levels(happened.level_db, self._crew.dials.level_db, happened.raw_db))

    @_on.register
    def _(self, happened: h.PartFailed) -> None:
        error = happened.error
        self._status.failed(happened.part)
        self._emit(m.Failed(error.code, error.message, error.hint, happened.turn, happened.part))
        if happened.turn is not None and happened.part in EARS:
            ending = m.Ending.DEVICE_LOST if happened.part in DEVICES else m.Ending.FAILED
            self._decide(rules.TurnBroke(happened.turn, ending))
        if happened.part in DEVICES:
            self._status.broke(happened.part)

    @_on.register
    def _(self, happened: h.VoicesKnown) -> None:
        self._status.voices_known(happened)
        self._emit(m.VoicesChanged(happened.names, happened.selected))

    @_on.register
    def _(self, happened: h.VoiceAdopted) -> None:
        self._change("speech.voice", happened.name)
        self._emit(m.Notice(f"{happened.name} speaks from the next sentence on."))

    @_on.register
    def _(self, happened: m.Loading) -> None:
        self._status.loads(happened)
        self._emit(happened)

    @_on.register
    def _(self, happened: m.Ready) -> None:
        self._status.runs(happened)
        self._emit(happened)

    @_on.register
    def _(self, happened: h.ClipRead) -> None:
        self._emit(self._status.inspected(happened))

    @_on.register
    def _(self, happened: h.DevicesFound) -> None:
        self._preferences.devices = happened.devices
        audio = self._preferences.settings.audio
        self._emit(self._status.devices_found(happened.devices, audio))
        self._preferences.reconnect(self._status.reconnection(happened.devices, audio))

    # ------------------------------------------------------------------- decisions

    def _decide(self, happened: rules.Input) -> None:
        outcome = rules.advance(self._floor, happened)
        doubted, self._floor = self._floor.doubt, outcome.floor
        self._moved_at = time.monotonic()
        if (doubted and doubted.turn) != (self._floor.doubt and self._floor.doubt.turn):
            self._evidence = interruption.Evidence()
        for effect in outcome.effects:
            self._effects.carry_out(effect)

    def _weigh(self, evidence: interruption.Evidence) -> None:
        """More is known of a voice during the reply."""
        self._evidence = replace(evidence, own=self._log.own_words(self._floor.turn))
        if self._floor.doubt and interruption.wants_floor(self._evidence):
            self._decide(rules.VoiceConfirmed(self._floor.doubt.turn))

    def _doubted(self, turn: int) -> bool:
        return self._floor.doubt is not None and self._floor.doubt.turn == turn

    def _change(self, key: str, value: Value) -> None:
        try:
            self._preferences.change(key, value, time.monotonic())
        except InvalidInput:
            self._preferences.tell(key)  # a host may already show the refused value
            raise
        if key in ("audio.hands_free", "audio.headset"):
            audio = self._preferences.settings.audio
            self._floor = replace(self._floor, hands_free=audio.hands_free, headset=audio.headset)
            self._attend()

    def _attend(self) -> None:
        """Tell the ears what to listen for in this phase."""
        floor = self._floor
        aloud = floor.phase is Phase.SPEAKING and not floor.headset
        deaf, wary = aloud and not floor.cancelling, aloud and floor.cancelling
        self._crew.listener.post(Attend(floor.hands_free, deaf, wary))
