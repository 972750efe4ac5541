"""The panel of saved conversations: search, open, rename, delete, export, and whether to keep them.

Invariant: the engine saves and searches; the panel shows and asks. Nothing is deleted without a
confirmation, and nothing here blocks the program.
"""

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFileDialog,
    QFrame,
    QLineEdit,
    QMenu,
    QMessageBox,
    QPushButton,
    QWidget,
)

from app.bridge import Post
from app.history.rows import Rows
from app.language import mark, tr, tr_n
from app.look.controls import IconButton, Switch, button
from app.look.file_dialogs import ask_where
from app.look.label import Label, WrappingLabel
from app.look.layout import Spring, card, column, row, wide
from app.look.plain_text import one_line
from app.look.theme import Theme
from engine import api

# The answers to "Keep your conversations on this computer?"
KEEPING = {word: text for word, text in api.settings.KEEPING.labels.items() if word != "ask"}
FORMATS = {
    mark("Markdown (*.md)"): "md",
    mark("Text (*.txt)"): "txt",
    mark("JSON with word times (*.json)"): "json",
}
_ANSWERS_FROM = 360  # logical pixels; from this width on they fit side by side
_TYPING_MS = 150  # from the last key until the search starts


class HistoryPanel(QWidget):
    """The panel of saved conversations. `keep`: the initial value of the setting history.keep."""

    def __init__(self, post: Post, keep: str, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._post = post
        self._keep = keep
        self._is_more = False  # there are more than are listed
        self._typing = QTimer(self, singleShot=True, interval=_TYPING_MS)
        self._typing.timeout.connect(self._list)
        # created in the order of Tab
        self.more = IconButton("more", tr("More about conversations"), theme, self)
        self.more.open_menu(self._make_menu())
        self._answers = column()
        self.question = self._make_question()
        self.search = self._make_search()
        self.nothing = WrappingLabel("", self, kind="muted")
        self.rows = Rows(post, theme, self)
        self.rows.removal_asked.connect(self._ask_removal)
        self._filler = QWidget(self)
        self.private = Switch(tr("&Private"), theme, self)
        self.private.setAccessibleName(tr("Private conversation"))
        self.private.setToolTip(tr("Begin a conversation of which nothing is kept, or end it"))
        self.private.clicked.connect(lambda on: post(api.NewConversation(private=on)))
        heading = Label(tr("Conversations"), self, size=1.1, strong=True)
        top, foot = row(wide(heading), self.more), row(self.private, Spring())
        above = (top, self.question, self.search, self.nothing)
        below = (wide(self.rows), wide(self._filler), foot)
        column(*above, *below, on=self, margins=(14, 12, 14, 10), spacing=8)
        self.show_keeping(keep)

    def on_event(self, event: api.Event) -> None:
        match event:
            case api.ConversationsListed():
                self._show_listed(event)
            case api.ConversationsChanged():
                self._list_again()
            case api.ConversationOpened(private=private):
                self.private.setChecked(private)
                self._withdraw_question()  # "this conversation" would be another one now
            case api.SettingChanged(api.SettingKey.KEEP, str(keep)):
                self.show_keeping(keep)

    def show_keeping(self, keep: str) -> None:
        """Show a new value of the setting history.keep."""
        self._keep = keep
        self.question.setVisible(keep == "ask")
        self._show_search()
        self._say_nothing()

    def export_all(self) -> QFileDialog:
        """Ask where to write all conversations, and in which format."""
        post = self._post
        return ask_where(
            self,
            tr("Export all conversations"),
            "conversations",
            FORMATS,
            lambda path: post(api.ExportConversations(path)),
        )

    def take_focus(self) -> None:
        """Focus the search field, or the question whether to keep conversations."""
        first = self.search if self.search.isVisible() else self.question.findChild(QPushButton)
        if isinstance(first, QWidget):
            first.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        directions = QBoxLayout.Direction
        wide = self.width() >= _ANSWERS_FROM
        self._answers.setDirection(directions.LeftToRight if wide else directions.TopToBottom)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._list()

    # ---------------------------------------------------------------- the list

    def _list(self) -> None:
        self._post(api.ListConversations(self.search.text()))

    def _list_again(self) -> None:
        if self.isVisible():
            self._list()

    def _show_listed(self, event: api.ConversationsListed) -> None:
        if event.search != self.search.text():
            return  # a result of an earlier search
        by_day = not event.search.strip()
        self.rows.show_all(event.conversations, event.current, by_day=by_day)
        self._is_more = event.more
        self._show_search()
        self._say_nothing()

    def _show_search(self) -> None:
        """Hide the search field and the list while the list is empty and the person has not yet
        decided whether to keep conversations.
        """
        on = self._keep != "ask" or self.rows.count() > 0 or bool(self.search.text())
        self.search.setVisible(on)
        self.rows.setVisible(on)
        self._filler.setVisible(not on)

    def _say_nothing(self) -> None:
        """Show why the list is empty, or that more conversations exist."""
        if self.rows.count():
            text = tr("Older ones are found by a search.") if self._is_more else ""
        elif self.search.text().strip():
            text = tr("Nothing was found.")
        elif self._keep == "never":
            text = tr("Conversations are not kept.")
        else:
            text = "" if self._keep == "ask" else tr("What you talk about will be here.")
        self.nothing.say(text)

    # ---------------------------------------------------------------- deleting

    def _ask_removal(self) -> None:
        selected = self.rows.selected
        if not selected:
            return
        asked = tr_n(
            "Delete “{title}” for good?",
            "Delete these {count} conversations for good?",
            len(selected),
            title=one_line(selected[0].title),
        )
        self._confirm(asked, tuple(each.id for each in selected))

    def ask_removal_of_present(self) -> None:
        """Ask the person to confirm the deletion of the current conversation."""
        self._confirm(tr("Delete this conversation for good?"), ())

    def _confirm(self, asked: str, numbers: tuple[int, ...]) -> None:
        """Ask, without blocking the program. `numbers`: those to delete; none = the present one."""
        self._withdraw_question()
        box = QMessageBox(QMessageBox.Icon.NoIcon, tr("Conversations"), asked, parent=self)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setModal(False)
        delete = box.addButton(tr("Delete"), QMessageBox.ButtonRole.AcceptRole)
        delete.setAccessibleName(tr("Delete for good"))
        box.addButton(tr("Keep"), QMessageBox.ButtonRole.RejectRole)
        box.accepted.connect(lambda: self._post(api.RemoveConversations(numbers)))
        box.show()

    def _withdraw_question(self) -> None:
        for box in self.findChildren(QMessageBox):
            box.reject()

    # ------------------------------------------------------------------ making

    def _keep_for(self, keep: str) -> None:
        self._post(api.ChangeSetting(api.SettingKey.KEEP, keep))
        self.show_keeping(keep)

    def _make_search(self) -> QLineEdit:
        search = QLineEdit(self)
        search.setPlaceholderText(tr("Search"))
        search.setAccessibleName(tr("Search conversations"))
        search.setClearButtonEnabled(True)
        search.textChanged.connect(lambda _: self._typing.start())
        return search

    def _make_menu(self) -> QMenu:
        menu = QMenu(self)
        menu.addAction(tr("Export all…")).triggered.connect(lambda: self.export_all())
        return menu

    def _make_question(self) -> QFrame:
        """Create the question whether to keep conversations, which needs the person's consent."""
        text = WrappingLabel(tr("Keep your conversations on this computer?"), self)
        question = card(self, text, self._answers, margins=None)
        for keep, words in KEEPING.items():
            name = tr("Keep conversations: {words}", words=tr(words))
            answer = button(tr(words), question, name=name, by_tab=True)
            answer.clicked.connect(lambda _=False, keep=keep: self._keep_for(keep))
            self._answers.addWidget(answer)
        return question
