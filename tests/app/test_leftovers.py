"""A window that is closed is gone, with all that was opened in it; what lives on is noticed."""

import gc
import weakref

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget

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


def test_a_window_and_a_timer_that_live_on_are_noticed(qapp):
    window, timer = QWidget(), QTimer(qapp)
    assert clear_away() == [window]
    timer.start(60_000)
    assert clear_away() == [window, timer]
    for each in (window, timer):
        each.deleteLater()
    assert clear_away() == []
