"""The page of an empty conversation: how to begin, questions that work without a download, and two
offers.

Invariant: it covers the conversation only while the conversation is empty.
"""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QWidget

from app.bridge import Post
from app.language import commands, tr
from app.look.controls import button
from app.look.label import Label, WrappingLabel
from app.look.layout import CENTRE, Spring, column, placed, row, wide
from app.look.plain_text import one_line
from app.status.parts import Parts
from engine.api import Event, Part, Ready, SendText

# The built-in skills answer these, which are English.
_EXAMPLES = ("What time is it?", "Convert ten miles to kilometres", "What can you do?")

_NO_MODEL = "skills"  # the part's name while no language model is in use
_EXAMPLE_HEIGHT = 46  # logical pixels, with the room below it
_REST_HEIGHT = 236
_WIDEST = 270  # of an offer, in logical pixels


class Welcome(QWidget):
    """A greeting, a few questions to press, and two offers."""

    def __init__(self, post: Post, parts: Parts, parent: QWidget) -> None:
        super().__init__(parent)
        self._parts = parts
        self._key_label = "Space"
        self._lacks_model = True
        self.title = Label(tr("Say something"), self, size=1.9, strong=True)
        self.how = WrappingLabel("", self, kind="muted", size=1.05)
        for label in (self.title, self.how):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.examples = [
            self._make_example(text, post) for text in commands().get("examples", _EXAMPLES)
        ]
        chips = [placed(CENTRE, each) for each in self.examples]
        above, below = (Spring(2), self.title, self.how, 14), (14, self._make_offers(), Spring(3))
        column(*above, *chips, *below, on=self, margins=(16, 12, 16, 12), spacing=10)
        self._explain()

    def _make_example(self, text: str, post: Post) -> QPushButton:
        chip = button(text, self, lambda: post(SendText(text)), kind="chip", by_tab=True)
        chip.setCursor(Qt.CursorShape.PointingHandCursor)
        return chip

    def _make_offers(self) -> QHBoxLayout:
        self.smarter = Offer(
            tr("A smarter assistant"), tr("Get a language model that answers anything"), self
        )
        self.own_voice = Offer(
            tr("A voice like mine"), tr("Ten seconds of speech, recorded or dropped here"), self
        )
        both = wide(self.smarter, 100), wide(self.own_voice, 100)
        return row(Spring(), *both, Spring(), spacing=10)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """With little room, hide examples, the last one first, and then the offers."""
        super().resizeEvent(event)
        room = (self.height() - _REST_HEIGHT) // _EXAMPLE_HEIGHT
        for number, chip in enumerate(self.examples):
            chip.setVisible(number < room)
        self._show_offers()

    def _show_offers(self) -> None:
        room = self.height() >= _REST_HEIGHT
        self.smarter.setVisible(room and self._lacks_model)
        self.own_voice.setVisible(room)

    def on_event(self, event: Event) -> None:
        if isinstance(event, Ready) and event.part is Part.LANGUAGE_MODEL:
            self._lacks_model = event.name == _NO_MODEL
            self._show_offers()
        self._explain()

    def explain(self, key_label: str) -> None:
        """Say how to begin, with this talk key."""
        self._key_label = key_label
        self._explain()

    def _explain(self) -> None:
        parts = self._parts
        can_be_heard = not (parts.is_muted or parts.cannot_hear or parts.is_starting)
        self.title.setText(tr("Say something") if can_be_heard else tr("Ask something"))
        self.how.setText(self._how())

    def _how(self) -> str:
        """Return the ways to begin that work now, without speaking while it cannot be heard."""
        key = self._key_label
        if self._parts.is_muted:
            return tr("The microphone is muted. Unmute it with Ctrl+U, or type.")
        if self._parts.cannot_hear:
            return tr("I cannot hear you now. Type instead.")
        if self._parts.is_starting:
            return tr("Getting ready. You can type already.")
        if self._parts.is_asleep:
            phrase = one_line(self._parts.wake_phrase)
            return tr("Say “{phrase}”, hold {key} to talk, or type.", phrase=phrase, key=key)
        if self._parts.is_hands_free:
            return tr("Just speak, hold {key} to talk, or type.", key=key)
        return tr("Hold {key} while you speak, or type.", key=key)


class Offer(QPushButton):
    """A button with two lines: what it offers, and how."""

    def __init__(self, what: str, how: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("kind", "offer")
        self.setAccessibleName(what)
        self.setAccessibleDescription(how)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setMaximumWidth(_WIDEST)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        labels = (
            WrappingLabel(what, self, kind="heading", strong=True),
            WrappingLabel(how, self, kind="muted", size=0.92),
        )
        for label in labels:
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        column(*labels, on=self, margins=(16, 12, 16, 12), spacing=2)

    def sizeHint(self) -> QSize:
        """Qt's buttons ignore the size of their layout."""
        return QSize(_WIDEST, self.heightForWidth(_WIDEST))

    def minimumSizeHint(self) -> QSize:
        return QSize(150, self.heightForWidth(150))

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        layout = self.layout()
        return layout.totalHeightForWidth(width) if layout is not None else 0
