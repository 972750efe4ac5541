"""The page of documents that are read aloud: the list of those opened before, and the text of the
open one with its chapters and keys.

Invariant: it reads no file; the engine sends a chapter when it is needed. Removing a document from
the list leaves its file.
"""

from functools import partial
from itertools import product
from pathlib import Path

from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QFileDialog, QVBoxLayout, QWidget

from app.bridge import Post
from app.language import mark, tr, translated
from app.look.controls import ElidedBox, IconButton, button
from app.look.file_dialogs import ask_for
from app.look.label import Label, WrappingLabel
from app.look.layout import TOP, Spring, column, fill, placed, row, wide
from app.look.page import CardRow, OnDemand, Page, take_away
from app.look.plain_text import one_line, plain, tool_tip
from app.look.theme import Theme
from app.reading.export import BookExport
from app.reading.text import ChapterText
from engine import api

_FILTER = mark("Documents ({kinds});;All files (*)")
_ABOUT = mark(
    "Books and papers that Rubato reads aloud. Their text stays on this computer and in no"
    " conversation. The paragraph that a question interrupts is shown only to a language model on"
    " this computer."
)
_KEYS = mark(
    "Space: pause and go on. Arrow keys: a sentence; with Shift a paragraph, with Ctrl a chapter. A"
    " click starts there."
)
_UNITS = {"": api.Unit.SENTENCE, "Shift+": api.Unit.PARAGRAPH, "Ctrl+": api.Unit.CHAPTER}
_WAYS = {"Left": -1, "Right": 1}


def document_in(data: QMimeData) -> Path | None:
    """Return the document of a drag; None if there is none. Any other file is for a voice."""
    paths = (Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile())
    return next((path for path in paths if path.suffix.lower() in api.DOCUMENT_SUFFIXES), None)


class DocumentRow(CardRow):
    """A document that was opened before."""

    entry: api.ReadDocument  # since show_entry()

    def __init__(self, post: Post, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self.open = button(tr("Open"), self, lambda: post(api.OpenDocument(self.entry.path)))
        forget = tr("Remove from the list")
        removing = {forget: lambda: post(api.RemoveDocument(self.entry.key))}
        self.remove = self.offer(removing)[forget]
        for label in (self.title, self.facts):
            label.take_any_width()
        texts = wide(column(self.title, self.facts, spacing=2))
        line = row(texts, placed(TOP, self.open), placed(TOP, self.more))
        column(line, on=self, margins=(14, 10, 10, 10))

    def show_entry(self, entry: api.ReadDocument) -> None:
        self.entry = entry
        title = one_line(entry.title)
        self.title.setText(title)
        number = entry.place.chapter + 1
        part = tr("Part {number} of {count}", number=number, count=entry.chapters)
        self.facts.setText(" · ".join(each for each in (part, one_line(entry.chapter)) if each))
        self.setAccessibleName(plain(title))
        self.setToolTip(tool_tip(str(entry.path)))
        self.open.setAccessibleName(tr("Open {title}", title=plain(title)))
        self.more.setAccessibleName(tr("More for {title}", title=plain(title)))


class OpenBook(QWidget):
    """The open document."""

    def __init__(self, post: Post, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._post = post
        self._key = ""  # of the open document
        self._shown = self._wanted = -1  # the chapter in sight, and the one that was asked for
        self._place = api.Place()
        self.aloud = False
        self.title = WrappingLabel("", self, size=1.15, strong=True)
        self.title.take_any_width()
        self.chapters = ElidedBox(self)
        self._heading = Label(tr("&Chapter"), self)
        self._heading.setBuddy(self.chapters)
        self.chapters.activated.connect(lambda number: self.start(api.Place(number)))
        self.text = ChapterText(theme, self)
        self.text.chosen.connect(self._on_chosen)
        self.play = button("", self, self.toggle, kind="primary")
        skips = (
            ("chevron-left", tr("Back a sentence (Left)"), -1),
            ("chevron-right", tr("On a sentence (Right)"), 1),
        )
        self.back, self.on = (
            IconButton(name, words, theme, self, lambda _=False, by=by: self.skip(by))
            for name, words, by in skips
        )
        self.export = BookExport(theme, self)
        close = tr("Close the document")
        self.close_book = button(close, self, lambda: post(api.CloseDocument()))
        keys = WrappingLabel(tr(_KEYS), self, kind="muted", size=0.9)
        controls = row(self.play, self.back, self.on, Spring(), self.export.act, self.close_book)
        choice = row(self._heading, 10, wide(self.chapters))
        parts = (self.title, choice, wide(self.text), keys, self.export, controls)
        column(*parts, on=self, spacing=8)
        for (prefix, unit), (key, by) in product(_UNITS.items(), _WAYS.items()):
            shortcut = QShortcut(QKeySequence(prefix + key), self)  # also while a button has focus
            shortcut.activated.connect(lambda by=by, unit=unit: self.skip(by, unit))
        self._show_state()
        self.hide()

    def on_event(self, event: api.Event) -> None:
        match event:
            case api.DocumentOpened():
                self._open(event)
            case api.DocumentClosed():
                self.hide()
            case api.ChapterShown(key, number, chapter) if key == self._key:
                self._shown = self._wanted = number
                self.text.show_chapter(chapter)
                self._show_place(follow=True)
            case api.PlaceReached(place):
                self._place = place
                self._show_place()
            case api.ReadingChanged(aloud):
                self.aloud = aloud
                self._show_state()

    def toggle(self) -> None:
        """Pause the reading, or go on."""
        self._post(api.PauseReading() if self.aloud else api.ReadAloud())

    def skip(self, by: int, unit: api.Unit = api.Unit.SENTENCE) -> None:
        self.text.show_word(self._place, follow=True)
        self._post(api.SkipReading(unit, by))

    def start(self, place: api.Place) -> None:
        """Read from a place."""
        self._post(api.ReadAloud(place))

    def _open(self, event: api.DocumentOpened) -> None:
        self._key, self._place = event.key, event.place
        self.export.show_document(event)
        self._shown = self._wanted = -1
        author = f" · {event.author}" if event.author else ""
        self.title.setText(one_line(event.title + author))
        self.chapters.clear()
        self.chapters.addItems([one_line(title) for title in event.chapter_titles])
        for part in (self._heading, self.chapters):
            part.setVisible(len(event.chapter_titles) > 1)
        self._show_place()
        self.show()
        self.play.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_place(self, *, follow: bool = False) -> None:
        place = self._place
        if self._shown == place.chapter:
            self.text.show_word(place, follow=follow)
            return
        if self._wanted != place.chapter:  # it was not asked for yet
            self._wanted = place.chapter
            self.chapters.setCurrentIndex(place.chapter)
            self._post(api.ShowChapter(place.chapter))

    def _show_state(self) -> None:
        self.play.setText(tr("Pause") if self.aloud else tr("Read aloud"))
        self.play.setAccessibleName(
            tr("Pause the reading (Space)") if self.aloud else tr("Read aloud (Space)")
        )

    def _on_chosen(self, paragraph: int, word: int) -> None:
        self.start(api.Place(self._shown, paragraph, word))


class ReadingPage(Page):
    """The page of documents, not modal. The reading goes on after it is closed."""

    def __init__(self, post: Post, theme: Theme, parent: QWidget) -> None:
        super().__init__(tr("Reading"), tr(_ABOUT), parent)
        self._post = post
        self._theme = theme
        self.rows: dict[str, DocumentRow] = {}
        self.book = OpenBook(post, theme, self)
        self.fault = WrappingLabel("", self)
        self.fault.hide()
        self.nothing = WrappingLabel(tr("Drop a document here, or open one."), self, kind="muted")
        self.open_file = button(tr("&Open a document…"), self, lambda: self.choose())
        fill(self.head, self.nothing)
        fill(self.foot, self.open_file, Spring())
        self.body.addStretch(1)
        layout = self.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.insertWidget(1, self.book, 1)
        layout.insertWidget(1, self.fault)
        self.setAcceptDrops(True)

    def open_beside(self) -> None:
        self._post(api.ListDocuments())
        super().open_beside()

    def on_event(self, event: api.Event) -> None:
        self.book.on_event(event)
        match event:
            case api.DocumentsListed(documents):
                self._show_list(documents)
            case api.DocumentRefused(name, message, hint):
                words = f"{one_line(name)}: {translated(message)} {translated(hint)}"
                self.fault.say(words.strip(), kind="danger")
            case api.DocumentOpened() | api.DocumentClosed():
                self.fault.say("")
                is_open = isinstance(event, api.DocumentOpened)
                for part in (self.intro, self.area, self.open_file):
                    part.setVisible(not is_open)
                self.nothing.setVisible(not is_open and not self.rows)

    def choose(self) -> QFileDialog:
        """Ask for a document in a dialog that does not block the program."""
        kinds = " ".join(f"*{suffix}" for suffix in api.DOCUMENT_SUFFIXES)
        filters = tr(_FILTER, kinds=kinds)
        return ask_for(self, tr("Open a document"), self.add, filters=filters)

    def add(self, path: Path) -> None:
        self._post(api.OpenDocument(path))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Space pauses and goes on, where it presses no button."""
        is_space = event.key() == Qt.Key.Key_Space and not event.isAutoRepeat()
        if self.book.isVisible() and is_space:
            self.book.toggle()
        else:
            super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if document_in(event.mimeData()) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        if (path := document_in(event.mimeData())) is not None:
            event.acceptProposedAction()
            self.add(path)

    def _show_list(self, documents: tuple[api.ReadDocument, ...]) -> None:
        """Show the list; rows that stay keep the focus."""
        before, self.rows = self.rows, {}
        for number, entry in enumerate(documents):
            made = before.pop(entry.key, None) or DocumentRow(self._post, self._theme, self)
            made.show_entry(entry)
            self.rows[entry.key] = made
            self.body.insertWidget(number, made)
        for old in before.values():
            take_away(old, self.body)
        self.nothing.setVisible(not self.rows and not self.book.isVisible())


class Reading(OnDemand[ReadingPage]):
    """Opens the page of documents, also for a document that is opened elsewhere."""

    def __init__(self, post: Post, theme: Theme, window: QWidget) -> None:
        super().__init__(partial(ReadingPage, post, theme, window))
        self._post = post

    def take(self, data: QMimeData) -> bool:
        """Open a dropped document, which opens the page too; False if there is none."""
        path = document_in(data)
        if path is not None:
            self._post(api.OpenDocument(path))
        return path is not None

    def on_event(self, event: api.Event) -> None:
        if isinstance(event, api.DocumentOpened):
            self.open()
        super().on_event(event)
