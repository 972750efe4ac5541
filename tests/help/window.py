"""What tests of the window share: events that reach it, and characters that it must not show."""

import re

from PySide6.QtWidgets import QApplication

from app.window import Window
from engine import api

# Escape sequences, other control characters, and overrides of direction.
ORDERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def tell(window: Window, *events: api.Event) -> None:
    """Let the window receive events of the engine, and do what they cause."""
    for event in events:
        window.on_event(event)
    QApplication.processEvents()
