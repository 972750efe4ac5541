"""A sheet over the window: the quality of a recording, and what a voice made from it needs: a good
part of it, a name, the person's consent, and perhaps another voice model, which the same button
fetches.

Invariant: it reads no audio; the engine inspects a part and reports its quality. Nothing is sent
until the box is ticked; showing another recording clears it. A recording that waits for a model is
kept as a voice before that is fetched. The sheet moves nothing below it; while it is open the focus
stays in it; and it can be closed at any time, with Esc too, without keeping anything.
"""

from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QHideEvent, QKeyEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QDoubleSpinBox,
    QFrame,
    QGridLayout,
    QLineEdit,
    QSizePolicy,
    QWidget,
)

from app.bridge import Post
from app.language import decimal, tr
from app.look.controls import button
from app.look.label import Label, WrappingLabel
from app.look.layout import LEFT, column, placed
from app.look.plain_text import one_line, plain
from app.models import size_of
from engine.api import AddVoice, CancelClip, ClipInspected, FetchModels, LearnVoice, PreviewVoice

LONGEST_NAME = 60  # characters; a name is read out and shown in a list
LONGEST_WORDS = 1_000  # characters
LONGEST_S = 30.0  # of a part; a voice uses at most 20 s
_USUAL_S = 8.0
_SHORTEST_S = 1.0


class PartChoice(QWidget):
    """Offers a better part of a recording that is refused or poor, and lets the person choose a
    part.
    """

    def __init__(self, post: Post, parent: QWidget) -> None:
        super().__init__(parent)
        self._post = post
        self._clip: ClipInspected | None = None  # None = none was shown yet
        self._length_s = 0.0  # of the whole recording
        self.better = button("", self, self._look_at_better)
        self.start = _seconds(tr("Where the part begins"), self)
        self.length = _seconds(tr("How long the part is"), self)
        self.length.setRange(_SHORTEST_S, LONGEST_S)
        self.look = button(tr("Chec&k this part"), self, self._look_at_chosen)
        row = QGridLayout()
        row.setSpacing(6)
        row.setColumnStretch(2, 1)
        for line, (words, box) in enumerate(
            ((tr("Part from"), self.start), (tr("for"), self.length))
        ):
            row.addWidget(Label(words, self), line, 0)
            row.addWidget(box, line, 1)
        column(placed(LEFT, self.better), row, placed(LEFT, self.look), on=self, spacing=8)
        self.hide()

    def show_clip(self, clip: ClipInspected) -> None:
        """Offer other parts if the recording is not good or is itself a part."""
        same = self._clip is not None and self._clip.clip == clip.clip
        if clip.part is None or not same:
            self._length_s = clip.seconds
        self._clip = clip
        start_s, seconds = clip.better or clip.part or (0.0, _USUAL_S)
        self.better.setVisible(clip.better is not None)
        start, end = _clock(start_s), _clock(start_s + seconds)
        self.better.setText(tr("Use {start} to {end} instead", start=start, end=end))
        self.start.setRange(0.0, max(0.0, self._length_s - _SHORTEST_S))
        self.start.setValue(start_s)
        self.length.setValue(min(seconds, max(_SHORTEST_S, self._length_s)))
        poor = not clip.usable or clip.better is not None or clip.part is not None
        self.setVisible(poor and self._length_s > _SHORTEST_S)

    def _look_at_better(self) -> None:
        if self._clip is not None and self._clip.better is not None:
            self._look_at(*self._clip.better)

    def _look_at_chosen(self) -> None:
        self._look_at(self.start.value(), self.length.value())

    def _look_at(self, start_s: float, seconds: float) -> None:
        if self._clip is not None:
            self._post(AddVoice(self._clip.clip, start_s=start_s, seconds=seconds))


def _seconds(name: str, parent: QWidget) -> QDoubleSpinBox:
    box = QDoubleSpinBox(parent)
    box.setDecimals(1)
    box.setAlignment(Qt.AlignmentFlag.AlignCenter)
    box.setSingleStep(0.5)
    box.setSuffix(" s")
    box.setAccessibleName(name)
    return box


def _clock(seconds: float) -> str:
    return f"{int(seconds // 60)}:{seconds % 60:04.1f}"


class Consent(QWidget):
    """Name, consent and button for a recording that could become a voice."""

    def __init__(self, post: Post, parent: QWidget) -> None:
        super().__init__(parent)
        self._post = post
        self._clip: ClipInspected | None = None  # None = none was shown yet
        self.name = name_field(self)
        self.words = QLineEdit(self)
        self.words.setMaxLength(LONGEST_WORDS)
        self.words.setPlaceholderText(tr("What is said in it (empty: it is written down)"))
        self.words.setAccessibleName(tr("What is said in the recording"))
        self.agreed = QCheckBox(tr("I &may use this voice"), self)
        self.hear = button(tr("&Hear a similar voice"), self, self._on_hear)
        self.adopt = button("", self, self._on_adopt)
        self.agreed.toggled.connect(self._refresh)
        self.name.textChanged.connect(self._refresh)
        self.name.returnPressed.connect(self.adopt.click)
        buttons = placed(LEFT, self.hear), placed(LEFT, self.adopt)
        column(self.name, self.words, self.agreed, *buttons, on=self, spacing=8)
        self.hide()

    def show_clip(self, clip: ClipInspected, words: str = "") -> None:
        """Offer to create a voice if the recording is suitable. `words`: its transcript, if
        known."""
        self._clip = clip
        self.words.setText(words)
        self.words.setVisible(clip.resembles)
        self.agreed.setChecked(False)
        self.name.setText(one_line(clip.clip.stem.replace("_", " "))[:LONGEST_NAME])
        self.adopt.setText(_adopting(clip))
        self.hear.setVisible(clip.resembles and clip.needs is None and clip.part is None)
        self._refresh()
        self.setVisible(clip.usable)

    def _refresh(self) -> None:
        self.hear.setEnabled(self.agreed.isChecked())
        self.adopt.setEnabled(self.agreed.isChecked() and bool(self.name.text().strip()))

    def _on_hear(self) -> None:
        if self._clip is not None:  # the path of a recording names the voice made of it
            self._post(PreviewVoice(str(self._clip.clip.absolute())))

    def _on_adopt(self) -> None:
        if self._clip is not None and self.adopt.isEnabled():
            name, (start_s, seconds) = self.name.text().strip(), self._clip.part or (0.0, None)
            self._post(AddVoice(self._clip.clip, True, name, start_s, seconds))
            if self._clip.resembles:
                self._post(LearnVoice(name, words=self.words.text().strip()))
            if self._clip.needs is not None:
                self._post(FetchModels(self._clip.needs[:1], use=True))
            self.hide()


def _adopting(clip: ClipInspected) -> str:
    if clip.needs is not None and clip.needs[1]:
        size = size_of(clip.needs[1])
        return tr("&Fetch Kokoro ({size}) and learn this voice", size=size)
    return tr("&Learn this voice") if clip.resembles else tr("&Use this voice")


def name_field(parent: QWidget) -> QLineEdit:
    """Create the field for the name of a new voice."""
    field = QLineEdit(parent)
    field.setMaxLength(LONGEST_NAME)
    field.setPlaceholderText(tr("What to call this voice"))
    field.setAccessibleName(tr("Name of the new voice"))
    return field


_MARGIN = 10  # logical pixels between the sheet and the edges of the window
_WIDTH = 360  # logical pixels at least
_LINES = 24  # in line heights: it grows with the text


class ClipSheet(QFrame):
    """The sheet of a recording. It opens over `beside` and belongs to that widget's window."""

    def __init__(self, post: Post, beside: QWidget) -> None:
        super().__init__(beside)
        self._post = post
        self._beside = beside
        self.setProperty("kind", "sheet")
        self.setAccessibleName(tr("Recording for a voice"))
        self.title = WrappingLabel("", self, strong=True)
        self.facts = WrappingLabel("", self, kind="muted", size=0.92, figures=True)
        self.advice = WrappingLabel("", self)
        self.part = PartChoice(post, self)
        self.consent = Consent(post, self)
        self.consent.adopt.clicked.connect(self._on_adopted)
        self.cancel = button(tr("&Cancel"), self, self._on_cancel)
        labels = (self.title, self.facts, self.advice)
        for label in labels:
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        items = (*labels, self.part, self.consent, placed(LEFT, self.cancel))
        column(*items, on=self, margins=(16, 14, 16, 14), spacing=8)
        self._came_from: QWidget | None = None  # None = nothing had the focus when it opened
        self.hide()

    def show_waiting(self, clip: Path) -> None:
        """Show that a recording is being inspected."""
        self.part.hide()
        self.consent.hide()
        self._show(clip.name, tr("checking it…"), "")

    def show_failure(self, message: str) -> None:
        self._show(self.title.text(), tr("could not be used"), message)

    def show_clip(self, clip: ClipInspected) -> None:
        """Show length, level and noise of a recording, and how they would affect a voice."""
        self.part.show_clip(clip)
        self.consent.show_clip(clip)
        facts = tr(
            "{length} · level {level} dB · noise {noise} dB",
            length=_length(clip.seconds),
            level=decimal(clip.level_db, 0),
            noise=decimal(clip.noise_db, 0),
        )
        self._show(clip.clip.name, facts, clip.advice)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Fit the sheet when the window's size or that of its content changes."""
        if event.type() == QEvent.Type.Resize:
            self._place()
        return super().eventFilter(watched, event)

    def event(self, event: QEvent) -> bool:
        kind = event.type()
        if kind == QEvent.Type.ShortcutOverride and _is_escape(event):
            event.accept()  # or the window's Esc would stop the reply
            return True
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._place()
        return done

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if _is_escape(event):
            self.cancel.click()
        else:
            super().keyPressEvent(event)

    def focusNextPrevChild(self, next: bool) -> bool:
        """Keep Tab within the sheet, which covers the widgets below."""
        start = self.focusWidget() or self.cancel
        each = _beside(start, next)
        while each is not start and not self._is_stop(each):
            each = _beside(each, next)
        reason = Qt.FocusReason.TabFocusReason if next else Qt.FocusReason.BacktabFocusReason
        each.setFocus(reason)
        return True

    def hideEvent(self, event: QHideEvent) -> None:
        """Return the focus to the widget that had it before."""
        super().hideEvent(event)
        back, self._came_from = self._came_from, None
        if not event.spontaneous() and back is not None and self.window().isVisible():
            back.setFocus(Qt.FocusReason.OtherFocusReason)

    def _is_stop(self, widget: QWidget) -> bool:
        is_part = widget.focusProxy() is not None  # the line of a spin box gives it back to the box
        takes_tab = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus) and not is_part
        return self.isAncestorOf(widget) and takes_tab and widget.isVisible() and widget.isEnabled()

    def _take_focus(self) -> None:
        """Focus the name field if it is visible, otherwise the button that is always visible."""
        now = self.window().focusWidget()
        is_inside = now is not None and self.isAncestorOf(now)
        if not is_inside:
            self._came_from = now or self.window()
        if not is_inside or now is self.cancel:
            first = self.cancel if self.consent.isHidden() else self.consent.name
            first.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show(self, title: str, facts: str, advice: str) -> None:
        self.title.setText(title)
        self.facts.setText(facts)
        self.advice.say(advice)
        self.setAccessibleDescription(plain(f"{title}: {facts}. {advice}"))
        window = self._beside.window()
        if self.parent() is not window:
            self.setParent(window)
            window.installEventFilter(self)
        self.show()
        self._place()
        self.raise_()
        self._take_focus()

    def _place(self) -> None:
        """Cover the voice area, as far as the window has room."""
        window, layout = self._beside.window(), self.layout()
        if self.parent() is not window or layout is None:
            return
        wanted = max(_WIDTH, _LINES * self.fontMetrics().height())
        width = min(wanted, window.width() - 2 * _MARGIN)
        height = min(layout.totalHeightForWidth(width), window.height() - 2 * _MARGIN)
        if not self._beside.isVisible():  # hidden in a narrow window
            middle = window.rect().center()
            self.setGeometry(middle.x() - width // 2, middle.y() - height // 2, width, height)
            return
        corner = self._beside.mapTo(window, self._beside.rect().topRight())
        left = min(max(corner.x() + _MARGIN, width), window.width() - _MARGIN) - width
        top = min(corner.y() - _MARGIN, window.height() - _MARGIN - height)
        self.setGeometry(left, max(_MARGIN, top), width, height)

    def _on_cancel(self) -> None:
        self._post(CancelClip())
        self.hide()

    def _on_adopted(self) -> None:
        if self.consent.isHidden():
            self.hide()


def _beside(widget: QWidget, after: bool) -> QWidget:
    """Return the next widget in the order of Tab, or the previous one."""
    beside = widget.nextInFocusChain() if after else widget.previousInFocusChain()
    return beside or widget


def _is_escape(event: QEvent) -> bool:
    return isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape


def _length(seconds: float) -> str:
    """Format a length: 12.3 s, or 4:05 min for a long one."""
    if seconds < 60:
        return f"{decimal(seconds, 1)} s"
    return f"{int(seconds // 60)}:{int(seconds % 60):02d} min"
