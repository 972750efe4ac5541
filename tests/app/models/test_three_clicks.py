"""From a fresh start to a real model and the recommended recogniser in at most three clicks."""

import time
from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication

from app.look.theme import Theme
from app.window import Window
from engine.api import Command, Part, Ready, SendText, Settings
from engine.models import listing
from tests.engine.llm.conftest import write_gguf
from tests.engine.models.small_catalogue import small_hub
from tests.faults.whole import PATIENCE_S, Whole, whole


class Person:
    """Sees the window, and clicks; events come to it in the order the engine tells them."""

    def __init__(self, engine: Whole, theme: Theme) -> None:
        self.clicks = 0
        self._engine = engine
        self._seen = 0
        self.window = Window(Settings(), self._post, theme)
        self.window.show()

    def _post(self, command: Command) -> None:
        self._engine.post(command)

    def click(self, button: QAbstractButton) -> None:
        self.see(lambda: button.isVisible() and button.isEnabled())
        for _ in range(3):
            QApplication.processEvents()  # it stands where it will be
        self.clicks += 1
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    def leave(self) -> None:
        self.window.hide()
        self.window.deleteLater()

    def see(self, condition: Callable[[], object], patience_s: float = PATIENCE_S) -> None:
        deadline = time.monotonic() + patience_s
        while not condition():
            assert time.monotonic() < deadline, self._engine.events[-20:]
            for event in list(self._engine.events)[self._seen :]:
                self._seen += 1
                self.window.on_event(event)
            QApplication.processEvents()
            time.sleep(0.01)


pytest.importorskip("llama_cpp")
pytestmark = pytest.mark.slow
MOST_CLICKS = 3
SMALL = listing.Machine(4_000, 2)
QUESTION = "who wrote Hamlet"


def test_three_clicks_lead_to_a_real_language_model_and_the_recommended_recogniser(
    qapp, theme, tmp_path, monkeypatch
):
    write_gguf(tmp_path / "tiny.gguf")
    tiny = (tmp_path / "tiny.gguf").read_bytes()
    monkeypatch.setattr(listing, "this_machine", lambda: SMALL)
    monkeypatch.setattr("engine.runtime.workers.model_manager.this_machine", lambda: SMALL)
    files = {"Qwen3-1.7B-Q4_K_M.gguf": tiny}
    with small_hub(tmp_path / "data", monkeypatch, files), whole() as engine:
        person = Person(engine, theme)
        person.window._send(SendText(QUESTION))  # typed: no click
        person.click(person.window.conversation.tools.model_link)
        page = person.window.models.open()
        person.see(lambda: "whisper-base" in page.rows)
        assert "1.4 GB" in page.recommended.act.text()
        person.click(page.recommended.act)
        person.see(lambda: page.rows["qwen3-1-7b"].entry.in_use)
        person.see(lambda: page.rows["whisper-base"].entry.in_use)

        def thinks() -> bool:
            ready = [each for each in engine.of(Ready) if each.part is Part.LANGUAGE_MODEL]
            return ready[-1].name == "llama"

        person.see(thinks)
        assert person.clicks <= MOST_CLICKS
        person.leave()
