"""The row that adds the voices to speech-dispatcher, for Orca and other programs."""

from PySide6.QtWidgets import QWidget

from app.background_job import own_command
from app.language import tr, translated
from app.look.controls import button
from app.look.label import WrappingLabel
from app.look.layout import LEFT, column, placed
from engine import api
from engine.api import EngineError


class ScreenReaderRow(QWidget):
    """Installs or removes the module of speech-dispatcher. Linux only."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._installation = api.SpeechDispatcherInstallation()
        self.words = WrappingLabel("", self)
        self.change = button("", self, self._on_change)
        column(self.words, placed(LEFT, self.change), on=self, spacing=8)
        self._show()

    def _on_change(self) -> None:
        fault = ""
        try:
            if self._installation.is_installed:
                self._installation.remove()
            else:
                self._installation.install([*own_command(), *api.MODULE_COMMAND])
        except EngineError as error:
            fault = f"{translated(error.message)} {translated(error.hint)}"
        self._show(fault)

    def _show(self, fault: str = "") -> None:
        is_there = self._installation.is_installed
        state = tr(
            "Choose the speech synthesizer “rubato” in Orca's settings, from the next login on."
        )
        offer = tr(
            "Orca and other programs that use speech-dispatcher can speak with these voices."
        )
        self.words.say(fault or (state if is_there else offer), kind="danger" if fault else "muted")
        self.change.setText(
            tr("&Remove from speech-dispatcher") if is_there else tr("&Add to speech-dispatcher")
        )
