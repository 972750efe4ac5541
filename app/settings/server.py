"""The voices for other programs: the server (`rubato serve`) beside the window, speech-dispatcher,
and their rows in the settings.

Invariant: the server is a separate process, so its clients cannot reach the window's conversation.
It runs while it is switched on and ends with the program.
"""

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from app.background_job import BackgroundJob, own_command, texts_of
from app.language import tr, translated
from app.look.controls import button
from app.look.label import WrappingLabel
from app.look.layout import LEFT, column, placed
from engine import api
from engine.api import EngineError, Settings, Value


class Server(QObject):
    """The server process. `clients`: the addresses of the clients, each with its number of
    connections.

    Signals:
        changed: the server has started or ended, or its clients have changed.
    """

    changed = Signal()

    def __init__(self, settings: Settings, parent: QObject) -> None:
        super().__init__(parent)
        self._chosen: dict[str, Value] = {
            "serve.on": settings.serve.on,
            "serve.network": settings.serve.network,
            "serve.port": settings.serve.port,
            "serve.places": settings.serve.places,
            "serve.names": settings.serve.names,
        }
        self.address = self.token = self.fault = ""
        self.clients: Mapping[str, int] = {}
        self._job = BackgroundJob(self, reported=self._on_report, ended=self._on_ended)

    def begin(self) -> None:
        """Start the server if it is switched on."""
        self.end()
        if self._chosen["serve.on"]:
            keys = ("port", "places", "names")
            more = [f"--{key}={self._chosen[f'serve.{key}']}" for key in keys]
            network = ["--network"] if self._chosen["serve.network"] else []
            self._job.start("serve", "--json", *more, *network)
        self.changed.emit()

    def choose(self, key: str, value: Value) -> None:
        """Apply a setting that the person changed."""
        if key in self._chosen and self._chosen[key] != value:
            self._chosen[key] = value
            self.begin()

    def end(self) -> None:
        """End the server."""
        self._job.end()
        self.address = self.token = self.fault = ""
        self.clients = {}

    @property
    def state(self) -> str:
        """Return one or two sentences on the server's state; empty if it is switched off."""
        if self.fault or not self.address:
            waits = tr("The server starts\u2026") if self._job.is_under_way else ""
            return self.fault or waits
        text = tr("Other programs reach it at {address}.", address=f"{self.address}/v1")
        who = ", ".join(self.clients)
        connected = tr("Connected: {names}.", names=who) if who else tr("Nobody is connected.")
        return f"{text} {connected}"

    def _on_report(self, line: dict[str, Any]) -> None:
        self.address = str(line.get("address", self.address))
        self.token = str(line.get("token", self.token))
        self.clients = line.get("clients", self.clients)
        self.changed.emit()

    def _on_ended(self, document: dict[str, Any] | None) -> None:
        self.end()
        self.fault = " ".join(texts_of(document)) or tr("The server ended.")
        self.changed.emit()


class ServerRow(QWidget):
    """The address of a server, its clients, and its token, which is never shown, only copied."""

    def __init__(self, server: Server, parent: QWidget) -> None:
        super().__init__(parent)
        self._server = server
        self.words = WrappingLabel("", self)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.copy = button(tr("&Copy the token"), self, self._on_copy)
        column(self.words, placed(LEFT, self.copy), on=self, spacing=8)
        server.changed.connect(self._show)
        self._show()

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self._server.token)

    def _show(self) -> None:
        self.words.say(self._server.state, kind="danger" if self._server.fault else "muted")
        self.copy.setVisible(bool(self._server.token))


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
