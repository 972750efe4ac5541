"""What an empty conversation asks for, and what a reply offers: to be heard again, and copied."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from app.conversation import bubbles
from app.conversation.transcript import ReplyWord, Span, Transcript, step, step_reply
from app.window import Window
from engine import api
from engine.api import Failed, Part, Ready, SettingChanged, SleepChanged
from tests.help.fakes.engine import READY, lacking_turn, speaking_turn, spoken_turn
from tests.help.window import tell

REPLY = "It 😀 rains. Or not."
PAST = (
    api.Turn(-3, api.Ending.COMPLETE, 0.0, "does it rain?", reply=REPLY, heard=REPLY),
    api.Turn(-2, None, 0.0, "and tomorrow?", reply="Sun"),
)


@pytest.fixture
def shown(window: Window, posted: list[api.Command]) -> Window:
    window.on_event(api.ConversationOpened(1, turns=PAST))
    QApplication.processEvents()
    posted.clear()
    return window


def place_of(window: Window, word: str, reply: str = REPLY) -> QPoint:
    """Where a word of the first reply stands in the view."""
    exchange = window.conversation.transcript.exchanges[0]
    start = reply.index(word)
    (rect,) = window.conversation._rects(ReplyWord(exchange, Span(start, start + len(word))))
    return rect.center().toPoint() - QPoint(0, window.conversation.verticalScrollBar().value())


def click(qtbot, window: Window, at: QPoint) -> None:
    qtbot.mouseClick(window.conversation.viewport(), Qt.MouseButton.LeftButton, pos=at)


def test_a_click_on_a_word_that_is_shown_without_its_marks_asks_for_it(qtbot, window, posted):
    reply = "# Cake\n\nTake **some** flour.\n\n- *Two* eggs"
    past = api.Turn(-2, api.Ending.COMPLETE, 0.0, reply=reply, heard=reply)
    window.on_event(api.ConversationOpened(1, turns=(past,)))
    QApplication.processEvents()
    posted.clear()
    for word in ("**some**", "*Two*"):
        asked = [api.Replay(-2, reply.index(word))]
        click(qtbot, window, place_of(window, word, reply))
        qtbot.waitUntil(lambda asked=asked: posted[-1:] == asked)


def test_a_click_beside_asks_for_nothing_and_keys_mark_a_word_for_enter(qtbot, shown, posted):
    view = shown.conversation
    click(qtbot, shown, place_of(shown, "not.") + QPoint(300, 0))
    at = place_of(shown, "rains.")
    click(qtbot, shown, at)
    qtbot.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert not view._click.isActive()  # nor a double click
    assert posted == []
    view.setFocus()
    control = Qt.KeyboardModifier.ControlModifier
    for pressed in (Qt.Key.Key_Up, Qt.Key.Key_Up, Qt.Key.Key_Right, Qt.Key.Key_Right):
        qtbot.keyClick(view, pressed, control)
    assert view._mark is not None
    assert view._mark.text == "rains."
    view.grab()  # the mark can be painted
    qtbot.keyClick(view, Qt.Key.Key_Return)
    assert posted == [api.Replay(-3, REPLY.index("rains."))]


def test_the_word_that_is_heard_again_is_highlighted_until_the_end(shown):
    start = REPLY.index("rains.")
    assert shown.conversation.word_rects() == []
    shown.on_event(api.WordReplayed(-3, start, start + 6))
    (rect,) = shown.conversation.word_rects()
    offset = shown.conversation.verticalScrollBar().value()
    assert rect.contains((place_of(shown, "rains.") + QPoint(0, offset)).toPointF())
    shown.on_event(api.ReplayEnded(-3))
    assert shown.conversation.word_rects() == []


def test_marking_goes_over_the_ends_of_replies_and_stops_at_the_last():
    transcript = Transcript()
    assert step(transcript, None, 1) is None
    transcript.load((*PAST, api.Turn(-1, api.Ending.COMPLETE, 0.0, reply="One two")))
    mark = step(transcript, None, 1)
    assert mark.text == "One"
    assert step(transcript, mark, -1).text == "Sun"
    two = step(transcript, mark, 1)
    assert step(transcript, two, 1) == two
    first = step_reply(transcript, step_reply(transcript, two, -1), -1)
    assert first.text == "It"
    assert step(transcript, first, -1) == first
    transcript.clear()
    assert step(transcript, first, 1) is None


FIRST = "# Cake\n\nTake **flour**."


def hover(qtbot, window: Window, turn: int) -> None:
    view = window.conversation
    exchange = next(each for each in view.transcript.exchanges if each.turn == turn)
    block = view._document.reply_block(exchange)
    at = bubbles.text_rect(block).center().toPoint() - QPoint(0, view.verticalScrollBar().value())
    qtbot.mouseMove(view.viewport(), at + QPoint(1, 0))
    qtbot.mouseMove(view.viewport(), at)
    qtbot.waitUntil(lambda: view.tools.exchange is exchange)


def test_the_newest_reply_has_them_until_another_is_pointed_at(qtbot, window, posted):
    tell(window, *READY, *spoken_turn(1, "a", FIRST), *spoken_turn(2, "b", "Ten."))
    posted.clear()
    tools = window.conversation.tools
    assert tools.isVisible()
    tools.copy.click()
    assert QGuiApplication.clipboard().text() == "Ten."
    hover(qtbot, window, 1)
    tools.copy.click()
    assert QGuiApplication.clipboard().text() == FIRST
    tools.again.click()
    assert posted == [api.Replay(1, 0)]
    window.conversation.clear_all()
    tell(window, *speaking_turn(3, "a", "It is ten.", word="is"))
    assert not tools.isVisible()  # it is still spoken


def test_they_stand_over_no_text_and_no_other_button(window):
    ends = spoken_turn(1, "a", "It is ten.", heard="It", ending=api.Ending.INTERRUPTED_BY_ESCAPE)
    for turn in (ends, lacking_turn(2, "b"), spoken_turn(3, "c", "Yes.")):
        tell(window, *turn)
        view = window.conversation
        rect = view.tools.geometry().translated(0, view.verticalScrollBar().value())
        block = view.document().begin().next()
        while block.isValid():
            if block.text().strip():
                assert not bubbles.text_rect(block).toRect().intersects(rect), block.text()
            block = block.next()


def test_where_there_was_no_room_they_find_their_places_once_there_is(window):
    """As behind the first steps, where the conversation has no size yet."""
    view = window.conversation
    view.resize(view.width(), 30)
    tell(window, *lacking_turn(1, "who wrote Hamlet"))
    view.resize(view.width(), 30)
    view.tools.place()
    assert view.tools.isHidden()
    view.resize(view.width(), 450)
    assert not view.tools.isHidden()
    assert view.tools.model_link.isVisibleTo(view)


@pytest.mark.parametrize("resized", [False, True])
@pytest.mark.parametrize(("said", "below"), [("b", "b"), ("", "Your tea")])
def test_they_touch_nothing_below(window, said, below, resized):
    """Neither a question, nor the text of a timer, which follows without one."""
    tell(window, *spoken_turn(1, "a", "It is ten."), *spoken_turn(2, said, "Your tea is ready."))
    if resized:
        window.resize(window.width() - 40, window.height())
        tell(window)
    view = window.conversation
    view.tools.point_at(view.transcript.exchanges[0])
    top = bubbles.text_rect(view.document().find(below).block()).top() - bubbles.PAD_Y
    assert view.tools.geometry().bottom() + 8 < top - view.verticalScrollBar().value()


SPEAK = "Just speak, hold Space to talk, or type."
MUTED = SettingChanged("audio.muted", True)
ASLEEP = SleepChanged(True, "hey rubato")
DEAF = Failed("device", "No microphone was found.", "", part=Part.MICROPHONE)


@pytest.fixture
def ready(window: Window) -> Window:
    tell(window, *READY, SettingChanged("audio.hands_free", True))
    return window


@pytest.mark.parametrize(
    ("event", "button"), [(MUTED, "Muted"), (ASLEEP, None), (DEAF, "Cannot hear")]
)
def test_nobody_is_asked_to_speak_who_would_not_be_heard(ready, event, button):
    assert (ready.welcome.how.text(), ready.composer.talk.words) == (SPEAK, "Just speak")
    ready.on_event(event)
    assert "Just speak" not in ready.welcome.how.text()
    assert "type" in ready.welcome.how.text().lower()
    assert button in (None, ready.composer.talk.words)


def test_asleep_it_says_what_wakes_it_and_it_asks_again_once_it_hears_again(ready):
    ready.on_event(ASLEEP)
    assert ready.welcome.how.text().startswith("Say “hey rubato”")
    ready.on_event(SleepChanged(False, "hey rubato"))
    assert ready.welcome.how.text() == SPEAK
    tell(ready, MUTED, DEAF, SettingChanged("audio.muted", False))
    assert ready.welcome.how.text() != SPEAK
    ready.on_event(Ready(Part.MICROPHONE, "default"))
    assert ready.welcome.how.text() == SPEAK


def test_nobody_is_asked_to_speak_while_the_orb_says_getting_ready(window):
    window.on_event(SettingChanged("audio.hands_free", True))
    for event in READY:
        is_ready = window.stage.phase.text() != "Getting ready"
        assert (window.welcome.how.text() == SPEAK) is is_ready
        assert (window.welcome.title.text() == "Say something") is is_ready
        assert window.composer.talk.words == ("Just speak" if is_ready else "Getting ready")
        window.on_event(event)
    assert window.stage.phase.text() == "Ready"
    assert window.composer.talk.words == "Just speak"
