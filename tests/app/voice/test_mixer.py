"""Two voices are mixed on the page of voices: heard, then kept under a name."""

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.look.theme import Theme
from app.voice.page import VoicesPage
from engine import api

LEFT = Qt.MouseButton.LeftButton
NAMES = ("Heart", "Emma", "George")


def listed(*names: str) -> api.VoicesListed:
    return api.VoicesListed(tuple(api.VoiceEntry(name, own=True) for name in names), mixable=names)


@pytest.fixture
def page(qtbot: QtBot, theme: Theme, posted: list[api.Command]) -> VoicesPage:
    page = VoicesPage(posted.append, theme, None)  # type: ignore[arg-type]
    qtbot.addWidget(page)
    page.open_beside()
    page.takes(listed(*NAMES))
    qtbot.mouseClick(page.mix, LEFT)
    posted[:] = [each for each in posted if each not in (api.ListVoices(), api.ListModels())]
    return page


def test_a_mixture_is_heard_then_kept(page, posted, qtbot):
    mixer = page.mixer
    assert mixer.shares.text() == "50 % Heart, 50 % Emma"
    assert not mixer.keep.isEnabled()
    mixer.other.setFocus()
    qtbot.keyClick(mixer.other, Qt.Key.Key_G)  # type-ahead
    mixer.share.setValue(mixer.share.value() - 4)
    assert mixer.shares.text() == "70 % Heart, 30 % George"
    page.text.setText("Good morning")
    qtbot.mouseClick(mixer.hear, LEFT)
    page.takes(api.PreviewChanged("", api.PreviewState.MAKING))
    assert (mixer.hear.text(), page.rows["Heart"].hear.text()) == ("Stop", "Hear")
    page.takes(api.PreviewChanged("", api.PreviewState.OVER))
    qtbot.keyClicks(mixer.name, " Luna ")
    qtbot.mouseClick(mixer.keep, LEFT)
    mix = api.Mix("Heart", "George", 0.7)
    assert posted == [api.PreviewVoice("", "Good morning", mix), api.MixVoices("Luna", mix)]
    page.takes(listed(*NAMES, "Luna"))
    assert not mixer.isVisible()
    assert "Luna" in page.rows
    page.takes(api.VoicesListed((api.VoiceEntry("Alan", own=True),)))
    assert not page.mix.isVisible()  # another synthesiser cannot mix


def test_a_name_that_is_taken_leaves_all_as_it_was(page, qtbot):
    qtbot.keyClicks(page.mixer.name, "Heart")
    qtbot.mouseClick(page.mixer.keep, LEFT)
    page.takes(listed(*NAMES))
    page.takes(api.Failed("input", "There is one already.", "Choose another name."))
    page.takes(listed(*NAMES, "Other"))
    assert page.mixer.isVisible()
    assert page.mixer.name.text() == "Heart"
    assert "already" in page.notice.text()
