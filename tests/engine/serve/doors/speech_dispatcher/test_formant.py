"""espeak as the module uses it, in a process of its own: the library is global to a process."""

import json
from typing import Any

import pytest

from tests.help.process.fresh_python import prints

_CODE = """
import json, sys
from engine.serve.doors.speech_dispatcher.formant import Formant
from engine.serve.doors.speech_dispatcher.message import Message, parse
from engine.serve.doors.speech_dispatcher.message import Style
formant = Formant()

def spoken(source, style=Style(), stop_after=None):
    samples, marks, calls = [], [], []
    def sound(part):
        samples.append(part)
        return stop_after is None or sum(map(len, samples)) < stop_after
    message = source if isinstance(source, Message) else parse(source)
    made = lambda: sum(map(len, samples)) // 2
    formant.speak(message, style, sound, lambda name: marks.append((name, made())))
    return b"".join(samples), marks

def length(*of):
    return len(spoken(*of)[0]) // 2
"""


def result(code: str) -> list[Any]:
    """Return the values of the expressions, in the process."""
    return json.loads(prints(f"{_CODE}\nprint(json.dumps([{code}]))"))


def test_it_knows_many_languages_and_speaks_them_differently():
    code = "formant.voices, length('zehn', Style('de-DE')), length('zehn', Style('en-GB'))"
    voices, german, english = result(code)
    assert {"de", "fr-fr", "pt-br", "ru", "zh"} & set(voices.values()) >= {"de", "fr-fr", "pt-br"}
    assert german != english > 0


def test_a_voice_is_chosen_by_name_and_an_unknown_one_by_language():
    code = (
        "length('zehn', Style('en', 'German')), length('zehn', Style('de', 'Nobody')),"
        " length('zehn', Style('de')), length('zehn', Style('xx-unheard-of')), length('zehn')"
    )
    named, unknown, german, none, english = result(code)
    assert (named, unknown) == pytest.approx((german, german), rel=0.01)  # its pitch wavers
    assert none == pytest.approx(english, rel=0.01) != german


def test_marks_are_reported_in_order_between_the_samples():
    source = "<mark name='a'/>One two <mark name='b'/>three four. <mark name='c'/>"
    marks, samples = result(f'spoken("{source}")[1], length("{source}")')
    assert [name for name, _ in marks] == ["a", "b", "c"]
    assert 0 <= marks[0][1] < marks[1][1] < marks[2][1] <= samples
    assert 0.3 < marks[1][1] / samples < 0.7


def test_marks_of_a_long_text_are_all_reported_and_it_is_spoken_in_parts():
    source = "''.join(f'<mark name=\"{i}\"/>Number {i} is here. ' for i in range(300))"
    code = f"*(name for name, _ in spoken({source}, Style(rate=100))[1])"
    assert result(code) == [str(number) for number in range(300)]


def test_rate_pitch_volume_spelling_and_punctuation_change_the_speech():
    code = (
        "length('one two three', Style(rate=100)), length('one two three', Style(rate=-100)),"
        " max(spoken('aah', Style(volume=-100))[0]), length('abc', Style(spelling=True)),"
        " length('abc'), length('a; b', Style(punctuation='all')), length('a; b'),"
        " spoken('aah', Style(pitch=80))[0] == spoken('aah')[0],"
        " length(Message(' ', (), True))"
    )
    fast, slow, silent, spelt, read, named, unnamed, same, space = result(code)
    assert fast < slow / 3
    assert silent == 0
    assert spelt > read
    assert named > 1.5 * unnamed
    assert not same
    assert space > 2_000  # its name is said


def test_it_ends_within_a_chunk_when_it_is_not_heard_any_more():
    code = "len(spoken('word ' * 1000, Style(), 1)[0]) // 2, spoken('Hello there')[0] != b''"
    samples, goes_on = result(code)
    assert samples <= 22_050 * 100 // 1000
    assert goes_on


def test_hostile_texts_are_spoken_or_not_and_it_still_speaks():
    texts = (
        "'<' * 5000, '[[' * 3000, '<speak>' * 9000, '\\x01\\x02', '\\u202e\\U0001f600' * 2000,"
        " 'a' * 90000, '&' * 5000, '9' * 5000, '(((((' * 900, ' \\n' * 20000, '\\ud800'"
    )
    code = f"{_CODE}\nfor each in ({texts}): spoken(each, Style(rate=100), 9_999)"
    assert prints(f"{code}\nprint(length('still here') > 1000)") == "True"
