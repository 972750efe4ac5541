"""The window as a whole: turns typed and spoken, faults, drops, shortcuts, layout, what is kept."""

from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, QPointF, Qt, QTimer, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu, QWidget

from app import language
from app.keys import Shortcut
from app.look.controls import ProgressBar
from app.models import ModelsPage
from app.settings.dialog import SettingsDialog
from app.status.panel import last_turn_line
from app.window import Window
from engine import api
from engine.api import Export
from tests.help.fakes.engine import READY, spoken_turn
from tests.help.window import tell

CTRL = Qt.KeyboardModifier.ControlModifier
ALT = Qt.KeyboardModifier.AltModifier


def key(window, pressed: Qt.Key, modifiers=Qt.KeyboardModifier.NoModifier) -> None:
    QTest.keyClick(window.windowHandle(), pressed, modifiers)
    QApplication.processEvents()


def drop(widget: QWidget, *paths: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    held = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPoint(5, 5), Qt.DropAction.CopyAction, data, *held)
    QApplication.sendEvent(widget, enter)
    assert enter.isAccepted()
    drop_there = QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, *held)
    QApplication.sendEvent(widget, drop_there)


def test_letters_begin_a_typed_turn_wherever_the_focus_is(window, posted):
    window.conversation.setFocus()
    key(window, Qt.Key.Key_H)
    line = window.composer.line
    assert line.hasFocus()
    assert line.text().lower() == "h"
    for typed, sent in (("   ", []), ("  what time is it?  ", [api.SendText("what time is it?")])):
        line.setText(typed)
        key(window, Qt.Key.Key_Return)
        assert posted == sent
    assert line.text() == ""


def test_the_welcome_goes_with_the_first_turn_and_comes_with_a_new_conversation(window, posted):
    tell(window, api.SettingChanged("window.first_start", 5))
    assert window.welcome.isVisible()
    tell(window, *spoken_turn(1, "a", "b"))
    assert window.conversation.isVisible()
    assert not window.welcome.isVisible()
    key(window, Qt.Key.Key_N, CTRL)
    assert posted == [api.NewConversation()]
    assert window.welcome.isVisible()


def test_stop_can_be_pressed_only_while_there_is_a_reply(window, posted):
    assert not window.composer.stop.isEnabled()
    tell(window, api.PhaseChanged(1, api.Phase.SPEAKING))
    window.composer.stop.click()
    assert posted == [api.StopReply()]
    tell(window, api.PhaseChanged(1, api.Phase.IDLE))
    assert not window.composer.stop.isEnabled()


def test_no_fault_is_lost_nor_takes_the_keyboard_away_and_the_same_one_counts(window):
    window.composer.type("a")
    first, second = api.Failed("a", "First.", "Mend it."), api.Failed("b", "Second.", "")
    tell(window, first)
    key(window, Qt.Key.Key_B)
    assert window.composer.line.text().lower() == "ab"
    assert window.banner.isVisible()
    assert window.banner.hint.text() == "Mend it."
    tell(window, second, second)
    assert len(window.banner.faults) == 2
    assert window.banner.message.text() == "Second.  (2 times)"
    window.banner.dismiss.click()
    assert window.banner.message.text() == "First."
    window.banner.dismiss.click()
    assert not window.banner.isVisible()


def test_several_faults_take_one_line_and_each_can_be_mended(window):
    hears, thinks = api.Part.MICROPHONE, api.Part.LANGUAGE_MODEL
    tell(window, api.Failed("device", "No microphone was found.", "Plug one in.", None, hears))
    alone = window.banner.sizeHint().height()
    tell(window, api.Failed("model", "The model is gone. " * 20, "Choose.", None, thinks))
    tell(window, api.Failed("engine", "Something went wrong.", ""))
    banner = window.banner
    assert banner.height() < alone
    assert banner.counter.text() == "1/3"
    assert not banner.fix.isVisible()  # no part is to blame
    banner.dismiss.click()
    assert "Choose." in banner.toolTip()
    banner.fix.click()
    dialog = window.findChild(SettingsDialog)
    assert dialog.tabs.tabText(dialog.tabs.currentIndex()) == "Language model"


def test_the_message_field_grows_to_five_lines_and_enter_sends_them(window, posted):
    line = window.composer.line
    one = line.height()
    window.composer.type("one")
    for _ in range(2):
        QTest.keyClick(line, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
        QTest.keyClicks(line, "more")
    QApplication.processEvents()
    spacing = line.fontMetrics().lineSpacing()
    assert line.height() - one == pytest.approx(2 * spacing, abs=2)
    assert line.verticalScrollBar().maximum() == 0
    QTest.keyClick(line, Qt.Key.Key_Return)
    assert posted == [api.SendText("one\nmore\nmore")]
    QApplication.processEvents()
    assert (line.text(), line.height()) == ("", one)
    window.composer.type("\n" * 30)
    QApplication.processEvents()
    assert line.height() - one == pytest.approx(4 * spacing, abs=4)
    line.setText("x" * 30_000)
    assert len(line.text()) == 20_000


def test_an_empty_window_offers_what_people_come_for(window):
    told = [api.Ready(api.Part.LANGUAGE_MODEL, "skills")]
    tell(window, api.SettingChanged("window.first_start", 99), *told)
    window.welcome.smarter.click()
    assert window.findChild(ModelsPage).isVisible()
    window.welcome.own_voice.click()
    page = window.side.voices.page
    assert page.isVisible()
    assert page.recorder.isVisible()
    tell(window, api.Ready(api.Part.LANGUAGE_MODEL, "llama", "some.gguf"))
    assert not window.welcome.smarter.isVisible()
    assert window.welcome.own_voice.isVisible()


def test_loading_is_shown_until_the_part_is_ready_and_a_notice_goes_away(window):
    tell(window, api.Loading(api.Part.RECOGNISER, "Loading whisper", 0.25))
    row = window.side.status.rows[api.Part.RECOGNISER]
    assert row.findChild(ProgressBar).isVisibleTo(row)
    assert window.notice.text() == "Getting ready: Recogniser"
    tell(window, api.Ready(api.Part.RECOGNISER, "whisper", "small"))
    assert not row.findChild(ProgressBar).isVisibleTo(row)
    assert row.accessibleName() == "Recogniser: Whisper, on this computer"
    assert window.notice.text() == ""
    tell(window, api.Notice("Timer set."))
    assert window.notice.text() == "Timer set."
    window.notice._timer.timeout.emit()
    assert window.notice.text() == ""


def test_a_notice_that_is_too_long_shows_its_beginning(window):
    seen = []
    for beginning in ("ab", "ba"):
        tell(window, api.Notice(beginning + "-" * 400))
        seen.append(window.notice.grab().toImage())
    assert seen[0] != seen[1]


def test_while_all_is_well_one_line_says_so_until_more_is_wanted(window):
    status = window.side.status
    tell(window, *READY)
    assert status.summary.accessibleName() == "All is well"
    assert not any(row.isVisible() for row in status.rows.values())
    status.summary.click()
    assert set(status.rows) == set(api.Part)
    assert all(row.isVisible() for row in status.rows.values())
    status.summary.click()
    tell(window, api.Failed("model", "It broke.", "", 3, api.Part.LANGUAGE_MODEL))
    (row,) = [row for row in status.rows.values() if row.isVisible()]
    assert row is status.rows[api.Part.LANGUAGE_MODEL]
    assert status.summary.accessibleName() == "One part needs attention"
    assert (row.shown, window.stage.phase.text()) == ("not working", "Needs attention")
    assert row.accessibleDescription() == "It broke."
    tell(window, *spoken_turn(4, "a", "b"))  # which shows that it works
    assert (row.shown, window.stage.phase.text()) == ("Built-in skills", "Ready")


def test_the_last_turn_shows_how_long_the_answer_took_and_counts_gaps(window):
    tell(window, *spoken_turn(1, "a", "b"))
    assert window.side.status.last_turn.text() == "Last turn: answered after 0.31 s"
    assert "first token: 190 ms" in window.side.status.last_turn.toolTip()
    assert "sphinx, 87% sure" in window.side.status.last_turn.toolTip()
    for underruns, gaps in ((1, "the sound broke once"), (2, "the sound broke 2 times")):
        line = last_turn_line(api.TurnMetrics(heard_ms=310, underruns=underruns))
        assert line.endswith(f"0.31 s\n{gaps}")


@pytest.mark.parametrize("where", ["window", "voice area"])
def test_a_file_dropped_anywhere_becomes_a_voice_to_inspect(window, posted, where):
    assert not window.composer.line.acceptDrops()  # so that Qt gives it to the window
    drop(window if where == "window" else window.side.voices, Path("/tmp/a clip.flac"))
    assert posted == [api.AddVoice(Path("/tmp/a clip.flac"))]


def test_rate_and_volume_are_posted_also_while_typing(window, posted):
    window.stage.rate.slider.show_rate(4.0)
    window.composer.type("a")
    key(window, Qt.Key.Key_Up, ALT)
    key(window, Qt.Key.Key_Down, ALT)
    window.header.volume.setValue(60)
    window.header.mute.click()
    window.header.mute.click()
    rate, volume = "speech.rate", "audio.volume"
    changes = ((rate, 4.1), (rate, 4.0), (volume, 0.6), (volume, 0.0), (volume, 0.6))
    assert posted == [api.ChangeSetting(*each) for each in changes]


def test_hands_free_is_shown_on_the_talk_button_and_posted_unless_the_engine_said_it(
    window, posted
):
    tell(window, *READY, api.SettingChanged("audio.hands_free", True))
    tell(window, api.SettingChanged("audio.volume", 0.4))
    assert window.header.hands_free.isChecked()
    assert window.header.volume.value() == 40
    assert posted == []
    for is_on, words in ((False, "Hold to talk"), (True, "Just speak")):
        key(window, Qt.Key.Key_H, CTRL)
        assert posted[-1] == api.ChangeSetting("audio.hands_free", is_on)
        assert window.composer.talk.words == words
    tell(window, api.PhaseChanged(1, api.Phase.LISTENING))
    assert window.composer.talk.words == "Listening"


@pytest.mark.parametrize("mode", ["light", "dark", "system"])
def test_every_click_of_the_theme_button_changes_what_is_seen(window, posted, theme, mode):
    window.change("window.theme", mode)
    for _ in range(3):
        was_dark = theme.is_dark
        window.header.theme_button.click()
        assert theme.is_dark is not was_dark
        assert posted[-1] == api.ChangeSetting("window.theme", "light" if was_dark else "dark")


def test_a_microphone_is_chosen_from_the_menu_of_its_row(window, posted, monkeypatch):
    opened: list[QMenu] = []
    monkeypatch.setattr(QMenu, "popup", lambda menu, at: opened.append(menu))
    tell(window, *READY)
    for chosen in (0, 2):
        window.side.status.rows[api.Part.MICROPHONE].click()
        entries = opened[-1].actions()
        names = [entry.text() for entry in entries]
        assert names == ["System default", "Built-in microphone", "USB headset"]
        assert [entry.isChecked() for entry in entries].index(True) == chosen
        entries[2].trigger()
        assert posted[-1] == api.ChangeSetting("audio.microphone", "USB headset")


def test_the_orb_stands_still_after_a_minute_of_rest_and_while_the_window_is_hidden(window):
    tell(window, *READY)
    beat = window.stage.orb.findChild(QTimer)
    for _ in range(59_000 // beat.interval()):
        beat.timeout.emit()
    assert beat.isActive()
    for _ in range(2_000 // beat.interval()):
        beat.timeout.emit()
    assert not beat.isActive()
    window.hide()
    tell(window, api.PhaseChanged(1, api.Phase.SPEAKING))
    assert not beat.isActive()
    window.show()
    assert beat.isActive()


def test_a_narrow_window_puts_the_shelf_away_behind_a_button(window):
    tell(window, api.Heard(1, "a", 1.0, "keyboard"))
    window.resize(480, 640)
    QApplication.processEvents()
    assert (window.width(), window.height()) == (480, 640)
    assert not window.side.isVisible()
    assert window.stage.rate.slider.isVisible()
    assert window.conversation.isVisible()
    window.header.details.click()
    assert window.side.isVisible()
    assert not window.conversation.isVisible()
    window.resize(1100, 760)
    QApplication.processEvents()
    assert window.side.isVisible()
    assert window.conversation.isVisible()


class Greedy(QObject):
    """A field that keeps every key to itself, as some do on some systems."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        return False


def test_every_shortcut_of_the_card_does_something_also_while_typing(window, monkeypatch):
    done = []
    monkeypatch.setattr("app.window.act", lambda window, shortcut: done.append(shortcut))
    greedy = Greedy(window)
    window.composer.line.installEventFilter(greedy)
    window.composer.type("a")
    for act in Shortcut:
        pressed = QKeySequence(act.keys)[0]
        key(window, pressed.key(), pressed.keyboardModifiers())
    assert done == list(Shortcut)


def test_a_chosen_file_is_exported_and_a_name_without_a_suffix_gets_that_of_the_kind(
    window, posted, tmp_path
):
    key(window, Qt.Key.Key_E, CTRL)
    dialog = window.findChild(QFileDialog)
    for name in dialog.nameFilters():
        dialog.filterSelected.emit(name)
        assert f"*.{dialog.defaultSuffix()})" in name
    dialog.fileSelected.emit(str(tmp_path / "talk.md"))
    assert posted == [Export(tmp_path / "talk.md")]
    dialog.close()
    QApplication.processEvents()


def test_in_a_narrow_window_too_one_can_send_and_change_volume_and_theme(window, posted, theme):
    window.resize(480, 640)
    tell(window)
    window.composer.type("a line of words that is longer than the window is wide " * 2)
    tell(window)
    line = window.composer.line
    assert line.horizontalScrollBar().maximum() == 0
    assert line.document().size().height() > 1
    assert window.composer.send.isVisible()
    window.composer.send.click()
    assert isinstance(posted[-1], api.SendText)
    menu = window.header.more.menu()
    menu.entries[Shortcut.QUIETER].trigger()
    assert posted[-1] == api.ChangeSetting("audio.volume", 0.9)
    menu.entries[Shortcut.LOUDER].trigger()
    assert posted[-1] == api.ChangeSetting("audio.volume", 1.0)
    menu.entries[Shortcut.THEME].trigger()
    assert posted[-1] == api.ChangeSetting("window.theme", "light")


@pytest.mark.parametrize("size", [(640, 640), (1000, 700), (1100, 780), (1280, 900)])
def test_beside_the_conversations_no_step_is_cut(qtbot, theme, size):
    language.choose("fr")
    window = Window(api.Settings(), lambda _: None, theme)
    qtbot.addWidget(window)
    window.resize(*size)
    window.show()
    window.header.history.setChecked(True)
    tell(window, api.SettingChanged("window.first_start", 2))
    card = window.first_start
    if card.isVisible():
        assert card.width() >= card.minimumSizeHint().width()
    assert window.composer.line.width() > 200


@pytest.mark.parametrize(("size", "seen"), [((640, 640), False), ((640, 800), True)])
def test_in_a_short_window_the_list_of_conversations_takes_the_place_of_the_stage(
    window, size, seen
):
    window.resize(*size)
    assert window.stage.isVisible()
    window.header.history.setChecked(True)
    assert window.stage.isVisible() is seen
    window.header.history.setChecked(False)
    assert window.stage.isVisible()


def test_a_question_is_edited_in_the_line_and_what_was_typed_before_returns(qtbot, window, posted):
    tell(window, *spoken_turn(1, "what time", "Ten."))
    line = window.composer.line
    line.setText("a draft")
    qtbot.keyClick(window, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    assert (line.text(), line.hasFocus()) == ("what time", True)
    assert window.composer.editing.isVisible()
    qtbot.keyClick(line, Qt.Key.Key_Escape)
    assert (line.text(), window.composer.editing.isVisible()) == ("a draft", False)
    assert api.StopReply(by_escape=True) not in posted
    line.undo()
    assert line.text() == "what time"
    line.redo()
    qtbot.keyClick(window, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClicks(line, " is it")
    qtbot.keyClick(line, Qt.Key.Key_Return)
    assert posted[-1] == api.SendText("what time is it", instead_of=1)
    assert line.text() == "a draft"
    qtbot.keyClick(line, Qt.Key.Key_Return)
    assert posted[-1] == api.SendText("a draft")
    qtbot.keyClick(window, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    window.on_event(api.ConversationOpened(None))
    assert not window.composer.editing.isVisible()


def test_a_typed_question_is_seen_where_the_conversations_lay_over_it(window):
    window.resize(1000, 700)
    window.show()
    window.header.history.setChecked(True)
    tell(window, api.Heard(1, "hi", 1.0, "sphinx"))
    assert not window.conversation.isVisible()  # nobody who reads the list is disturbed
    tell(window, api.Heard(2, "what time is it", 1.0, api.KEYBOARD))
    assert window.conversation.isVisible()


@pytest.mark.parametrize(("code", "first"), [("es", "¿Qué hora es?"), ("de", "What time is it?")])
def test_the_examples_are_in_the_language_of_the_window_if_that_is_understood(
    code, first, theme, settings, posted, qtbot
):
    language.choose(code)
    window = Window(settings, posted.append, theme)
    qtbot.addWidget(window)
    window.welcome.examples[0].click()
    assert posted[-1] == api.SendText(first)
