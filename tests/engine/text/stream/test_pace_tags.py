"""Wishes for a pace are taken out of a reply's text, wherever it was cut."""

import re

import pytest

from engine.text.stream.pace_tags import OFFER, PACES, PaceTags
from tests.engine.text.cases import CASES

TAG = re.compile(r"</?pace(?:[ \t/][^<>\n]{0,40})?>", re.IGNORECASE)


def read(*deltas: str) -> list[tuple[str, float]]:
    """Every character that is left, with the pace wished for it."""
    tags = PaceTags()
    passages = [passage for delta in deltas for passage in tags.push(delta)] + tags.end()
    return [(char, passage.pace) for passage in passages for char in passage.text]


def text_of(*deltas: str) -> str:
    return "".join(char for char, _ in read(*deltas))


def paced(text: str) -> str:
    """The text with every character of a slow passage as s, of a fast one as f."""
    signs = {1.0: "-", PACES["slow"]: "s", PACES["fast"]: "f"}
    return "".join(signs[pace] for _, pace in read(text))


@pytest.mark.parametrize(("text", "left", "paces"), CASES["pace_tags"])
def test_a_tag_is_obeyed_and_gone(text, left, paces):
    assert text_of(text) == left
    assert paced(text) == paces


def test_what_a_model_is_told_is_what_is_understood():
    assert "<pace" in OFFER
    assert "<pace" not in text_of(OFFER)
    assert {pace for _, pace in read(OFFER)} == {1.0, PACES["slow"], PACES["fast"]}
