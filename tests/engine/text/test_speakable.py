"""What is said for what is written (the tables beside this file), and the laws of the stream."""

import re
import subprocess
import sys
import time
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.languages import ENGLISH, SPOKEN
from engine.text.formulas.boundaries import Boundaries
from engine.text.speakable import Speakable
from engine.text.word import Word
from tests.engine.text.cases import CASES

_TABLE = {
    topic: rows
    for table in ("speakable.toml", "formulas.toml", "formats.toml", "tried.toml", "notation.toml")
    for topic, rows in tomllib.loads(
        Path(__file__).with_name(table).read_text(encoding="utf-8")
    ).items()
}
TEXTS = [text for rows in _TABLE.values() for text, *_ in rows]
# Whole tables take many seconds, too long for every run.
SOME_OR_ALL = pytest.mark.parametrize("every", [6, pytest.param(1, marks=pytest.mark.long)])

_SCRAPS = (
    r"# |## |- |* |1. |2) |> |**|*|_|__|~~|`|```|```python|---|===|[|](|](http://x.com |)"
    r"|(|<b>|</b>|<!--|-->|<think>|</think>|&amp;|$|$5|€|%|5|1995|10-15|3.14|1,234|:30|5:30|pm|p.m."
    r"|km|million|May|March|St.|Dr.|No.|e.g.|Louis|XIV|I|Chapter|+1|555|123-4567|(555)|#|@"
    r"|http://|www.a.com|a@b.co|—|–|-|--|...|…|?!|.|,|:|;|🎉|é|ß|你好|²|½|'|word|The|is|USD|°C|/"
    r"|\frac{1}{2}|^|="
).split("|")
_ROWS = [" ", "\n", "\n\n", "\t", '"', "|", "\\", "| a | b |\n", "|---|\n"]
_TAGS = (
    '<speak>|<break time="1s"/>|<foo |a="b">|<name>|</foo>|List<int>|[laughs]|[long |pause]|[2 |'
    "[clears |throat]|(laughs |*Holds |hand*|[2, |3]|[2,3]|a. |B. |A. |ii. |①|★|.²|5551234567|"
    "1-1/2|AM|Us|€. |C. Next|{pause}|{|[pause:1s]|[music |playing]|*whispering* |*leaning* |[S1] |"
    '[Al]: |<tool_call>|</tool_call>|<sub alias="a b">|</sub>|{{user}}|<invoke |name="x">|[T]he|'
    "(in |a deep |voice) |* sighs |*|<say-as |interpret-as='characters'>|</say-as>|[0:15] |"
    "[0:15 |- 1:02]"
).split("|")
_TEX = r"$x$ $$ \( \) \[ \] \frac{a}{b} \begin{cases} \end{cases} \\ & _ { } $2x \text{a".split()
MARKDOWNISH = st.lists(
    st.sampled_from(_SCRAPS + _ROWS + _TEX) | st.sampled_from(_TAGS) | st.text(max_size=4),
    max_size=40,
).map("".join)


def read(*deltas: str, language: str = ENGLISH) -> list[Word]:
    speakable = Speakable(language)
    words = [word for delta in deltas for word in speakable.push(delta)]
    return words + speakable.end()


def pieces(text: str, cuts: list[int]) -> list[str]:
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    return [text[begin:end] for begin, end in pairwise(places)]


@pytest.mark.parametrize("topic", _TABLE)
def test_text_is_said_as_a_person_would_say_it_also_character_by_character(topic):
    """A row with a third word is said wrong so far, and must be."""
    wrong = []
    for text, spoken, *still_open in _TABLE[topic]:
        words = read(*text)
        assert words == read(text), text
        said = " ".join(word.text for word in words)
        if (said == spoken) is bool(still_open):
            wrong.append(f"{text!r} is said {said!r}, wanted {spoken!r} {still_open}")
    assert not wrong, "\n".join(["these rows are not as they say:", *wrong])


@SOME_OR_ALL
def test_the_table_as_one_reply_says_the_same_in_deltas_of_any_size(every):
    reply = "\n\n".join(text for text in TEXTS[::every] if text.count("```") % 2 == 0)
    whole = read(reply)
    assert len(set(TEXTS)) == len(TEXTS) >= 1500
    for size in (1, 50):
        deltas = [reply[i : i + size] for i in range(0, len(reply), size)]
        assert read(*deltas) == whole


@settings(max_examples=200, deadline=None)
@given(text=MARKDOWNISH, cuts=st.lists(st.integers(0, 400), max_size=10))
def test_any_markdown_cut_anywhere_says_the_same(text, cuts):
    whole = read(text)
    assert read(*pieces(text, cuts)) == whole
    assert read(*text) == whole


@settings(max_examples=300, deadline=None)
@given(text=MARKDOWNISH | st.text(), language=st.sampled_from(sorted(SPOKEN)))
@example("\x00 \ud800 \ufeff \u200d \u202e a 🏽 \u0301 ¤ ٣ ४", ENGLISH)
def test_every_word_is_one_word_of_letters_with_at_most_one_mark(text, language):
    """It stands inside the text, and places never go back."""
    words = read(text, language=language)
    for word in words:
        body = re.sub(r"[.,?!;:]$", "", word.text)
        assert not re.search(r"[\s\d.,?!;:]", body), word
        assert any(char.isalpha() for char in body), word
        assert len(body) <= 64
    assert all(0 <= word.start < word.end <= len(text) for word in words)
    assert all(before.start <= after.start for before, after in pairwise(words))


GROUP = re.compile(r"(?:tel:)?\W{0,3}\d[\d().,–-]*\W*|[A-Z]{2}\d\d|[A-Z]{4}|\$\d.*\$")
RANGE = re.compile(r"\W*\d\d?/\d\d? (?:to|through|until)(?: \d\d?/\d\d?\W*)?")  # maybe of days
LONGEST_RUN = 9
OPENS_LONG = re.compile(  # maybe a direction of several words: (in a deep voice), * sighs *
    r"(?<!\S)(?:[\[(*_](?:in|with)(?: an?(?: [\w-]+,?){0,4}| [\w-]+,?)?"
    r"|[*(\[] [A-Za-z]+(?: [\w']+[.!…]*){0,3})$",
    re.IGNORECASE,
)
OPENS = re.compile(  # maybe a tag or a direction, or a line that defines a link
    r"<[A-Za-z][\w:.-]*$|^[{(*_][\w.-]+:?$|\[[\w.-]+:?$|\[[\d,;–-]+$"
    r"|^\W?[*_]\w+\W*[*_]$|^\[[^\]]+\]:$"
)


def first_of_run(tokens: list[str], place: int) -> int:
    """The place of the first of the groups of figures that the token at `place` may belong to, or
    of the range.
    """
    for first in (max(0, place - 2), max(0, place - 1)):
        if RANGE.fullmatch(" ".join(tokens[first : place + 1])):
            return first
    first = place
    while first > max(0, place - LONGEST_RUN) and all(
        map(GROUP.fullmatch, tokens[first - 1 : first + 1])
    ):
        first -= 1
    return first


def first_undecided(tokens: list[tuple[int, int]], text: str) -> int:
    """The place of the token before what may still become a formula at the end of `text`."""
    boundaries = Boundaries()
    boundaries.push(text)
    certain = len(text) - len(boundaries.held)
    if certain == len(text):
        return len(tokens)
    return max(sum(end <= certain for _, end in tokens) - 1, 0)


def hold_back_is_at_most_one_token(text: str, language: str = ENGLISH) -> None:
    """When a token that is spoken is complete, every word that begins before that token is out, or
    before the first of its groups if it is figures in a row of groups, or of its range of days.

    What may open a tag, a direction or a citation waits for the next token, and the word before it,
    which may get its pause, waits with it. A formula is one token, and so is what may still become
    one; the token before it, whose reading may depend on it, waits with it. It holds without
    exception: code blocks, link targets and comments are no tokens that are spoken, and a table's
    cells are read one by one.
    """
    tokens = [match.span() for match in re.finditer(r"\S+", text)]
    everything = read(text, language=language)
    text += " "
    speakable = Speakable(language)
    out: list[Word] = []
    position = 0
    written = [text[start:end] for start, end in tokens]
    for place, (start, end) in enumerate(tokens):
        out += speakable.push(text[position : end + 1])
        position = end + 1
        is_spoken = any(start <= word.start < end for word in everything)
        place = min(place, first_undecided(tokens, text[: end + 1]))
        place = max(place - bool(OPENS.search(written[place])), 0)
        if long := OPENS_LONG.search(text[: tokens[place][1]]):
            place = max(sum(end <= long.start() for _, end in tokens) - 1, 0)
        run_start = tokens[first_of_run(written, place)][0]
        due = [word for word in everything if word.start < run_start]
        assert not is_spoken or out[: len(due)] == due, (text[:end], due[len(out) :])


@SOME_OR_ALL
@pytest.mark.parametrize("topic", _TABLE)
def test_at_most_one_word_is_held_back(topic, every):
    for text, *_ in _TABLE[topic][::every]:
        hold_back_is_at_most_one_token(text)


@settings(max_examples=100, deadline=None)
@given(
    texts=st.lists(st.sampled_from(TEXTS), min_size=2, max_size=5),
    glue=st.sampled_from([" ", "\n", "\n\n"]),
)
def test_at_most_one_word_is_held_back_wherever_cases_meet(texts, glue):
    hold_back_is_at_most_one_token(glue.join(texts))


@pytest.mark.parametrize(("deltas", "words"), CASES["leaves_as_soon"])
def test_a_word_leaves_as_soon_as_its_reading_is_known(deltas, words):
    speakable = Speakable()
    *_, given = (speakable.push(delta) for delta in deltas)
    assert [word.text for word in given] == words


@pytest.mark.parametrize(("text", "tokens"), CASES["number_waits"])
def test_a_number_waits_for_its_groups_and_one_token(text, tokens):
    speakable = Speakable()
    given = [bool(speakable.push(token + " ")) for token in text.split()]
    assert given.index(True) == tokens


def test_the_filter_brings_no_library_and_only_figures_in_groups_load_one():
    code = (
        "import sys, engine.text.syllables; from engine.text.speakable import Speakable; "
        "assert not {'num2words', 'numpy', 'torch'} & set(sys.modules); speakable = Speakable(); "
        "speakable.push('Call 911. I have 5 apples, 10 000 pears, 20 % off at 5:30. '); "
        "assert 'phonenumbers' not in sys.modules; "
        "speakable.push('Ask for 415 555 0132 now. '); assert 'phonenumbers' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        (
            "See **the [docs](https://x.com)** — now.",
            [("See", "See"), ("the", "the"), ("docs,", "docs"), ("now.", "now.")],
        ),
        ("sky—blue", [("sky,", "sky—"), ("blue", "blue")]),
        # words of one amount share its place
        ("$5.40 now", [*((word, "$5.40") for word in "five dollars and forty cents".split()),
                       ("now", "now")]),
    ],
)  # fmt: skip
def test_places_are_those_of_the_markdown(text, spoken):
    for deltas in ([text], text):  # also over deltas
        words = read(*deltas)
        assert [(word.text, text[word.start : word.end]) for word in words] == spoken


@pytest.mark.parametrize(("text", "pauses"), CASES["pauses"])
def test_a_pause_stands_in_front_of_the_next_word_and_has_an_end(text, pauses):
    for deltas in ([text], text, re.findall(r"\S+\s*", text)):
        words = read(*deltas)
        assert {each.text.strip(".,"): each.pause_s for each in words if each.pause_s} == pauses


def test_a_pause_behind_the_first_word_does_not_hold_it_back_and_the_end_is_the_end():
    speakable = Speakable()
    assert [word.text for word in speakable.push("Hello ")] == ["Hello"]
    assert speakable.push('<break time="1s"/> two') == []
    assert [word.text for word in speakable.end()] == ["two"]
    assert speakable.push("three ") == speakable.end() == []


def test_a_tenth_of_a_megabyte_without_a_space_comes_out_in_bearable_words():
    speakable = Speakable()
    longest = 0
    for _ in range(2):
        for word in speakable.push("a" * 50_000):
            longest = max(longest, len(word.text))
    assert longest == 64
    assert sum(len(word.text) for word in speakable.end()) <= 1024


@pytest.mark.parametrize(
    "unit",
    [*r"( [ ]( * **a $ 1- 1/ .a a. 1, a@ http:// | - \frac{ ' &#1; I ٣ /a 1x 1,2 1.234".split(),
     *"5- <5 Na ° a1".split(), "<a ", "12 ", "0123 ",
     *"$$ \\( \\[ $x \\begin{ \\ ∑_{} ∫^{}".split(), "$5 + "],
)  # fmt: skip
def test_repeated_signs_take_no_more_than_linear_time(unit):
    def takes(length: int) -> float:
        text = unit * (length // len(unit))
        times = []
        for _ in range(3):  # Python's search through all that the tests hold may fall into one
            begin = time.thread_time()  # other threads of the tests may be busy
            read(text)
            times.append(time.thread_time() - begin)
        return min(times)

    assert takes(4_000) < 8 * takes(1_000)  # four times the signs; squared it would be 16
