"""The text that is selected in any program. X11 gives it to everyone, Wayland only to the program
with the focus; there that program is asked over AT-SPI, the interface of screen readers.

Invariant: once the buses are connected, nothing here waits. A program that does not answer in time,
or not as AT-SPI says, has nothing selected.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from jeepney import Message
from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QClipboard, QGuiApplication

from app.actions import read_aloud
from app.language import tr
from app.presence.bus import Address, Bus, signature_of

if TYPE_CHECKING:
    from app.window import Window

_WITHIN_MS: Final = 700
_MOST: Final = 3_000  # objects of the window
_DEEPEST: Final = 100  # objects within each other
_MOST_CHARACTERS: Final = 100_000  # of one object
_ACTIVE, _FOCUSED, _SHOWING = 1, 12, 25  # bits of an object's state
_INNER: Final = "\ufffc"  # stands in a text for an object that has a text of its own
_LAUNCHER: Final = Address("/org/a11y/bus", "org.a11y.Bus", "org.a11y.Bus")
_ROOT: Final = ("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")
_ACCESSIBLE: Final = "org.a11y.atspi.Accessible"
_TEXT: Final = "org.a11y.atspi.Text"
_SIGNATURES: Final = {  # of the results: any program may answer anything
    "GetAddress": "s",
    "GetChildren": "a(so)",
    "GetState": "au",
    "GetSelection": "ii",
    "GetText": "s",
}

Node = tuple[str, str]  # the program's name on the bus, and the object's path
Position = tuple[int, ...]  # the numbers of the children that lead to an object


def read_selection(window: "Window") -> None:
    """Read the text that is selected in any program, or else what was copied."""
    if QGuiApplication.platformName().startswith("wayland"):
        selection = SelectedText(window)
        selection.found.connect(partial(_read_selected, window))
        selection.ask()
    else:
        clipboard = QGuiApplication.clipboard()
        kept = clipboard.supportsSelection()
        _read_selected(window, clipboard.text(QClipboard.Mode.Selection) if kept else "")


def _read_selected(window: "Window", selected: str) -> None:
    nothing = tr("Nothing is selected, and there is no text in the clipboard.")
    text = selected if selected.strip() else QGuiApplication.clipboard().text()
    read_aloud(window, text, nothing)


class SelectedText(QObject):
    """One question for the selected text. `make_bus` makes a connection that is not connected yet.

    Signals:
        found(str): the text; empty = nothing is selected, or no program says so.
    """

    found = Signal(str)

    def __init__(self, parent: QObject, make_bus: Callable[[QObject], Bus] = Bus) -> None:
        super().__init__(parent)
        self._session, self._bus = make_bus(self), make_bus(self)
        self._awaited = 0  # answers
        self._seen = 0  # objects
        self._focus: Position = ()
        self._texts: dict[Position, str] = {}
        self._is_over = False

    def ask(self) -> None:
        """Begin. `found` comes within 0.7 s of the connection."""
        if not self._session.connect_to_session():
            self._end()
            return
        QTimer.singleShot(_WITHIN_MS, self, self._end)
        self._ask(self._session, _LAUNCHER, "GetAddress", self._look_at_programs)

    def _look_at_programs(self, address: str) -> None:
        if self._bus.connect_to(address):
            self._children(_ROOT, self._look_at_program)

    def _look_at_program(self, program: Node, position: Position) -> None:
        self._children(program, self._look_at_window, position)

    def _look_at_window(self, window: Node, position: Position) -> None:
        def on_state(low: int) -> None:
            if low >> _ACTIVE & 1:
                self._look_at(window, position)

        self._state(window, on_state)

    def _look_at(self, node: Node, position: Position) -> None:
        """Look at an object of the active window, and at all below it."""
        self._seen += 1
        if self._seen > _MOST or len(position) > _DEEPEST:
            return

        def on_state(low: int) -> None:
            if low >> _FOCUSED & 1:
                self._focus = position
            if low >> _SHOWING & 1:
                self._call(node, _TEXT, "GetSelection", on_selection, "i", (0,))
                self._children(node, self._look_at, position)

        def on_selection(start: int, end: int) -> None:
            if start < end:
                end = min(end, start + _MOST_CHARACTERS)
                self._call(node, _TEXT, "GetText", on_text, "ii", (start, end))

        def on_text(text: str) -> None:
            self._texts[position] = text

        self._state(node, on_state)

    def _state(self, node: Node, then: Callable[[int], None]) -> None:
        self._call(node, _ACCESSIBLE, "GetState", lambda state: then((*state, 0)[0]))

    def _children(
        self, node: Node, then: Callable[[Node, Position], None], position: Position = ()
    ) -> None:
        def on_children(children: list[Node]) -> None:
            for number, (bus, path) in enumerate(children):
                then((bus, path), (*position, number))

        self._call(node, _ACCESSIBLE, "GetChildren", on_children)

    def _call(
        self,
        node: Node,
        interface: str,
        method: str,
        then: Callable[..., None],
        signature: str = "",
        body: tuple[Any, ...] = (),
    ) -> None:
        self._ask(self._bus, Address(node[1], node[0], interface), method, then, signature, body)

    def _ask(
        self,
        bus: Bus,
        address: Address,
        method: str,
        then: Callable[..., None],
        signature: str = "",
        body: tuple[Any, ...] = (),
    ) -> None:
        """Call a method; an error counts as no answer. The last answer ends the search."""

        def on_answer(message: Message) -> None:
            if not self._is_over and signature_of(message) == _SIGNATURES[method]:
                then(*message.body)
            self._awaited -= 1  # after the calls that the answer leads to
            if not self._awaited:
                self._end()

        self._awaited += 1
        bus.call(address, method, signature, body, on_answer)

    def _end(self) -> None:
        if self._is_over:
            return
        self._is_over = True
        depth = len(self._focus)
        focused = {at: text for at, text in self._texts.items() if at[:depth] == self._focus}
        self._session.close()
        self._bus.close()
        self.found.emit(joined(focused or self._texts))
        self.deleteLater()


def joined(texts: Mapping[Position, str]) -> str:
    """Return selected texts in the order of their objects, each on a line. A text below another one
    takes the next place that is kept for it there.
    """
    left = sorted(texts)  # an object comes before those below it

    def whole(position: Position) -> str:
        first, *others = texts[position].split(_INNER)
        between = "" if texts[position].strip(_INNER).strip() else "\n"
        said = [first]
        for piece in others:
            is_below = bool(left) and left[0][: len(position)] == position
            said.append((whole(left.pop(0)) if is_below else "") + piece)
        return between.join(said)

    lines = []
    while left:
        lines.append(whole(left.pop(0)).strip())
    return "\n".join(filter(None, lines))
