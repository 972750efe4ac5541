"""A conversation without a window: microphone and loudspeaker are files or devices.

Invariant: the same engine as behind the window. Files run in real time, so every measured time is
that of a real conversation.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from engine.audio.devices.file_device import FileLoudspeaker, FileMicrophone
from engine.errors import DeviceError, EngineError, InvalidInput
from engine.export import check_sound, check_suffix, write_error
from engine.messages.events import (
    Event,
    Failed,
    Loading,
    PhaseChanged,
    Ready,
    TurnEnded,
)
from engine.messages.words import Part, Phase
from engine.runtime.conductor import Conductor
from engine.runtime.factories import Factories, standard_factories
from engine.runtime.headless.say_command import check_writable
from engine.settings import Settings

FILE_RATE = 48_000  # Hz of the loudspeaker file
QUIET_S = 1.0  # the conversation is over this long after the end of the file, if nothing follows
READY_S = 120.0  # without progress: loading takes seconds, many gigabytes a minute
LOOK_S = 0.05
STAND_IN_S = 2.0  # a substitute for a failed part starts loading well within this
NEEDED = frozenset({Part.MICROPHONE, Part.RECOGNISER, Part.LANGUAGE_MODEL, Part.SYNTHESISER})
ANOTHER_EAR = "Or give a recording to listen to, with --mic FILE."
UNMUTE = "Unmute it in the window. Or give a recording to listen to, with --mic FILE."


def converse(
    settings: Settings,
    *,
    microphone: Path | None,
    loudspeaker: Path | None,
    show: Callable[[Event], None],
    exports: Sequence[Path] = (),
    factories: Factories | None = None,
) -> tuple[TurnEnded, ...]:
    """Talk until the microphone's file ends, or (with a device) until interrupted.

    `microphone` and `loudspeaker` None: the devices of the settings. `show` gets every event.
    `exports`: files for the conversation; their suffixes select the format. `factories` None: the
    standard ones. UnreadableClip for an unreadable microphone file, InvalidInput for a file that
    cannot be written, EngineError if a necessary part cannot be loaded.
    """
    if microphone is None and settings.audio.muted:
        raise InvalidInput("The microphone is muted.", hint=UNMUTE)
    for path in exports:  # better known before than after
        check_suffix(path)
        check_writable(path)
    if loudspeaker is not None:
        check_sound(loudspeaker)
        check_writable(loudspeaker)
    talk = _Talk(microphone, loudspeaker, show)
    conductor = Conductor(
        talk.on(factories or standard_factories()), talk.fit(settings), None, talk.receive
    )
    conductor.start()
    try:
        try:
            talk.wait_ready()
            talk.begin()
            while not talk.over():
                time.sleep(LOOK_S)
        finally:
            conductor.stop()
    finally:  # however it ended
        talk.close(conductor.keep, exports)
    return tuple(talk.turns)


class _Talk:
    """Holds the files back until every part is ready, and notices the end of the conversation."""

    def __init__(
        self, microphone: Path | None, loudspeaker: Path | None, show: Callable[[Event], None]
    ) -> None:
        self._begun_at: float | None = None  # None = the files' clock stands still
        self._show = show
        self._ready: set[Part] = set()
        # faults of parts that failed to load, without a substitute so far; not shown yet
        self._broken: dict[Part | None, Failed] = {}
        self._broken_at = 0.0  # the last of them
        self._phase = Phase.IDLE
        self._idle_since = time.monotonic()
        self._progress_at = time.monotonic()  # time of the last loading progress
        self._microphone = FileMicrophone(microphone, clock=self._clock) if microphone else None
        self._loudspeaker = loudspeaker
        self._file: FileLoudspeaker | None = None  # the open output file; None = not opened yet
        self.turns: list[TurnEnded] = []

    def fit(self, settings: Settings) -> Settings:
        """Return these settings without the devices that files replace."""
        audio = settings.audio
        if self._microphone is not None:  # it does not hear the loudspeaker
            audio = replace(audio, microphone="", muted=False, hands_free=True, headset=True)
        if self._loudspeaker is not None:
            audio = replace(audio, loudspeaker="")
        return replace(settings, audio=audio)

    def on(self, factories: Factories) -> Factories:
        """Return these factories without a window, with the given files instead of devices."""
        factories, microphone = replace(factories, has_window=False), self._microphone
        if microphone is not None:
            factories = replace(factories, microphone=lambda name: microphone, devices=_NoChange())
        if self._loudspeaker is not None:
            factories = replace(factories, loudspeaker=self._open_file, devices=_NoChange())
        return factories

    def _open_file(self, name: str) -> FileLoudspeaker:
        """Open the loudspeaker's file. DeviceError after a fault of it, such as a full disk."""
        if self._file is not None and self._file.fault is not None:
            raise DeviceError("The recording cannot be written to the disk.", hint="")
        self._file = FileLoudspeaker(self._loudspeaker, FILE_RATE, clock=self._clock)
        return self._file

    def close(self, write: Callable[[Path], None], exports: Sequence[Path]) -> None:
        """Write each of the files, after the engine has stopped. Show every fault except the first,
        which is raised.
        """
        faults = list[EngineError]()
        if self._loudspeaker is not None and self._file is not None and self._file.fault:
            faults.append(write_error(self._loudspeaker, self._file.fault))
        for path in exports if self.begun else ():
            try:
                write(path)
            except EngineError as error:
                faults.append(error)
        for fault in faults[1:]:
            self._show(Failed.of(fault))
        if faults:
            raise faults[0]

    def receive(self, event: Event) -> None:
        for each in self._note(event):
            self._show(each)

    def wait_ready(self) -> None:
        """Wait until the microphone is open and the models have loaded, and none has failed."""
        while self._broken or not self._ready >= NEEDED:
            time.sleep(LOOK_S)
            for part, fault in list(self._broken.items()):
                if time.monotonic() > self._broken_at + STAND_IN_S:
                    hint = f"{fault.hint} {ANOTHER_EAR}" if part is Part.MICROPHONE else fault.hint
                    raise EngineError(fault.message, hint=hint)
            if time.monotonic() > self._progress_at + READY_S:
                raise EngineError("The parts did not load in time.", hint="Run `rubato doctor`.")

    @property
    def begun(self) -> bool:
        return self._begun_at is not None

    def begin(self) -> None:
        """Start the files' clock."""
        self._begun_at = time.monotonic()

    def _clock(self) -> float:
        return time.monotonic() - self._begun_at if self._begun_at is not None else 0.0

    def over(self) -> bool:
        if self._microphone is None or not self._microphone.ended:
            return False
        return self._phase is Phase.IDLE and time.monotonic() - self._idle_since > QUIET_S

    def _note(self, event: Event) -> list[Event]:
        """Return the events to show. A fault that may prevent the conversation is shown only once a
        substitute loads; otherwise it is raised.
        """
        shown = list[Event]()
        if isinstance(event, Loading | Ready | Failed) and event.part in self._broken:
            shown.append(self._broken.pop(event.part))
        match event:
            case Ready(part=part):
                self._ready.add(part)
            case Loading():
                self._progress_at = time.monotonic()
            case Failed(part=part) if part in NEEDED and not self.begun:
                self._broken_at, self._broken[part] = time.monotonic(), event
                return shown
            case PhaseChanged(phase=phase):
                self._phase = phase
                self._idle_since = time.monotonic()
            case TurnEnded() if not event.rejoined:
                self.turns.append(event)
        return [*shown, event]


class _NoChange:
    """Where a file replaces a device, none is watched."""

    def poll(self) -> None:
        """Return no change."""

    def close(self) -> None:
        """Nothing to release."""
