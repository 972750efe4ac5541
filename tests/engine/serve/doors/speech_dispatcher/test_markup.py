"""SSML of the daemon and of its clients."""

import pytest

from engine.serve.doors.speech_dispatcher.markup import LONGEST, Message, parse


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
