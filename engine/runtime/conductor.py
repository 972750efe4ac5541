"""The conductor: one inbox for commands and facts, one place where turns are decided.

Invariant: rules.advance() decides, effects.py carries out. All events come from the conductor's
thread, so a host receives them one at a time and in order.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import assert_never

from engine.audio.devices.portaudio import Devices
from engine.audio.vad import SpeechResumed
from engine.errors import EngineError
from engine.export import write
from engine.llm.base import AssistantState
from engine.messages import commands, events
from engine.messages.commands import Command
from engine.messages.conversations import Replay
from engine.messages.events import Event
from engine.messages.models import ListModels, ModelCommand
from engine.messages.reading import ReadingCommand
from engine.messages.timers import TimerCommand
from engine.messages.voices import ClipRecording, VoiceCommand, VoicesListed
from engine.messages.words import Phase
from engine.models.recommended import recommended
from engine.runtime.effects import Effects
from engine.runtime.factories import Factories
from engine.runtime.host.actions import Actions
from engine.runtime.host.port import ConductorPort
from engine.runtime.host.preferences import Preferences
from engine.runtime.host.ringing import Ringing
from engine.runtime.host.status import Status
from engine.runtime.host.timers import Timers
from engine.runtime.host.voice_preview import VoicePreview
from engine.runtime.threads import assemble
from engine.runtime.turn import facts, rules, waiting
from engine.runtime.turn.facts import Fact
from engine.runtime.turn.floor import Floor, attention
from engine.runtime.turn.log import TurnLog
from engine.runtime.turn.orders import Answer, EndTurn, ReadOut
from engine.runtime.workers.voice.orders import PREVIEW, Sound
from engine.runtime.workers.worker import Worker
from engine.settings import Changes, SettingKey, Settings, Value


class _Quit:
    """The host stops the engine: the last message that is processed."""


Inbound = Command | Fact | Event | _Quit
STOP_S = 2.0  # ample, as the conductor itself never waits


class Conductor:
    """Directs the workers by the turn rules and reports events to the host."""

    def __init__(
        self,
        factories: Factories,
        settings: Settings,
        path: Path | None,
        emit: Callable[[Event], None],
        timers: Timers | None = None,
    ) -> None:
        self._emit = emit
        self._worker: Worker[Inbound] = Worker(
            "conductor",
            handle=self._receive,
            tick=self._tick,
            report=lambda error: emit(events.Failed.of(error)),
        )
        self.post: Callable[[Command], None] = self._worker.post
        self._workers = assemble(factories, settings, self._worker.post, self.state, self._in_force)
        self._has_window = factories.has_window
        self._preferences = Preferences(settings, path, self._workers, emit, factories.check)
        self._log = TurnLog(keep=self._workers.history_writer.keep, state=self.state)
        self._timers = timers or Timers()
        deciding = (self._change, self._decide, self._attend)
        port = ConductorPort(emit, *deciding, self._in_force, self.state, self._receive)
        self._actions = Actions(self._timers, port)
        self._ringing = Ringing(
            self._timers, lambda on: self._workers.speaker.post(Sound(on)), port
        )
        self._effects = Effects(self._workers, self._log, self._actions, port)
        self._status = Status()
        self._preview = VoicePreview(self._workers, self._status, port)
        # Further effects of a change of a setting, beside the part that it applies to.
        self._on_changed: dict[str, Callable[[], None]] = {
            SettingKey.VOICE: self._preview.voice_chosen,
            SettingKey.RATE: self._preview.rate_chosen,
            SettingKey.LANGUAGE: self._follow_language,
            SettingKey.HANDS_FREE: self._follow_audio,
            SettingKey.HEADSET: self._follow_audio,
        }
        self._over = False  # Stopped was emitted
        self._moved_at = time.monotonic()  # time of the last decision about the floor
        audio = settings.audio
        self._floor = Floor(hands_free=audio.hands_free, headset=audio.headset)

    # -------------------------------------------------------------- from any thread

    def start(self) -> None:
        self._timers.load(self._worker.post)
        self._workers.start()
        self._effects.follow_language()
        self._preferences.load_all()
        self._attend()
        self._worker.start()  # last: a timer that came due meanwhile speaks at once

    def stop(self) -> None:
        """End the turn, save the settings, stop every thread; Stopped is the last event.
        EngineError if the conductor's own thread does not end.
        """
        self._worker.post(_Quit())
        if not self._worker.stop(STOP_S + self._workers.longest_stop_s):
            raise EngineError(
                "The engine is still reporting events.",
                hint="The receiver of its events must not wait for the engine.",
            )
        if not self._over:  # its thread never ran
            self._quit()

    def keep(self, path: Path) -> None:
        """Write the conversation as Export does, on the calling thread; only after stop()."""
        write(self._log.conversation(), path)

    def state(self) -> AssistantState:
        """Return the state for the skills; from any thread, as its values are replaced whole."""
        settings = self._preferences.settings
        return AssistantState(
            rate=settings.speech.rate,
            volume=settings.audio.volume,
            voice=self._status.voice,
            voice_before=self._status.voice_before,
            voices=self._status.voices,
            languages=self._status.languages,
            speaking=self._status.speaking,
            timers=self._timers.running(),
            person=self._actions.person,
            capabilities=self._status.capabilities(),
            about=self._status.about,
            settings=settings,
            offers=partial(recommended, settings),
            learner_mb=self._status.learner_mb,
            has_window=self._has_window,
            models_busy=self._workers.model_manager.is_busy,
            reading=self._effects.reading.title,
        )

    def _in_force(self) -> Settings:
        return self._preferences.settings

    # ------------------------------------------------------------------- the loop

    def _receive(self, message: Inbound) -> None:
        match message:
            case _ if self._over:
                pass
            case _Quit():
                self._quit()
            case _ if getattr(message, "turn", None) == PREVIEW:
                self._preview.follow(message)
            case commands.SendText():
                self._effects.ask(message, self._floor)
            case _ if isinstance(message, Fact):
                self._learn(message)
            case _ if isinstance(message, Event):
                self._show(message)
            case _ if isinstance(message, commands.PassedCommand):
                self._pass_on(message)
            case _:
                self._obey(message)

    def _obey(self, command: commands.OwnCommand) -> None:
        """Carry out a command about the conversation or the settings."""
        match command:
            case commands.StopReply(by_escape) if self._ringing.silence(by_escape=by_escape):
                pass  # the timer that rings first; a reply at the next key press
            case commands.StopReply() | commands.PressTalk():
                self._preview.stop_preview()
                self._decide(command)
            case commands.ReleaseTalk():
                self._decide(command)
            case commands.ChangeSetting(key, value, origin):
                self._apply(((key, value),), origin)
            case commands.Speak():
                self._effects.speak(command)
            case commands.Export(path):
                self._effects.export(path)
            case Replay():
                self._effects.replay(command, self._floor)
            case _:
                assert_never(command)

    def _pass_on(self, command: commands.PassedCommand) -> None:
        match command:
            case commands.AddVoice() | commands.CancelClip():
                self._workers.background.post(command)
            case _ if isinstance(command, VoiceCommand):
                self._preview.handle(command)
            case _ if isinstance(command, TimerCommand):
                self._timers.change(command)
            case _ if isinstance(command, ReadingCommand):
                self._effects.reading.on(command)
            case _ if isinstance(command, ModelCommand):
                self._workers.model_manager.post(command)
            case _:
                self._workers.history_writer.post(command)

    def _tick(self) -> float | None:
        if self._over:
            return None
        now = time.monotonic()
        self._ringing.look(lambda: self._floor)
        self._effects.reading.look(self._floor, announces=self._ringing.announces)
        self._timers.tell(self._emit)
        waits = (self._timers.wait_s(), self._preferences.save_if_due(now), self._watch(now))
        return min((wait for wait in waits if wait is not None), default=None)

    def _watch(self, now: float) -> float | None:
        """End a turn without progress; return the seconds until the next check."""
        if self._status.loading:
            self._moved_at = now
        turn, reply = self._floor.turn, self._effects.replies.find(self._floor.turn)
        audible = reply if reply is not None and reply.aloud else None
        left_s = waiting.left_s(self._floor.phase, audible, moved_at=self._moved_at, now=now)
        if left_s is None or left_s > 0:
            return left_s
        self._show(waiting.fault(turn, audible))
        return None

    def _quit(self) -> None:
        """Shut everything down; a failing step does not prevent the next ones."""
        self._floor = replace(self._floor, waiting=())  # no timer is announced while quitting
        self._worker.guarded(partial(self._decide, commands.StopReply()))
        self._worker.guarded(self._preferences.save)
        self._worker.guarded(partial(self._timers.save, self._emit))
        if busy := ", ".join(self._workers.stop()):
            self._emit(events.Notice.of("Still busy when stopping: {threads}.", threads=busy))
        self._over = True
        self._emit(events.Stopped())

    # ------------------------------------------------------------------- messages

    def _learn(self, fact: Fact) -> None:
        """Pass facts for the rules to them, and act on the others."""
        turn = self._floor.turn
        match fact:
            case _ if isinstance(fact, facts.ReplyFact):
                if (shown := self._log.record_fact(fact)) is not None:
                    self._show(shown)
            case facts.ReplyAudible() | facts.ReplyEnded() if self._effects.reading.goes_on(
                fact, self._floor, announces=self._ringing.announces
            ):
                pass  # another section of the same turn
            case facts.ReplyAudible():
                self._preview.spoke()
                self._log.record_fact(fact)
                self._decide(fact)
            case facts.Transcribed():
                self._decide(self._effects.transcribed(fact, held=self._floor.held is not None))
            case facts.EchoCancelled():
                self._decide(fact)
                self._attend()
            case SpeechResumed():
                self._log.record(turn).discarded += self._effects.replies.drop()
            case facts.InterimTranscript():
                if self._floor.phase is Phase.LISTENING and fact.turn == turn:
                    self._effects.prepare(fact)
            case facts.ActionAsked():
                self._effects.act(fact, turn)
            case _ if isinstance(fact, rules.Deciding):
                self._decide(fact)
            case _:
                self._arrange(fact)

    def _arrange(self, fact: facts.HostFact) -> None:
        """Act on facts that are not about a turn."""
        match fact:
            case facts.SectionBegun() | facts.DocumentEnded():
                self._effects.reading.learn(fact)
            case facts.VoiceMoved():
                self._preview.handle(fact)
            case facts.VoiceAdopted(name, waits):
                self._preview.adopted()
                self._change(SettingKey.VOICE, name)
                said = events.Notice.of("{name} speaks from the next sentence on.", name=name)
                if not waits:  # else it is said who speaks until then
                    self._emit(said)
            case facts.ModelChosen(changes):
                self._apply(changes, anew=True)
                self._workers.model_manager.post(ListModels())  # another model is in use now
            case facts.ConversationRead() | commands.NewConversation():
                self._effects.switch(fact)
            case facts.Titled():
                self._effects.pass_on_title(fact)
            case Devices(microphones, loudspeakers):
                audio = self._preferences.settings.audio
                names = (microphones, loudspeakers, audio.microphone, audio.loudspeaker)
                self._emit(events.DevicesChanged(*names))
                self._preferences.reconnect(fact, self._status)
            case _:
                assert_never(fact)

    def _show(self, event: Event) -> None:
        """Show an event of another thread, after the parts that react to it have seen it."""
        match event:
            case events.PartialTranscript(turn) if turn != self._floor.turn:
                return
            case events.ClipInspected():
                event = self._status.inspected(event)
            case events.Failed():
                self._preview.failed(event)
                self._status.on_failed(event)
            case VoicesListed():
                self._preview.listed(event)
            case ClipRecording():
                self._preview.recorded(event)
            case events.VoicesChanged(selected=selected):
                self._preview.known(selected)
                self._status.on_voices(event)
            case events.Loading():
                self._status.on_loading(event)
            case events.Ready():
                self._status.on_ready(event)
        self._emit(event)
        self._effects.reading.see(event)
        if isinstance(event, events.Failed):
            self._decide(event)
        elif isinstance(event, events.Ready) and self._status.models_ready:
            # work of the start that can wait was delayed until now
            self._effects.use_quiet(self._floor.phase)

    # ------------------------------------------------------------------- decisions

    def _decide(self, fact: rules.Deciding) -> None:
        if isinstance(fact, facts.Peeked | facts.Transcribed):
            fact = self._effects.with_wish(fact, rings=self._ringing.sounds)
        reply_words = (
            self._log.reply_words(self._floor.turn) if self._floor.candidate else frozenset()
        )
        outcome = rules.advance(self._floor, fact, reply_words)
        self._floor = outcome.floor
        if outcome.orders:
            self._moved_at = time.monotonic()
        for order in outcome.orders:
            if isinstance(order, Answer):
                self._effects.answer(order.turn, order.said)
                continue
            self._effects.carry_out(order)
            if isinstance(order, EndTurn):
                self._ringing.turn_ended(order.turn, order.ending)

    def _change(self, key: str, value: Value) -> None:
        self._apply(((key, value),))

    def _apply(self, changes: Changes, origin: int = 0, *, anew: bool = False) -> None:
        """Change settings of one part; see Preferences.change()."""
        if (SettingKey.MUTED, True) in changes and self._floor.phase is Phase.LISTENING:
            self._decide(commands.StopReply())  # drops the user's speech so far
        try:
            self._preferences.change(changes, time.monotonic(), origin, anew=anew)
        except EngineError:
            self._preferences.tell(changes, origin)  # a host may already show the refused value
            raise
        for key, _ in changes:
            if key in self._on_changed:
                self._on_changed[key]()

    def _follow_audio(self) -> None:
        audio = self._preferences.settings.audio
        self._floor = replace(self._floor, hands_free=audio.hands_free, headset=audio.headset)
        self._attend()

    def _follow_language(self) -> None:
        if self._floor.phase is Phase.IDLE:  # else from the next question on
            self._effects.follow_language()

    def _attend(self) -> None:
        """Send the ears what to listen for in this phase."""
        floor, preview = self._floor, self._preview
        preview.phase_is(floor.phase)
        self._workers.ears.post(
            attention(
                floor,
                records=preview.recording,
                previews=preview.hearing,
                rings=self._ringing.sounds,
            )
        )
        heeds = floor.phase is Phase.THINKING and not isinstance(floor.asked, ReadOut)
        self._workers.controls.ring_waits = floor.phase is Phase.LISTENING or heeds
