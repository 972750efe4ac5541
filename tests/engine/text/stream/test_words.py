"""Deltas become tokens, whatever their size."""

import pytest

from engine.text.stream.words import LONGEST, Ahead, Token, TokenStream

HELLO = Token("Hello", 0, 1, spaced=True, glued=False)
ONE = Token("one", 0, 1, spaced=False, glued=False)


@pytest.mark.parametrize(
    ("deltas", "events"),
    [
        (["Hel"], [Ahead("H", 1)]),
        (["Hel", "lo "], [HELLO]),  # with the space behind it
        (["one ", "t"], [Ahead("t", 0)]),  # what comes next, by its first character
        (["one", "\n \n\n\nx"], [ONE, Ahead("", 1), Ahead("", 2), Ahead("x", 4)]),  # line ends
    ],
)
def test_deltas_become_tokens_and_what_lies_ahead(deltas: list[str], events: list[object]) -> None:
    stream = TokenStream()
    *_, given = (stream.push(delta) for delta in deltas)
    assert given == events


@pytest.mark.parametrize(
    ("text", "events"), [("a bc", [Token("bc", 2, 0, spaced=False, glued=False)]), ("a ", [])]
)
def test_the_end_closes_the_last_token(text: str, events: list[object]) -> None:
    stream = TokenStream()
    stream.push(text)
    assert stream.end() == events


def test_a_run_without_spaces_is_cut_into_glued_tokens() -> None:
    stream = TokenStream()
    events = stream.push("x" * (2 * LONGEST + 1)) + stream.end()
    tokens = [event for event in events if isinstance(event, Token)]
    assert [len(token.text) for token in tokens] == [LONGEST, LONGEST, 1]
    assert [token.glued for token in tokens] == [False, True, True]
    assert [token.start for token in tokens] == [0, LONGEST, 2 * LONGEST]
