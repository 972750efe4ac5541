"""Buttons with words."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget


def button(
    words: str,
    parent: QWidget,
    act: Callable[..., object] | None = None,
    *,
    kind: str = "",
    name: str = "",
    by_tab: bool = False,
) -> QPushButton:
    """`act` is called for each click. `kind`: the style sheet's. `name`: for screen readers, where
    the words do not say enough. `by_tab`: only Tab gives it the focus, so that the talk key still
    works after a click.
    """
    made = QPushButton(words, parent)
    if act is not None:
        made.clicked.connect(act)
    if kind:
        made.setProperty("kind", kind)
    if name:
        made.setAccessibleName(name)
    if by_tab:
        made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return made
