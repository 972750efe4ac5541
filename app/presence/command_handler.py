"""Carries out the requests of the command line, the tray and global keys in the window.

Invariant: everything happens as if a button in the window were pressed, so the window shows the
real state.
"""

import os
from collections.abc import Callable

from app.language import tr
from app.look.page import bring_to_front
from app.presence.ipc_client import STATES, Message, Order
from app.presence.selection import read_selection
from app.window import Window
from engine.api import Command, Phase, Speak, StopReply

RATE_STEP = 5  # tenths of a syllable per second: enough to be heard at once


class CommandHandler:
    """Carries out commands in one window, as soon as that exists."""

    def __init__(self) -> None:
        self._window: Window | None = None  # None = it is still being created

    def serve(self, window: Window) -> None:
        self._window = window

    def on_message(self, message: Message) -> str:
        """Carry out a message. Return "" or a sentence with the reason why not; for STATUS one of
        STATES.
        """
        if message.order is Order.STATUS:
            return self._state
        if self._window is None:
            return tr("Rubato is just starting. Try again.")
        if message.order is Order.SHOW:
            self.show(message.token)
        elif message.order is Order.SAY:
            self._window.post(Speak(message.text))
        else:
            self.do(message.order)
        return ""

    def do(self, order: Order) -> None:
        """Carry out a command without arguments."""
        window = self._window
        if window is None:
            return
        talk, slider = window.composer.talk, window.stage.rate.slider
        actions: dict[Order, Callable[[], object]] = {
            Order.PRESS: lambda: talk.hold(True),
            Order.RELEASE: lambda: talk.hold(False),
            Order.TOGGLE: lambda: talk.hold(not talk.is_held),
            Order.STOP: lambda: window.post(StopReply()),
            Order.FASTER: lambda: slider.step(RATE_STEP),
            Order.SLOWER: lambda: slider.step(-RATE_STEP),
            Order.SELECTION: lambda: read_selection(window),
            Order.SHOW: self.show,
        }
        if order in actions:
            actions[order]()

    @property
    def _state(self) -> str:
        if self._window is None:
            return STATES[0]
        phase, parts = self._window.stage.now, self._window.parts
        waits = parts.is_deaf if phase is Phase.LISTENING else parts.is_starting
        starts = waits and phase in (Phase.IDLE, Phase.LISTENING)
        return STATES[0] if starts else phase.value

    @property
    def is_talking(self) -> bool:
        """True while the talk key is held."""
        return self._window is not None and self._window.composer.talk.is_held

    def post(self, command: Command) -> None:
        """Post a command as the window would."""
        if self._window is not None:
            self._window.post(command)

    def show_or_hide(self) -> None:
        """Hide a visible window, otherwise show it: the action of a click on the tray icon."""
        window = self._window
        if window is not None and window.isVisible() and not window.isMinimized():
            window.hide()
        else:
            self.show()

    def show(self, token: str = "") -> None:
        """Bring the window to the front; `token` is the desktop's permission to do so."""
        if self._window is None:
            return
        if token:
            os.environ["XDG_ACTIVATION_TOKEN"] = token  # Qt reads it when it asks for the focus
        if self._window.isMinimized():
            self._window.showNormal()
        bring_to_front(self._window)
