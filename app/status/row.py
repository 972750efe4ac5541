"""The rows of the status: one for each part, with a name that people know ("Whisper base, on this
computer"), and a summary row.

Invariant: a row always shows the newest state of its part; pressing it lets one change the part. A
name that is not in the table is shown unchanged.
"""

from pathlib import PurePath
from urllib.parse import urlsplit

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.language import mark, tr
from app.look.controls import ProgressBar, paint_icon
from app.look.plain_text import one_line, plain, tool_tip
from app.look.theme import Theme
from engine.api import TITLES, Part

NAMES = {
    Part.MICROPHONE: mark("Microphone"),
    Part.RECOGNISER: mark("Recogniser"),
    Part.LANGUAGE_MODEL: mark("Language model"),
    Part.SYNTHESISER: mark("Voice"),
    Part.LOUDSPEAKER: mark("Loudspeaker"),
}
DOES = {
    **NAMES,
    Part.RECOGNISER: mark("Listens"),
    Part.LANGUAGE_MODEL: mark("Thinks"),
    Part.SYNTHESISER: mark("Speaks"),
}
_LOCAL = ("localhost", "127.0.0.1", "::1")
_KNOWN = {
    "sphinx": "Sphinx",
    "rubato-starter": TITLES["starter"],
    **TITLES,
}
_ICONS = {
    Part.MICROPHONE: "microphone",
    Part.RECOGNISER: "waveform",
    Part.LANGUAGE_MODEL: "language-model",
    Part.SYNTHESISER: "voice",
    Part.LOUDSPEAKER: "loudspeaker",
}


class StatusRow(QAbstractButton):
    """An icon, texts on the left and on the right, and a dot for the state."""

    def __init__(self, icon: str, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._icon = icon
        self._theme = theme
        self._state = "control"  # the dot's colour in the palette
        self._left = ""
        self._right = self._shorter = ""
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        theme.changed.connect(self.update)

    @property
    def shown(self) -> str:
        """The text on the right."""
        return self._right

    def show_words(self, left: str, right: str, state: str, *, shorter: str = "") -> None:
        """Show texts and a dot. `state`: the dot's colour in the palette. `shorter`: the text on
        the right if `right` does not fit.
        """
        self._left, self._right, self._state = left, right, state
        self._shorter = shorter or right
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(240, int(QFontMetricsF(self.font()).height()) + 13)

    def minimumSizeHint(self) -> QSize:
        return QSize(150, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = self._theme
        body = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        if self.underMouse() or self.hasFocus():
            focus = QPen(theme.colour("accent"), 2) if self.hasFocus() else Qt.PenStyle.NoPen
            painter.setPen(focus)
            painter.setBrush(theme.colour("raised"))
            painter.drawRoundedRect(body, 9, 9)
        middle = body.center().y()
        paint_icon(painter, self._icon, theme.colour("muted"), QRectF(9, middle - 9, 18, 18))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour(self._state))
        painter.drawEllipse(QRectF(body.right() - 17, middle - 4, 8, 8))
        self._paint_words(painter, QRectF(38, body.top(), body.width() - 62, body.height()))
        painter.end()

    def _paint_words(self, painter: QPainter, area: QRectF) -> None:
        painter.setFont(self.font())
        metrics = QFontMetricsF(self.font())
        painter.setPen(self._theme.colour("muted" if self._right else "text"))
        painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, self._left)
        room = area.width() - metrics.horizontalAdvance(self._left) - 12
        right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        painter.setPen(self._theme.colour("danger" if self._state == "danger" else "text"))
        painter.drawText(area, right, self.words_in(room))

    def words_in(self, room: float) -> str:
        """Return the text on the right that fits into `room` logical pixels."""
        metrics = QFontMetricsF(self.font())
        fits = metrics.horizontalAdvance(self._right) <= room
        words = self._right if fits else self._shorter
        return metrics.elidedText(words, Qt.TextElideMode.ElideRight, room)


class PartRow(StatusRow):
    """Name, what runs, and the progress of loading; press to change the part."""

    def __init__(self, part: Part, theme: Theme, parent: QWidget) -> None:
        super().__init__(_ICONS[part], theme, parent)
        self._part = part
        self._ready = ("working", "", "")  # as it was last ready
        self._bar = ProgressBar(theme, self)
        self._bar.hide()
        self._show("control", tr("not started"), "")

    def show_loading(self, text: str, fraction: float | None) -> None:
        """Show that the part loads. `fraction` is 0..1; None shows a bar of unknown progress."""
        self._bar.show_share(fraction)
        self._bar.show()
        self._show("accent", tr("getting ready…"), text)

    def show_ready(self, name: str, detail: str, why: str = "") -> None:
        """Show that the part is ready. `name` and `detail` come from Ready; `why` is in the
        person's language.
        """
        self._bar.hide()
        self._ready = (name, detail, why)
        known = f"{name}, {detail}" if detail else name
        shorter = one_line(local_model(name, detail))
        words, tip = for_people(self._part, name, detail), f"{known}\n{why}".strip()
        self._show("success", words, tip, shorter)

    def show_works(self) -> None:
        """Show that the part works again, with the texts from before its failure."""
        self.show_ready(*self._ready)

    def show_failed(self, message: str) -> None:
        self._bar.hide()
        self._show("danger", tr("not working"), message)

    def _show(self, state: str, words: str, detail: str, shorter: str = "") -> None:
        self.show_words(tr(DOES[self._part]), one_line(words), state, shorter=shorter)
        title = tr(NAMES[self._part])
        self.setAccessibleName(f"{title}: {self.shown}")
        self.setAccessibleDescription(plain(detail))
        self.setToolTip(
            tool_tip(tr("{title}: {words}\nPress to change", title=title, words=detail or words))
        )

    def resizeEvent(self, event: QEvent) -> None:
        self._bar.setGeometry(40, self.height() - 5, self.width() - 50, 4)


class SummaryRow(StatusRow):
    """One line about all parts; press to see them."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__("chevron-down", theme, parent)
        self.setCheckable(True)
        self.toggled.connect(self._on_toggled)

    def show_summary(self, words: str, state: str) -> None:
        """Show a summary and a dot. `state`: the dot's colour in the palette."""
        self.show_words(words, "", state)
        self.setAccessibleName(words)
        self.setToolTip(tr("Show or hide what listens, thinks and speaks"))

    def _on_toggled(self, on: bool) -> None:
        self._icon = "chevron-up" if on else "chevron-down"
        self.update()


def for_people(part: Part, name: str, detail: str) -> str:
    """Return a part's name for people. `name` and `detail` come from Ready; devices keep the
    system's name.
    """
    if part in (Part.MICROPHONE, Part.LOUDSPEAKER):
        return name
    if model := local_model(name, detail):
        return tr("{model}, on this computer", model=model)
    if name == "server" and " at " in detail:
        model, host = _served(detail)
        return tr("{model}, on {host}", model=model, host=host)
    return tr("Built-in skills") if name == "skills" else name


def local_model(name: str, detail: str) -> str:
    """Return the name of a model on this computer; empty for other parts and for a server."""
    match name:
        case "whisper":
            model = detail.split(":")[0] if ":" in detail else name
            return model.replace("-", " ").capitalize()
        case "llama":
            return PurePath(detail or name).stem
        case "server" if " at " in detail:
            model, host = _served(detail)
            return model if host in _LOCAL else ""
        case _:
            return tr(_KNOWN[name]) if name in _KNOWN else ""


def _served(detail: str) -> tuple[str, str]:
    """Split a server's detail, "model at address", into model and host."""
    model, address = detail.rsplit(" at ", 1)
    return model, urlsplit(address).hostname or address
