"""Where formulas begin and end in a stream, and how long what only looks like one is held."""

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.text.formulas import lexer, parser
from engine.text.formulas.boundaries import LONGEST_DISPLAY, LONGEST_INLINE, Boundaries, Formula
from tests.engine.text.cases import CASES

_SIGNS = (
    r"$ $$ $5 \( \) \[ \] \$ \\ { } ^ _ & ` ``` x 12 and the . , - + = < ( ) \frac \sqrt{ \left("
    r" \begin{cases} \end{cases} \begin{align*} \foo"
)
TEX = st.lists(
    st.sampled_from([*_SIGNS.split(), " ", "\n", "a b", "\\text{if }"]), max_size=30
).map("".join)


def cut(*deltas: str) -> list[str | Formula]:
    """What comes out, neighbouring pieces of plain text joined."""
    boundaries = Boundaries()
    parts = [part for delta in deltas for part in boundaries.push(delta)] + boundaries.end()
    joined: list[str | Formula] = []
    for part in parts:
        if joined and isinstance(part, str) and isinstance(joined[-1], str):
            joined[-1] += part
        else:
            joined.append(part)
    return joined


def written(part: str | Formula) -> str:
    return part.text if isinstance(part, Formula) else part


@pytest.mark.parametrize("text", CASES["no_formula"])
def test_a_sign_of_money_or_of_a_path_opens_none(text):
    assert cut(text) == [text]


@settings(max_examples=250, deadline=None)
@given(text=TEX, cuts=st.lists(st.integers(0, 200), max_size=8))
def test_any_cut_gives_the_same_and_nothing_is_lost(text, cuts):
    places = sorted({0, len(text), *(place % (len(text) + 1) for place in cuts)})
    deltas = [text[begin:end] for begin, end in pairwise(places)]
    assert cut(*deltas) == cut(text) == cut(*text)
    assert "".join(map(written, cut(text))) == text


@pytest.mark.parametrize(("text", "tokens"), CASES["held_tokens"])
def test_what_is_no_formula_is_held_for_a_word_or_two(text, tokens):
    boundaries, arrived = Boundaries(), 0
    for token in text.split():
        boundaries.push(token + " ")
        arrived += 1
        if not boundaries.held:
            break
    assert arrived == tokens


@pytest.mark.parametrize(
    ("opening", "longest"),
    [
        *((opening, LONGEST_INLINE) for opening in ("$", "\\(", "\\frac{")),
        *((opening, LONGEST_DISPLAY) for opening in ("\\[", "$$", "\\begin{align}")),
    ],
)
def test_an_opening_without_an_end_does_not_swallow_the_reply(opening, longest):
    """It ends with the paragraph, or after so many characters."""
    boundaries = Boundaries()
    text = opening + "x+" * longest
    out = "".join(map(written, boundaries.push(text)))
    assert len(text) - len(out) <= longest + 1
    boundaries = Boundaries()
    boundaries.push(f"{opening}x + \n\n")
    assert opening == "\\frac{" or boundaries.held == ""


# ------------------------------------------------------------------------------------- their words


@settings(max_examples=250, deadline=None)
@given(text=TEX)
def test_every_text_has_words_of_letters_with_at_most_one_mark(text):
    for word in parser.words(f"${text}$"):
        assert re.fullmatch(r"[^\W\d_](?:[^\W\d_]|['-])*[,;:]?", word), word


def test_every_known_command_may_stand_alone_at_the_end_or_before_anything():
    for name in lexer.COMMANDS:
        for text in (f"\\{name}", f"\\{name} x", f"x \\{name}{{y}}{{z}}", f"(\\{name}_1^2)"):
            assert all(re.search(r"[^\W\d_]", word) for word in parser.words(f"${text}$")), text


@pytest.mark.parametrize(
    "text", ["{" * 500, "\\frac" * 200, "(" * 300 + "x", "^" * 300, "\\sqrt[" * 90]
)
def test_deep_nesting_is_no_error(text):
    parser.words(f"${text}$")


@pytest.mark.parametrize(("one", "other"), CASES["different_formulas"])
def test_formulas_that_mean_different_things_sound_different(one, other):
    assert parser.words(f"${one}$") != parser.words(f"${other}$")
