"""What the conversation shows, marks, keeps selected and where it scrolls."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QApplication

from app.conversation import markdown
from app.conversation.bubbles import Kind, kind_of, text_rect
from app.conversation.transcript import Span, Transcript
from app.conversation.view import Conversation
from app.look.theme import Theme
from engine import api
from tests.help.fakes.engine import lacking_turn, speaking_turn, spoken_turn


@pytest.fixture
def conversation(qtbot, theme: Theme) -> Conversation:
    made = Conversation(theme, None)
    qtbot.addWidget(made)
    made.resize(600, 400)
    made.show()
    return made


def tell(conversation: Conversation, *events) -> None:
    for event in events:
        conversation._pause.stop()  # as if each came later
        conversation.on_event(event)
    QApplication.processEvents()


def test_a_reply_is_read_once_for_many_words_that_come_together(conversation, qtbot, monkeypatch):
    said, read = [], markdown.read
    monkeypatch.setattr(markdown, "read", lambda reply: said.append(reply) or read(reply))
    tell(conversation, api.Heard(1, "a", 1.0, "keyboard"))
    for number in range(50):
        conversation.on_event(api.ReplyDelta(1, f"{number} "))
        conversation.on_event(api.WordHeard(1, 0, 1))
    assert said == ["0 "]
    qtbot.waitUntil(lambda: conversation.toPlainText().endswith("49"))
    assert len(said) == 2
    conversation.on_event(api.ReplyDelta(1, "more"))
    conversation.clear_all()
    qtbot.waitUntil(lambda: not conversation._pause.isActive())
    assert conversation.is_blank


def blocks(conversation: Conversation) -> list[tuple[Kind, str]]:
    found = []
    block = conversation.document().begin().next()
    while block.isValid():
        found.append((kind_of(block), block.text()))
        block = block.next()
    return found


def marked(conversation: Conversation) -> str:
    """The text under the mark of the word being heard."""
    rects = conversation.word_rects()
    if not rects:
        return ""
    layout = conversation.document().documentLayout()
    left, right = rects[0].topLeft(), rects[-1].topRight()
    for point in (left, right):
        point.setY(rects[0].center().y())
    exact = Qt.HitTestAccuracy.FuzzyHit
    cursor = QTextCursor(conversation.document())
    cursor.setPosition(layout.hitTest(left, exact))
    cursor.setPosition(layout.hitTest(right, exact), QTextCursor.MoveMode.KeepAnchor)
    return cursor.selectedText()


def test_a_partial_transcript_is_faint_until_it_is_final(conversation):
    tell(conversation, api.PartialTranscript(1, "what ti"), api.PartialTranscript(1, "what time"))
    assert blocks(conversation) == [(Kind.PARTIAL, "what time")]
    late = api.PartialTranscript(1, "what")
    tell(conversation, api.Heard(1, "what time", 0.8, "sphinx"), late)
    assert blocks(conversation) == [(Kind.SAID, "what time")]


def test_a_thought_gives_way_to_the_reply_also_when_the_next_turn_has_begun(conversation):
    said = (Kind.SAID, "a")
    tell(conversation, api.Heard(1, "a", 1.0, "keyboard"), api.Thought(1, "Hm."))
    tell(conversation, api.PartialTranscript(2, "b"))
    thought = (Kind.CAPTION, "thinking · …Hm.")
    assert blocks(conversation) == [said, thought, (Kind.PARTIAL, "b")]
    tell(conversation, api.ReplyDelta(1, "one two"), api.PartialTranscript(2, "bee"))
    assert blocks(conversation) == [said, (Kind.REPLY, "one two"), (Kind.PARTIAL, "bee")]


def test_only_the_last_reply_that_lacks_a_model_has_the_button(conversation):
    link = conversation.tools.model_link
    tell(conversation, *lacking_turn(1, "a"), *lacking_turn(2, "b"))
    assert link.isVisibleTo(conversation)
    conversation.tools.point_at(conversation.transcript.exchanges[0])
    assert not link.isVisibleTo(conversation)
    tell(conversation, *spoken_turn(3, "c", "Yes."))
    conversation.tools.point_at(conversation.transcript.exchanges[2])
    assert not link.isVisibleTo(conversation)
    conversation.tools.point_at(conversation.transcript.exchanges[1])
    assert link.isVisibleTo(conversation)


def test_a_reply_that_was_thought_leaves_the_view(conversation):
    tell(conversation, api.Heard(1, "a", 1.0, "keyboard"), api.ReplyDelta(1, "They ask.\n\nHm."))
    tell(conversation, api.WordHeard(1, 0, 4), api.ReplyRetracted(1))
    assert blocks(conversation) == [(Kind.SAID, "a"), (Kind.CAPTION, "thinking · …They ask. Hm.")]
    tell(conversation, api.ReplyDelta(1, "Ten."))
    assert blocks(conversation) == [(Kind.SAID, "a"), (Kind.REPLY, "Ten.")]


def test_a_turn_that_ends_after_the_next_began_gets_its_caption_in_its_place(conversation):
    tell(
        conversation,
        api.Heard(1, "a", 1.0, "keyboard"),
        api.ReplyDelta(1, "one two"),
        api.PartialTranscript(2, "b"),
        api.TurnEnded(1, api.Ending.INTERRUPTED_BY_SPEECH, "a", "one two", "one", "one two"),
        api.Heard(2, "bee", 1.0, "keyboard"),
    )
    assert blocks(conversation) == [
        (Kind.SAID, "a"),
        (Kind.REPLY, "one two"),
        (Kind.CAPTION, "interrupted · you spoke"),
        (Kind.SAID, "bee"),
    ]


@pytest.mark.parametrize(
    ("reply", "heard"),
    [
        ("Sure \U0001f600\U0001f680!\nIt is ten o'clock.", "is ten"),
        (
            "# Cake\n\nTake **two 😀 eggs**:\n\n1. Beat *them*.\n\n```\nbake()\n```",
            "Cake Take eggs Beat them bake",
        ),
    ],
)
def test_the_mark_is_on_the_word_being_heard_and_moves_with_it(conversation, reply, heard):
    tell(conversation, *speaking_turn(1, "a", reply, word=heard.split()[0]))
    for word in heard.split():
        start = reply.index(word)
        tell(conversation, api.WordHeard(1, start, start + len(word)))
        assert marked(conversation) == word
        (rect,) = conversation.word_rects()
        assert rect.width() > 5


def test_markdown_is_laid_out_as_it_comes_and_leaves_no_block_behind(conversation):
    reply = "# Cake\n\n- two *eggs*\n- [flour](https://e.org)\n\n> Done."
    tell(conversation, api.Heard(1, "a", 0.9, "sphinx"))
    for character in reply:
        tell(conversation, api.ReplyDelta(1, character))
    tell(conversation, api.TurnEnded(1, api.Ending.COMPLETE, "a", reply, reply, reply))
    tell(conversation, *spoken_turn(2, "b", "Plain."))
    shown = conversation.toPlainText()
    assert shown == "\na\nCake\n•\ttwo eggs\n•\tflour (https://e.org)\nDone.\nb\nPlain."
    conversation.rebuild()
    assert conversation.toPlainText() == shown


def test_what_is_still_to_be_heard_stands_back_until_the_turn_ends(conversation):
    reply = "It is ten."
    tell(conversation, *speaking_turn(1, "a", reply, word="is"))
    selections = conversation.extraSelections()
    assert [each.cursor.selectedText() for each in selections] == [" ten."]
    tell(conversation, api.TurnEnded(1, api.Ending.COMPLETE, "a", reply, reply, reply))
    assert conversation.word_rects() == []
    assert conversation.extraSelections() == []


def test_the_unheard_rest_of_an_interrupted_reply_stays_grey(conversation, theme):
    events = spoken_turn(
        1, "a", "It is ten.", heard="It is", ending=api.Ending.INTERRUPTED_BY_ESCAPE
    )
    tell(conversation, *events)
    block = conversation.document().findBlockByNumber(2)
    grey = "".join(
        block.text()[each.start : each.start + each.length]
        for each in block.textFormats()
        if each.format.foreground().color() == theme.colour("muted")
    )
    assert grey == " ten."
    assert not any(each.format.fontStrikeOut() for each in block.textFormats())


def test_a_bubble_is_never_narrower_than_its_text_at_any_width(conversation):
    long = "an utterance that is long enough to need several lines in a narrow window " * 3
    tell(conversation, *spoken_turn(1, long, long))
    for width in (300, 480, 900):
        conversation.resize(width, 400)
        QApplication.processEvents()
        for number in (1, 2):
            rect = text_rect(conversation.document().findBlockByNumber(number))
            assert rect.left() >= 0
            assert rect.right() <= conversation.viewport().width()


def test_copying_gives_plain_words_with_line_ends_and_a_selection_survives_the_next(conversation):
    tell(conversation, *spoken_turn(1, "a", "one\ntwo"))
    conversation.selectAll()
    data = conversation.createMimeDataFromSelection()
    assert data.text().strip() == "a\none\ntwo"
    assert not data.hasHtml()
    conversation.clear_all()
    tell(conversation, api.Heard(2, "a question", 1.0, "keyboard"), api.ReplyDelta(2, "one "))
    cursor = conversation.textCursor()
    cursor.setPosition(conversation.document().findBlockByNumber(1).position())
    cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
    conversation.setTextCursor(cursor)
    tell(conversation, api.ReplyDelta(2, "two"), api.WordHeard(2, 0, 3))
    assert conversation.textCursor().selectedText() == "a question"


def fill(conversation: Conversation, turns: int, *, first: int = 1) -> None:
    for turn in range(first, first + turns):
        tell(conversation, *spoken_turn(turn, f"question {turn}", f"answer {turn}"))


def test_it_follows_the_conversation_but_does_not_move_under_someone_who_reads(conversation):
    fill(conversation, 12)
    bar = conversation.verticalScrollBar()
    assert bar.maximum() > 0
    assert bar.value() == bar.maximum()
    bar.setValue(50)
    fill(conversation, 3, first=13)
    assert bar.value() == 50
    bar.setValue(bar.maximum())
    fill(conversation, 3, first=16)
    assert bar.value() == bar.maximum()


def test_in_a_reply_longer_than_the_view_the_word_being_heard_stays_in_sight(conversation):
    reply = " ".join(f"word{number}" for number in range(600))
    for number in (0, 150, 599):
        tell(conversation, *speaking_turn(1, "a", reply, word=f"word{number}")[:-1])
        rect = conversation.word_rects()[0]
        top = conversation.verticalScrollBar().value()
        assert top <= rect.top()
        assert rect.bottom() <= top + conversation.viewport().height()


def test_in_a_long_conversation_one_more_turn_touches_only_the_end(conversation):
    ending = api.Ending.COMPLETE
    answer = "an answer"
    past = tuple(api.Turn(n, ending, 0.0, "a", reply=answer, heard=answer) for n in range(-200, 0))
    conversation.on_event(api.ConversationOpened(1, turns=past))
    document, begun = conversation.document(), list[int]()
    before = document.characterCount()
    document.contentsChange.connect(lambda at, removed, added: begun.append(at))
    for event in spoken_turn(1, "a question", "an answer of a few words"):
        conversation.on_event(event)
    assert min(begun) > before - 3


def ended(turn: int, ending: api.Ending, *, said: str = "", reply: str = "", heard: str = ""):
    return api.TurnEnded(turn, ending, said, reply, heard, reply)


def told(*events) -> Transcript:
    transcript = Transcript()
    for event in events:
        transcript.on_event(event)
    return transcript


def test_events_after_the_end_of_a_turn_or_of_a_cleared_conversation_are_dropped():
    end = ended(1, api.Ending.INTERRUPTED_BY_ESCAPE, said="a", reply="It is", heard="It")
    transcript = told(api.Heard(1, "a", 1.0, "keyboard"), api.ReplyDelta(1, "It is"), end)
    for late in (api.ReplyDelta(1, " ten."), api.WordHeard(1, 3, 5), api.Thought(1, "late")):
        assert transcript.on_event(late) is None
    assert transcript.exchanges[0].reply == "It is"
    transcript.clear()
    assert transcript.on_event(api.ReplyDelta(1, "late")) is None
    assert transcript.on_event(api.ReplyDelta(2, "new")) is not None


def test_of_a_typed_turn_the_unheard_rest_is_faint_once_it_was_interrupted():
    transcript = told(
        api.Heard(1, "a", 1.0, "keyboard"), api.ReplyDelta(1, "It is"), api.WordHeard(1, 0, 2)
    )
    assert transcript.exchanges[0].unheard is None
    outside = told(api.ReplyDelta(1, "ten"), api.WordHeard(1, 2, 9))
    assert outside.exchanges[0].word is None  # of the reply
    end = ended(1, api.Ending.INTERRUPTED_BY_TEXT, said="a", reply="It is ten.", heard="It is")
    exchange = transcript.on_event(end)
    assert (exchange.unheard, exchange.heard_end) == (Span(5, 10), 5)


@pytest.mark.parametrize("ending", [each for each in api.Ending if each.interrupted])
def test_every_interruption_is_shown_with_its_cause(ending):
    heard = ended(1, ending, said="a", reply="It is ten.", heard="It is")
    assert told(heard).exchanges[0].caption.startswith("interrupted · ")
    unheard = ended(1, ending, said="a")
    assert told(unheard).exchanges[0].caption.startswith("stopped · ")
    broken = ended(1, api.Ending.FAILED, said="a", reply="It is", heard="It")
    assert told(broken).exchanges[0].caption.startswith("interrupted")
    silent = ended(1, api.Ending.FAILED, said="a")
    assert told(silent).exchanges[0].caption.startswith("no answer")


TWO = (*spoken_turn(1, "what time", "Ten."), *spoken_turn(2, "and now", "Eleven."))


def test_a_question_sent_again_takes_what_came_after_it_out_of_sight(conversation):
    tell(conversation, *TWO, api.ConversationCut(1))
    assert blocks(conversation) == []
    late = (api.ReplyDelta(2, "more"), api.Heard(3, "what day", 1.0, "keyboard"))
    tell(conversation, *late)
    assert blocks(conversation) == [(Kind.SAID, "what day")]
    tell(conversation, api.ConversationCut(3))
    assert conversation.tools.edit.isHidden()


def test_the_pencil_stands_beside_the_question_pointed_at_else_the_newest(qtbot, conversation):
    tell(conversation, *TWO)
    wanted = []
    conversation.tools.edit_wanted.connect(lambda turn, said: wanted.append((turn, said)))
    pencil = conversation.tools.edit
    qtbot.mouseClick(pencil, Qt.MouseButton.LeftButton)
    bubble = text_rect(conversation.document().begin().next())
    qtbot.mouseMove(conversation.viewport(), bubble.center().toPoint())
    assert pencil.isVisible()
    assert pencil.geometry().right() < bubble.left()
    assert pencil.geometry().top() <= bubble.center().y() <= pencil.geometry().bottom()
    pencil.click()
    qtbot.keyClick(conversation, Qt.Key.Key_Up, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(conversation, Qt.Key.Key_Down, Qt.KeyboardModifier.ControlModifier)
    pencil.click()
    assert wanted == [(2, "and now"), (1, "what time"), (2, "and now")]
    assert "Edit" in pencil.accessibleName()
    tell(conversation, api.PartialTranscript(3, "an"))  # which is no question yet
    assert conversation.tools.question.turn == 2
