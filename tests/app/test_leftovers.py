"""A window that is closed is gone, with all that was opened in it; what lives on is noticed."""

import gc
import weakref

from app.window import Window
from tests.app.everyone.pages import PAGES
from tests.app.leftovers import clear_away


def test_a_closed_window_is_gone_with_all_that_was_opened(theme, settings, posted):
    window = Window(settings, posted.append, theme)
    window.show()
    for open_page in PAGES.values():
        open_page(window)
    known = weakref.ref(window)
    window.hide()
    window.deleteLater()
    del window
    assert clear_away() == []
    gc.collect()
    assert known() is None
