"""Deltas become tokens, whatever their size."""

from engine.text.stream.words import LONGEST, Ahead, Token, TokenStream


def test_a_token_is_told_when_the_space_behind_it_arrives() -> None:
    stream = TokenStream()
    assert stream.push("Hel") == [Ahead("H", 1)]
    assert stream.push("lo ") == [Token("Hello", 0, 1, spaced=True, glued=False)]


def test_what_comes_next_is_told_by_its_first_character() -> None:
    stream = TokenStream()
    stream.push("one ")
    assert stream.push("t") == [Ahead("t", 0)]


def test_line_ends_are_told_as_they_come_and_counted() -> None:
    stream = TokenStream()
    stream.push("one")
    token, *rest = stream.push("\n \n\n\nx")
    assert token == Token("one", 0, 1, spaced=False, glued=False)
    assert rest == [Ahead("", 1), Ahead("", 2), Ahead("x", 4)]


def test_the_end_closes_the_last_token() -> None:
    stream = TokenStream()
    stream.push("a bc")
    assert stream.end() == [Token("bc", 2, 0, spaced=False, glued=False)]


def test_the_end_after_a_space_has_nothing_to_add() -> None:
    stream = TokenStream()
    stream.push("a ")
    assert stream.end() == []


def test_a_run_without_spaces_is_cut_into_glued_tokens() -> None:
    stream = TokenStream()
    events = stream.push("x" * (2 * LONGEST + 1)) + stream.end()
    tokens = [event for event in events if isinstance(event, Token)]
    assert [len(token.text) for token in tokens] == [LONGEST, LONGEST, 1]
    assert [token.glued for token in tokens] == [False, True, True]
    assert [token.start for token in tokens] == [0, LONGEST, 2 * LONGEST]
