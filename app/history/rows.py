"""The list of saved conversations by day, each on two lines: its title, and its date or the found
text.

Invariant: titles and excerpts are plain text, whatever they look like. A new list keeps the
selection.
"""

from collections.abc import Sequence
from datetime import date, datetime

from PySide6.QtCore import (
    QLocale,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QSignalBlocker,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QContextMenuEvent, QFont, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QFrame,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.bridge import Post
from app.language import day, tr, tr_n
from app.look.layout import OverlayBar
from app.look.plain_text import one_line, tool_tip
from app.look.theme import Theme, scaled
from engine.api import KeptConversation, OpenConversation, RenameConversation

Index = QModelIndex | QPersistentModelIndex

_ROLE = Qt.ItemDataRole.UserRole
_PAD = 9


class Rows(QListWidget):
    """The list of the conversations that the engine found.

    Signals:
        removal_asked: the person wants to delete the selected conversations.
    """

    removal_asked = Signal()

    def __init__(self, post: Post, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._post = post
        self.current: int | None = None  # the current conversation
        self.setProperty("kind", "rows")
        self.setAccessibleName(tr("Kept conversations"))
        self.setAccessibleDescription(tr("Enter opens one, F2 renames it, Delete deletes it"))
        self.setItemDelegate(_TwoLines(theme, self))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        OverlayBar(self)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.itemClicked.connect(self._on_clicked)
        self.itemChanged.connect(self._on_edited)
        theme.changed.connect(self.viewport().update)

    @property
    def selected(self) -> tuple[KeptConversation, ...]:
        return tuple(item.data(_ROLE) for item in self.selectedItems())

    def show_all(
        self, found: Sequence[KeptConversation], current: int | None, *, by_day: bool = False
    ) -> None:
        """Show these, newest first, and mark `current`. `by_day`: a heading for each period."""
        selected = {each.id for each in self.selected}
        at = self.currentItem()
        focused = at.data(_ROLE).id if at is not None else current
        offset = self.verticalScrollBar().value()
        self.current = current
        today, heading = date.today(), ""
        with QSignalBlocker(self):
            self.clear()
            for each in found:
                now = period(datetime.fromtimestamp(each.last).astimezone().date(), today)
                if by_day and now != heading:
                    heading = now
                    QListWidgetItem(heading, self).setFlags(Qt.ItemFlag.NoItemFlags)
                item = self._item(each)
                if each.id == focused:
                    self.setCurrentItem(item)
                item.setSelected(each.id in selected)
        self.verticalScrollBar().setValue(offset)

    def _rename_current(self) -> None:
        """Edit the title of the row that is current now; the list may be new since the menu."""
        item = self.currentItem()
        if item is not None:
            self.editItem(item)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.state() is QAbstractItemView.State.EditingState:
            return  # a key for the editor, which Qt also passes on after the editing has ended
        match Qt.Key(event.key()):
            case Qt.Key.Key_Return | Qt.Key.Key_Enter if self.currentItem() is not None:
                self._open(self.currentItem())
            case Qt.Key.Key_Delete | Qt.Key.Key_Backspace if self.selectedItems():
                self.removal_asked.emit()
            case _:
                super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be done with the selected conversations."""
        items = self.selectedItems()
        if self.itemAt(event.pos()) is None or not items:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if len(items) == 1:
            opens = OpenConversation(items[0].data(_ROLE).id)  # its row may be gone by then
            menu.addAction(tr("Open")).triggered.connect(lambda: self._post(opens))
            menu.addAction(tr("Rename\tF2")).triggered.connect(self._rename_current)
        menu.addAction(tr("Delete…\tDel")).triggered.connect(self.removal_asked)
        menu.popup(self.viewport().mapToGlobal(event.pos()))

    def _item(self, each: KeptConversation) -> QListWidgetItem:
        item = QListWidgetItem(one_line(each.title), self)
        item.setData(_ROLE, each)
        item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
        now = tr("goes on now, ") if each.id == self.current else ""
        item.setData(
            Qt.ItemDataRole.AccessibleTextRole, f"{one_line(each.title)}, {now}{details(each)}"
        )
        item.setToolTip(tool_tip(f"{each.title}\n{details(each)}"))
        return item

    def _on_clicked(self, item: QListWidgetItem) -> None:
        """Open the clicked conversation. A click with Shift or Ctrl only changes the selection."""
        if not QApplication.keyboardModifiers() and self.selectedItems() == [item]:
            self._open(item)

    def _on_edited(self, item: QListWidgetItem) -> None:
        each: KeptConversation = item.data(_ROLE)
        if item.text() != one_line(each.title):
            self._post(RenameConversation(each.id, item.text()))

    def _open(self, item: QListWidgetItem) -> None:
        self._post(OpenConversation(item.data(_ROLE).id))


def period(then: date, today: date) -> str:
    """Return the heading for conversations of the day `then`, such as "Yesterday" or a month."""
    days = (today - then).days
    if days <= 1:
        return tr("Yesterday") if days == 1 else tr("Today")
    if days <= 7:
        return tr("Last 7 days")
    month = QLocale().standaloneMonthName(then.month).capitalize()
    return month if then.year == today.year else f"{month} {then.year}"


def details(each: KeptConversation) -> str:
    """Return the second line of a row: the date of the last turn, and the number of turns."""
    last = datetime.fromtimestamp(each.last).astimezone()
    turns = tr_n("{count} turn", "{count} turns", each.turns)
    return f"{day(last.date().isoformat())} {last:%H:%M} · {turns}"


class _TwoLines(QStyledItemDelegate):
    """Paints a row: a heading, or a conversation on two lines."""

    def __init__(self, theme: Theme, rows: Rows) -> None:
        super().__init__(rows)
        self._theme = theme
        self._rows = rows

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        lines = 1.95 if index.data(_ROLE) else 0.9
        return QSize(80, int(option.fontMetrics.height() * lines) + 2 * _PAD)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        each: KeptConversation | None = index.data(_ROLE)
        if each is None:
            area = option.rect.adjusted(_PAD + 4, _PAD, -_PAD, 0)
            font = scaled(option.font, 0.86, strong=True)
            self._line(painter, area, font, "muted", index.data(Qt.ItemDataRole.DisplayRole))
            return
        theme, is_current = self._theme, each.id == self._rows.current
        area = option.rect.adjusted(2, 2, -2, -2)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        if option.state & QStyle.StateFlag.State_Selected or is_current:
            painter.setBrush(theme.colour("bubble" if is_current else "raised"))
            painter.drawRoundedRect(area, 9, 9)
        if is_current:
            painter.setBrush(theme.colour("accent"))
            painter.drawRoundedRect(QRect(area.left(), area.top() + 9, 3, area.height() - 18), 1, 1)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(theme.colour("accent"))
            painter.drawRoundedRect(area, 9, 9)
        text = area.adjusted(_PAD + 2, _PAD - 3, -_PAD, -_PAD + 3)
        upper, lower = QRect(text), QRect(text)
        upper.setHeight(text.height() // 2)
        lower.setTop(upper.bottom() + 1)
        font = scaled(option.font, 1.0, strong=is_current)
        self._line(painter, upper, font, "text", index.data(Qt.ItemDataRole.DisplayRole))
        under = one_line(each.excerpt) or details(each)
        self._line(painter, lower, scaled(option.font, 0.86), "muted", under)
        painter.restore()

    def updateEditorGeometry(
        self, editor: QWidget, option: QStyleOptionViewItem, index: Index
    ) -> None:
        editor.setGeometry(option.rect.adjusted(3, 3, -3, -3))

    def _line(self, painter: QPainter, area: QRect, font: QFont, colour: str, text: str) -> None:
        painter.setFont(font)
        painter.setPen(self._theme.colour(colour))
        shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, area.width())
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
        painter.drawText(area, flags, shown)
