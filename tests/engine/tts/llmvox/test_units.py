"""Whatever a network would say, it goes through the text in order and ends with it."""

import pytest
import torch

from engine.tts.llmvox.model import TEXT_END, WORD
from engine.tts.llmvox.units import TextCursor
from engine.tts.papers.spectrum import SpectrumShape
from engine.tts.phones import MARKS
from tests.engine.tts.llmvox.small_model import STACK

SHAPE = SpectrumShape(STACK, phones=12, tokens=24)  # two tokens a phone; 10 begins, 11 ends
TEXT = [3, 4, WORD, 4, 5, MARKS[","], WORD, 6, WORD, TEXT_END]


def said(logits: torch.Tensor, dice: torch.Generator) -> tuple[list[int], int]:
    """The phones of tokens drawn at once for every unit, and then up to the end; words that
    began.
    """
    cursor, phones, begun = TextCursor(SHAPE), [], 0
    for unit in [*TEXT, *[0] * 300]:
        if unit:
            cursor.read(unit)
        held = cursor.restrict(logits + torch.randn(25, generator=dice))
        token = int(torch.multinomial(held.exp(), 1, generator=dice))
        if token == SHAPE.tokens:
            return phones, begun
        begun += cursor.say(token)
        phones.append(SHAPE.phone_of(token))
    raise AssertionError("It never ended.")


@pytest.mark.parametrize("favourite", [None, 6, 15, 24, -1])
def test_tokens_go_through_the_text_in_order(favourite):
    """Also where the network wants one token, of this text or another, or the end, all the time."""
    logits = torch.zeros(25)
    if favourite is not None:
        logits[favourite] = 20.0 if favourite > 0 else 300.0  # all others are 0 in fp32
    for seed in range(20):
        phones, begun = said(logits, torch.Generator().manual_seed(seed))
        rest = [10, 3, 4, 4, 5, 6, 11]
        for phone in phones:
            assert phone in rest[:3] or phone in rest[:2]
            rest = rest[rest.index(phone) :]
        assert len(rest) <= 3
        assert begun == 3 or rest[0] == 5
        assert max(phones.count(phone) for phone in (3, 6)) <= 10
        assert phones.count(5) <= 20  # with the pause of the comma


def test_what_would_go_to_other_phones_goes_to_the_next_one():
    cursor, logits = TextCursor(SHAPE), torch.full((25,), -30.0)
    for unit in (3, 4):
        cursor.read(unit)
    logits[[20, 0, 8]] = torch.tensor([0.5, 0.4, 0.1]).log()  # begin, another, the one after next
    held = cursor.restrict(logits).exp()
    assert held[20:22].sum() == pytest.approx(0.5, abs=1e-3)
    assert held[6:8].sum() == pytest.approx(0.4, abs=1e-3)
    assert held[8:10].sum() == pytest.approx(0.1, abs=1e-3)
    assert held[-1] == 0


def test_words_begin_with_their_first_phones_also_where_one_is_skipped():
    cursor = TextCursor(SHAPE)
    for unit in (3, WORD, 4, WORD, 5, 6, WORD):
        cursor.read(unit)
    assert [cursor.say(2 * phone) for phone in (10, 4, 4, 5, 6)] == [0, 2, 0, 1, 0]
