"""SSML of the daemon and of its clients."""

import pytest

from engine.serve.doors.speech_dispatcher.message import LONGEST, Message, parse
from engine.text.names import Name


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("plain text", Message("plain text")),
        ("<speak>Tom &amp; Ann &lt;3 &#233;</speak>", Message("Tom & Ann <3 é")),
        ('<speak>A.<mark name="__spd_0"/> B.</speak>', Message("A. B.", (("__spd_0", 2),))),
        ("<mark name='a:b'/>x<mark name='c'>y", Message("xy", (("a:b", 0), ("c", 1)))),
        ("<MARK NAME='a'/>x", Message("x", (("a", 0),))),
        ("<mark name=''/><mark/>x", Message("x")),
        ("a<p>b</p><s>c</s><break time='1s'/>d", Message("a b  c  d")),
        ("<prosody rate='fast'><emphasis>a</emphasis>b</prosody>", Message("ab")),
        ("<say-as interpret-as='characters'>ab</say-as>", Message("ab", spelt=True)),
        ("<say-as interpret-as='date'>1 May</say-as>", Message("1 May")),
        ("<sub alias='World Wide Web'>WWW</sub> now", Message("World Wide Web now")),
        ("<?xml version='1.0'?><!-- no <!DOCTYPE x>a", Message("<!-- no a")),
        ("<!-- a remark -->a", Message("a")),
        ("1 < 2 > 1 & 3 <", Message("1 < 2 > 1 & 3 <")),
        ("<speak", Message("<speak")),
        ("</speak></speak>a", Message("a")),
        ("tab\tline\nbell\x07\x1b[31m", Message("tab\tline\nbell  [31m")),
        ("\ud800a", Message(" a")),
    ],
)  # fmt: skip
def test_text_marks_and_spelling(source, expected):
    assert parse(source) == expected


def test_the_name_of_a_mark_is_one_line():
    names = [name for name, _ in parse("<mark name='a&#10;702 END&#13;'/>").marks]
    assert names == ["a 702 END "]


def test_a_long_message_is_cut():
    assert len(parse("x" * (LONGEST + 5)).text) == LONGEST


def test_the_rest_of_a_message_has_its_marks():
    message = Message("One two three", (("a", 0), ("b", 4), ("c", 13)))
    assert message.rest(4, 1) == Message("two three", (("b", 0), ("c", 9)))
    assert message.rest(8, 1) == Message("three", (("b", 0), ("c", 5)))


NAMES = (Name("Xi", "she"), Name("Xi Jinping", "shee jin ping"), Name("Jo", "zho", "fr"))


@pytest.mark.parametrize(
    ("text", "marks", "language", "expected", "moved"),
    [
        ("Ask  Xi, then Xi Jinping's.", (0, 5, 9, 14, 17, 27), "en",
         "Ask  she, then shee jin ping's.", (0, 5, 10, 15, 31, 31)),
        ("Jo et Xi", (3, 6), "fr", "zho et she", (4, 7)),
        ("Jo und Xi", (3, 7), "de", "Jo und she", (3, 7)),
        ("Jo\nand Joanna", (3,), "en", "Jo\nand Joanna", (3,)),
        (" \n ", (1,), "en", " \n ", (3,)),
    ],
)  # fmt: skip
def test_names_are_in_their_said_form_and_marks_before_their_words(
    text, marks, language, expected, moved
):
    message = Message(text, tuple(("m", at) for at in marks)).named(NAMES, language)
    assert message.text == expected
    assert [at for _, at in message.marks] == list(moved)


def test_spelt_text_keeps_its_letters():
    spelt = Message("Xi", (("m", 0),), spelt=True)
    assert spelt.named(NAMES, "en") == spelt
