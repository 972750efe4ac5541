"""How long a silence must last."""

from itertools import pairwise

import pytest

from engine.asr.completeness import Completeness
from engine.runtime.turn.endpointing import PAUSE_MS, longest_silence_ms, silence_ms
from engine.settings import RULES, Choice

FROM_OPEN = (
    Completeness.OPEN,
    Completeness.UNSURE,
    Completeness.WHOLE,
    Completeness.SETTLED,
)
PATIENCE = ("quick", "balanced", "patient")


@pytest.mark.parametrize("patience", PATIENCE)
def test_the_more_complete_the_words_the_shorter_the_silence(patience: str) -> None:
    silences = [silence_ms(completeness, patience) for completeness in FROM_OPEN]
    assert silences == sorted(silences, reverse=True)
    assert longest_silence_ms(patience) == silences[0]
    assert silences[-1] > PAUSE_MS


@pytest.mark.parametrize("completeness", Completeness)
def test_more_patience_is_never_a_shorter_silence(completeness: Completeness) -> None:
    silences = [silence_ms(completeness, patience) for patience in PATIENCE]
    assert all(less < more for less, more in pairwise(silences))


def test_a_second_and_a_half_of_thinking_is_no_end_where_something_is_left_open() -> None:
    assert silence_ms(Completeness.OPEN, "balanced") > 1500


def test_every_patience_of_the_settings_is_known() -> None:
    rule = RULES["recogniser.patience"]
    assert isinstance(rule, Choice)
    assert rule.words == PATIENCE
