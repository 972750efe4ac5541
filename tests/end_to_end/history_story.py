"""A person and what was kept of earlier talk and timers, for test_history.py; each part is a
process of its own.

    python -m tests.end_to_end.history_story talk|find FOLDER

`talk` asks twice, sets two timers and is killed in the middle of the last reply; `find` is the next
start. Window, skills, voice and file are real, the loudspeaker is in memory. Facts go to
FOLDER/PART.json.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox

from app.conversation.transcript import ReplyWord, Span
from app.program import make_application, run
from engine import api
from engine.history.store import NAME
from engine.runtime.factories import standard_factories
from engine.settings import HistorySettings
from tests.end_to_end.window_story import LONG, QUESTION, Story, Wait
from tests.faults.whole import LOADED, Devices
from tests.help.fakes.parts import FORMANT

FIRST = "spell cat"
TIMERS = ("set a timer for ten minutes called tea", "set an egg timer for 60 seconds")
ASKED = 5  # turns before the kill
WORD = "16.09"  # of the second answer


class HistoryStory(Story):
    def parts(self) -> dict[str, Any]:
        return {
            "timers_path": self._folder / "timers.json",
            "history_path": self._folder / NAME,
            "factories": Devices().in_place_of(standard_factories()),
        }

    def tell_facts(self, part: str) -> None:
        (self._folder / f"{part}.json").write_text(json.dumps(self.facts, default=str))

    def _ready(self) -> Iterator[Wait]:
        yield "every part", lambda: {each.part for each in self.of(api.Ready)} >= LOADED
        self.window.activateWindow()
        yield "the keyboard", self.window.isActiveWindow


class Talk(HistoryStory):
    def _tell(self) -> Iterator[Wait]:
        yield from self._ready()
        for turn, question in enumerate((FIRST, QUESTION, *TIMERS), 1):
            self._type(question)
            yield f"answer {turn}", lambda turn=turn: len(self.of(api.TurnEnded)) == turn
        self.facts["replies"] = [each.reply for each in self.of(api.TurnEnded)]
        timers = ((at, each) for at, each in self.events if isinstance(each, api.TimersChanged))
        self.facts["tea_set_at"] = next(at for at, each in timers if each.timers)
        seen = len(self.events)
        self._type(f"repeat after me {LONG}")
        yield "a word of the last reply", lambda: self.of(api.WordHeard, seen)
        yield "its question to be written", lambda: self.of(api.ConversationsChanged, seen)
        self.tell_facts("talk")
        os.kill(os.getpid(), signal.SIGKILL)


class Find(HistoryStory):
    def _tell(self) -> Iterator[Wait]:
        yield from self._ready()
        yield "what rang late", lambda: self.of(api.TimerRang)
        yield "its turn to be over", lambda: self.of(api.TurnEnded)
        self.facts["rang"] = [each.text for each in self.of(api.TimerRang)]
        self.facts["cards"] = [
            (card.timer.label, card.left.text(), time.monotonic())
            for card in self.window.timers.cards
            if card.timer.rang_at is None
        ]
        QTest.keyClick(
            self.window.windowHandle(), Qt.Key.Key_B, Qt.KeyboardModifier.ControlModifier
        )
        yield "the list", lambda: self._kept() == 2  # and what rang
        yield from self._search("zebra", 0)
        yield from self._search("kilometers", 1)
        yield from self._open_again()
        yield from self._hear_again()
        yield from self._delete()
        self.window.close()

    def _search(self, text: str, count: int) -> Iterator[Wait]:
        history = self.window.history
        history.search.clear()
        QTest.keyClicks(history.search, text)
        yield f"{count} for {text}", lambda: self._kept() == count

    def _kept(self) -> int:
        """Conversations in the list, without the headings of days."""
        rows = self.window.history.rows
        data = (rows.item(at).data(Qt.ItemDataRole.UserRole) for at in range(rows.count()))
        return sum(isinstance(each, api.KeptConversation) for each in data)

    def _open_again(self) -> Iterator[Wait]:
        rows = self.window.history.rows
        rows.setCurrentRow(0)
        QTest.keyClick(rows, Qt.Key.Key_Return)
        yield "the conversation", lambda: self.of(api.ConversationOpened)
        view = self.window.conversation
        yield "its words", lambda: len(view.transcript.exchanges) == ASKED
        self.facts["shown"] = view.toPlainText()

    def _hear_again(self) -> Iterator[Wait]:
        view, seen = self.window.conversation, len(self.events)
        exchange = view.transcript.exchanges[1]
        start = exchange.reply.index(WORD)
        view.verticalScrollBar().setValue(0)
        place = ReplyWord(exchange, Span(start, start + len(WORD)))
        at = view._rects(place)[0].center().toPoint()
        QTest.mouseClick(
            view.viewport(),
            Qt.MouseButton.LeftButton,
            pos=at - QPoint(0, view.verticalScrollBar().value()),
        )
        yield "a word to be heard again", lambda: self.of(api.WordReplayed, seen)
        yield "its end", lambda: self.of(api.ReplayEnded, seen)
        words = self.of(api.WordReplayed, seen)
        self.facts["replayed"] = [exchange.reply[each.start : each.end] for each in words]
        self.facts["deltas"] = len(self.of(api.ReplyDelta, seen))

    def _delete(self) -> Iterator[Wait]:
        history = self.window.history
        history.search.clear()
        yield "the whole list", lambda: self._kept() == 2
        history.rows.setFocus()
        history.rows.selectAll()
        QTest.keyClick(history.rows, Qt.Key.Key_Delete)
        yield "the question", lambda: history.findChild(QMessageBox) is not None
        history.findChild(QMessageBox).accept()
        yield "an empty list", lambda: self._kept() == 0
        self.facts["left"] = len(self.window.conversation.transcript.exchanges)


def main() -> None:
    part, folder = sys.argv[1], Path(sys.argv[2])
    application = make_application()
    story = {"talk": Talk, "find": Find}[part](None, folder)
    clock = QTimer(application)
    clock.timeout.connect(story.go_on)
    clock.start(20)
    settings = replace(FORMANT, history=HistorySettings(keep="forever"))
    story.facts["status"] = run(settings, story.make_engine)
    clock.stop()
    story.tell_facts(part)


if __name__ == "__main__":
    main()
