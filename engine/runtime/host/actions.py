"""Actions of the language model or a skill on the assistant itself: rate, volume, voice, timers.

Invariant: an action takes the same path as the user's own slider. Actions in a turn that turns out
not to be over are undone.
"""

import difflib
from dataclasses import dataclass, field

from engine import names_file
from engine.errors import InvalidInput
from engine.llm import base as llm
from engine.llm.skills.control import speech_wish
from engine.llm.skills.timers.changing import ring_wish
from engine.messages.commands import ChangeSetting
from engine.messages.events import Notice
from engine.messages.timers import CancelTimers, ExtendTimers, PauseTimers, TimerSet
from engine.runtime.host.port import ConductorPort
from engine.runtime.host.timers import Timers
from engine.settings import SLOWEST, SettingKey, Settings, value_of
from engine.text.names import Name, Names

# The settings that actions change, in the order of restoring: a voice changes its rate too.
_KEYS: dict[str, set[type[llm.Action]]] = {
    SettingKey.VOLUME: {llm.ChangeVolume},
    SettingKey.VOICE: {llm.ChooseVoice},
    SettingKey.RATE: {llm.ChangeRate, llm.ChooseVoice},
}
USUAL_SPS = 4.0  # base of "slower" if the voice has its own pace


class Actions:
    """Applies actions on the assistant itself."""

    def __init__(self, timers: Timers, port: ConductorPort) -> None:
        self._timers = timers
        self._port = port
        self._applied: _Applied | None = None  # None = nothing to undo
        self._private = False
        self._private_name = ""

    def begin(self, *, private: bool) -> None:
        """Begin another conversation; a name from a private one is forgotten with it."""
        self._private, self._private_name = private, ""

    @property
    def person(self) -> str:
        """The name of the user; empty = unknown."""
        return self._private_name or self._port.settings().person.name

    def apply(self, action: llm.Action, turn: int | None = None) -> None:
        """Apply an action; with a turn, undo() can revert it. InvalidInput for an unknown voice."""
        if turn is not None:
            if self._applied is None or self._applied.turn != turn:
                self._applied = _Applied(
                    turn,
                    self._port.settings(),
                    self.person,
                    self._timers.timers,
                    names_file.in_force(),
                )
            self._applied.kinds.add(type(action))
            if isinstance(action, ChangeSetting):
                self._applied.keys[action.key] = None
            elif isinstance(action, llm.LearnSound | llm.ForgetSound):
                self._applied.sounds.add(action.written)
        self._carry_out(action, self._port.state())

    def _carry_out(self, action: llm.Action, state: llm.AssistantState) -> None:
        match action:
            case llm.ChangeRate():
                self._port.change(SettingKey.RATE, _rate(action, state))
            case llm.ChangeVolume(by, to):
                wanted = to if to is not None else state.volume + (by or 0.0)
                self._port.change(SettingKey.VOLUME, min(1.0, max(0.0, wanted)))
            case llm.ChooseVoice(name):
                self._port.change(SettingKey.VOICE, _voice(name, state.voices))
            case llm.StartTimer():
                self._timers.start(action)
            case llm.RememberName(name):
                self._remember(name)
            case llm.LearnSound() | llm.ForgetSound():
                self._change_sound(action)
            case llm.StopSpeaking():
                pass  # the request took the floor, which has already stopped the reply
            case _:
                self._port.receive(action)

    def _remember(self, name: str) -> None:
        """Remember a name. A private conversation saves no name, but can delete one."""
        before = self._port.settings().person.name
        self._private_name = name if self._private else ""
        if not self._private or not name:
            self._port.change(SettingKey.NAME, name)
            # It is recognised in place of the one before; one whose sound was taught stays.
            known = names_file.in_force()
            if before and Name(before) in known:
                names_file.remove(before, "")
            if name and all(each.key != Name(name).key for each in known):
                names_file.add([Name(name)])

    def _change_sound(self, action: llm.LearnSound | llm.ForgetSound) -> None:
        """Change the list of names. InvalidInput in a private conversation, which saves none."""
        if self._private:
            raise InvalidInput(
                "A private conversation keeps no names.",
                hint="Add it on the page of names in the settings.",
            )
        if isinstance(action, llm.LearnSound):
            names_file.add([Name(action.written, action.said)])
        else:
            names_file.remove(action.written)

    def apply_spoken_wish(self, said: str, turn: int | None = None) -> bool:
        """Apply a wish spoken during a reply: about its sound, or to silence a ringing timer. It
        gets no reply; a notice shows the new value. False for other speech. `turn` as in apply().
        """
        wish = ring_wish(said, self._port.state()) or speech_wish(said)
        if wish is None:
            return False
        before = self._port.settings().speech.rate
        self.apply(wish, turn)
        if isinstance(wish, llm.ChangeRate):
            self._port.emit(_rate_notice(before, self._port.settings().speech.rate))
        elif isinstance(wish, llm.ChangeVolume):
            percent = f"{100 * self._port.settings().audio.volume:.0f}"
            self._port.emit(Notice.of("volume: {percent} %", percent=percent))
        return True

    def silences_ring(self, said: str) -> bool:
        """Return whether the words dismiss or snooze a ringing timer."""
        return ring_wish(said, self._port.state()) is not None

    def undo(self, turn: int) -> None:
        """The turn is not over and will be answered again: restore the state before its actions."""
        applied = self._applied
        if applied is None or applied.turn != turn:
            return
        self._applied = None
        of_actions = [key for key in _KEYS if applied.kinds & _KEYS[key]]
        for key in (*applied.keys, *of_actions):
            self._port.change(key, value_of(applied.before, key))
        if applied.sounds:
            names_file.restore(applied.sounds, applied.names)
        if llm.RememberName in applied.kinds:
            self._remember(applied.person)
        if applied.kinds & {llm.StartTimer, CancelTimers, PauseTimers, ExtendTimers}:
            self._timers.restore(applied.timers)


@dataclass
class _Applied:
    """The state before the first action of a turn, and the kinds of its actions."""

    turn: int
    before: Settings
    person: str
    timers: tuple[TimerSet, ...]
    names: Names
    kinds: set[type[llm.Action]] = field(default_factory=set)
    sounds: set[str] = field(default_factory=set)  # names whose sound was changed
    keys: dict[str, None] = field(default_factory=dict)  # keys of settings, in the order of changes


def _rate(action: llm.ChangeRate, state: llm.AssistantState) -> float | None:
    if action.by is None and action.to is None:
        return None
    wanted = action.to if action.to is not None else (state.rate or USUAL_SPS) + (action.by or 0.0)
    return min(state.settings.speech.fastest, max(SLOWEST, wanted))


def _rate_notice(before: float | None, now: float | None) -> Notice:
    """Return the result of a wish that gets no reply: "slower: 3.3"."""
    if now is None:
        return Notice.of("own pace")
    rate = f"{now:.1f}"
    if now == before:
        return Notice.of("as before: {rate}", rate=rate)
    if now < (before or USUAL_SPS):
        return Notice.of("slower: {rate}", rate=rate)
    return Notice.of("faster: {rate}", rate=rate)


def _voice(name: str, voices: tuple[str, ...]) -> str:
    by_lower = {voice.lower(): voice for voice in voices}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.5)
    if not close:
        raise InvalidInput(
            "There is no voice called {name}.",
            hint="There are: {names}.",
            name=name,
            names=", ".join(voices),
        )
    return by_lower[close[0]]
