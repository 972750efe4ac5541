"""Creates the page of models only when it is first opened, so that the window opens sooner."""

from PySide6.QtWidgets import QWidget

from app.bridge import Post
from app.look.theme import Theme
from app.models.page import ModelsPage
from engine.api import Event


class Models:
    """Creates the page when it is opened for the first time."""

    def __init__(self, post: Post, theme: Theme, window: QWidget) -> None:
        self._made = (post, theme, window)
        self._page: ModelsPage | None = None  # None = never opened

    def open(self) -> ModelsPage:
        """Show the page, in front."""
        if self._page is None:
            self._page = ModelsPage(*self._made)
        self._page.open_beside()
        return self._page

    def on_event(self, event: Event) -> None:
        if self._page is not None:
            self._page.on_event(event)
