"""A person at the real window, for test_window.py: a process of its own on a display of its own.

    python -m tests.end_to_end.window_story FOLDER

Everything is real: app.program.run, the engine, PortAudio on a virtual sound card; the person's
ears and mouth are that card, the hands are key presses and a drop. Facts go to FOLDER/facts.json,
what the loudspeaker played to WAVs beside it. Invariant: the story judges nothing but whether it
can go on; a chapter that waits too long ends it.
"""

import dataclasses
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import QMimeData, QPoint, Qt, QTimer, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.program import make_application, run
from app.window import Window
from engine import api
from engine.text.syllables import count
from tests.end_to_end.spoken import write_questions
from tests.help.fakes.parts import FORMANT
from tests.help.machine.virtual_audio import VirtualAudio, virtual_audio

QUESTION = "convert ten miles to kilometers"
# Open syllables: each is one hill of loudness, so they can be counted in the recording.
LONG = "banana potato tomato and the buttered pecan cookie they did bake today " * 4
SLOW_SPS, PAGES_UP = 2.5, 3  # Page Up is one syllable per second
SLOW_S, FAST_S = 6.0, 5.0  # how long each rate is listened to
PATIENCE_S = 90.0
E = TypeVar("E", bound=api.Event)
Wait = tuple[str, Callable[[], object]]


class Story:
    """What happens, chapter by chapter; each waits for the window or the engine."""

    def __init__(self, card: VirtualAudio | None, folder: Path) -> None:
        self.facts: dict[str, Any] = {}
        self.events: list[tuple[float, api.Event]] = []
        self._card = card
        self._folder = folder
        self._open = ExitStack()  # recordings under way
        self._chapters = self._tell()
        self._waiting: Wait = ("the window", lambda: True)
        self._deadline = time.monotonic() + PATIENCE_S
        self._began_at = time.monotonic()

    # ------------------------------------------------------------- how it is told

    def make_engine(self, settings: api.Settings, emit: Callable[[api.Event], None]) -> api.Engine:
        self.facts["first_frame_s"] = time.monotonic() - self._began_at

        def keep(event: api.Event) -> None:
            self.events.append((time.monotonic(), event))
            emit(event)

        return api.Engine(settings, keep, **self.parts())

    def parts(self) -> dict[str, Any]:
        """The files and devices of the engine."""
        return {"settings_path": self._folder / "settings.toml"}

    def go_on(self) -> None:
        """Called often by a timer: the next step once its condition holds."""
        what, condition = self._waiting
        if time.monotonic() > self._deadline:
            self.facts["stuck"] = what
            self._chapters.close()
            self._waiting = ("the end", lambda: False)
            self._deadline = float("inf")
            self.window.close()
        elif condition():
            self._waiting = next(self._chapters, ("the end", lambda: False))
            self._deadline = time.monotonic() + PATIENCE_S

    @property
    def window(self) -> Window:
        return next(w for w in QApplication.topLevelWidgets() if isinstance(w, Window))

    def of(self, kind: type[E], after: int = 0) -> list[E]:
        """Events of a kind, of those that came after the first `after`."""
        return [event for _, event in self.events[after:] if isinstance(event, kind)]

    # -------------------------------------------------------------- what happens

    def _tell(self) -> Iterator[Wait]:
        with self._open:
            yield "every part", lambda: {e.part for e in self.of(api.Ready)} == set(api.Part)
            self.window.activateWindow()  # there is no window manager here to do it
            yield "the keyboard", self.window.isActiveWindow
            self.window.first_start.leave.click()
            yield "the end of the first steps", lambda: not self.window.first_start.isVisible()
            yield from self._ask_aloud()
            yield from self._pull_the_slider()
            yield from self._drop_a_recording()
            yield from self._close_while_it_speaks()

    def _ask_aloud(self) -> Iterator[Wait]:
        question = write_questions(self._folder / "question.wav", QUESTION)
        recording = self._open.enter_context(ExitStack())
        recording.enter_context(self._card.recording(self._folder / "answer.wav"))
        mouth = self._card.speaking(question)
        yield "the question to be heard", lambda: self.of(api.Heard)
        yield "a word to be marked", lambda: self.window.conversation.word_rects()
        yield "the end of the answer", lambda: self.of(api.TurnEnded)
        yield from self._pause(0.5)
        recording.close()
        mouth.wait(timeout=10)
        self.facts["turn"] = self._plain(self.of(api.TurnEnded)[0])
        self.facts["shown"] = self.window.conversation.toPlainText()

    def _pull_the_slider(self) -> Iterator[Wait]:
        self._press(Qt.Key.Key_Home, Qt.Key.Key_PageUp)  # own pace, then a step up from there
        slider = self.window.stage.rate.slider
        while slider.rate is None or slider.rate > SLOW_SPS + 0.05:
            self._press(Qt.Key.Key_Left)
        seen = len(self.events)
        yield "the slow rate", lambda: self._rate_in_force(SLOW_SPS)
        recording = self._open.enter_context(ExitStack())
        recording.enter_context(self._card.recording(self._folder / "rates.wav"))
        self._type(f"repeat after me {LONG}")
        yield "the reply to be audible", lambda: self.of(api.WordHeard, seen)
        began = time.monotonic()
        yield from self._pause(SLOW_S)
        pulled = time.monotonic()
        self._press(*[Qt.Key.Key_PageUp] * PAGES_UP)
        yield from self._pause(FAST_S)
        self.facts["target"] = slider.rate
        self.facts["readout"] = self.window.stage.rate.readout.text()
        self.facts["pulled_s"] = pulled - began
        QTest.keyClick(self.window.windowHandle(), Qt.Key.Key_Escape)
        yield "the reply to stop", lambda: self.of(api.TurnEnded, seen)
        yield from self._pause(0.5)
        recording.close()
        ended = self.of(api.TurnEnded, seen)[0]
        self.facts["stopped"] = self._plain(ended)
        self.facts["words"] = [
            (at - began, count(ended.reply[event.start : event.end]))
            for at, event in self.events[seen:]
            if isinstance(event, api.WordHeard)
        ]

    def _drop_a_recording(self) -> Iterator[Wait]:
        clip = self._folder / "answer.wav"
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(clip))])
        window, copy = self.window, Qt.DropAction.CopyAction
        keys = (Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
        enter = QDragEnterEvent(QPoint(200, 200), copy, data, *keys)
        QApplication.sendEvent(window.side.voices, enter)
        self.facts["drop_accepted"] = enter.isAccepted()
        drop = QDropEvent(QPoint(200, 200), copy, data, *keys)
        QApplication.sendEvent(window.side.voices, drop)
        yield "the recording to be inspected", lambda: self.of(api.ClipInspected)
        sheet = window.side.voices.sheet
        yield "what was found to be shown", lambda: "level" in sheet.facts.text()
        self.facts["clip"] = self._plain(self.of(api.ClipInspected)[0])
        self.facts["clip_shown"] = [sheet.title.text(), sheet.facts.text(), sheet.advice.text()]

    def _close_while_it_speaks(self) -> Iterator[Wait]:
        seen = len(self.events)
        self._type(f"repeat after me {LONG}")
        yield "the last reply to be audible", lambda: self.of(api.WordHeard, seen)
        yield "the reply to be shown", lambda: self.of(api.ReplyDelta, seen)
        self.facts["phase_when_closed"] = self.of(api.PhaseChanged)[-1].phase.name
        self.facts["closed_at"] = time.monotonic()
        self.window.close()
        self.facts["hidden_at_once"] = not self.window.isVisible()

    # ------------------------------------------------------------------- its means

    def _press(self, *keys: Qt.Key) -> None:
        """Keys for the slider, given to the window as the window system does."""
        self.window.stage.rate.slider.setFocus()
        for key in keys:
            QTest.keyClick(self.window.windowHandle(), key)

    def _type(self, text: str) -> None:
        line = self.window.composer.line
        line.setFocus()
        line.insert(text[:-1])  # one by one takes a while
        QTest.keyClicks(line, text[-1])
        QTest.keyClick(self.window.windowHandle(), Qt.Key.Key_Return)

    def _pause(self, seconds: float) -> Iterator[Wait]:
        until = time.monotonic() + seconds
        yield f"{seconds} s", lambda: time.monotonic() > until

    def _rate_in_force(self, rate: float) -> bool:
        changes = [e.value for e in self.of(api.SettingChanged) if e.key == "speech.rate"]
        return bool(changes) and changes[-1] == rate

    def _plain(self, event: api.Event) -> dict[str, Any]:
        return dataclasses.asdict(event)  # type: ignore[call-overload]

    def end(self, status: int) -> None:
        """The facts that are known once run() has returned."""
        self.facts["status"] = status
        self.facts["closing_s"] = time.monotonic() - self.facts.pop("closed_at", 0.0)
        for thread in threading.enumerate():
            if thread is not threading.current_thread():
                thread.join(timeout=5)  # one is just leaving
        self.facts["last_event"] = type(self.events[-1][1]).__name__
        self.facts["stopped_events"] = len(self.of(api.Stopped))
        self.facts["turns"] = [self._plain(event) for event in self.of(api.TurnEnded)]
        self.facts["threads"] = [thread.name for thread in threading.enumerate()]
        self.facts["failed"] = [event.message for event in self.of(api.Failed)]
        self.facts["ready"] = {event.part.value: event.name for event in self.of(api.Ready)}
        facts = json.dumps(self.facts, indent=1, default=str)
        (self._folder / "facts.json").write_text(facts)


def main() -> None:
    folder = Path(sys.argv[1])
    application = make_application()
    with virtual_audio(folder / "card") as card:
        story = Story(card, folder)
        clock = QTimer(application)
        clock.timeout.connect(story.go_on)
        clock.start(20)
        status = run(FORMANT, story.make_engine)
        clock.stop()
        story.end(status)


if __name__ == "__main__":
    main()
