"""engine/languages.py: the languages that are spoken."""

import pytest

from engine.languages import ENGLISH, SPOKEN
from engine.text.phonemes import Espeak


def test_english_comes_first() -> None:
    assert next(iter(SPOKEN)) == ENGLISH


@pytest.mark.parametrize("code", SPOKEN)
def test_espeak_knows_every_language(code: str) -> None:
    assert SPOKEN[code].code == code
    assert Espeak(SPOKEN[code].espeak).phones("radio")
