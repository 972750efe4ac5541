"""The tables of cases.toml, by name."""

import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from engine.text.phonemes import Espeak, PhonedWord, WordPhonemizer

CASES = tomllib.loads(Path(__file__).with_name("cases.toml").read_text("utf-8"))


@cache
def espeak(language: str = "en-us") -> Espeak:
    """Loaded once for each language."""
    return Espeak(language)


def phoned(words: Iterable[str], voice: Espeak | None = None) -> list[PhonedWord]:
    phonemizer = WordPhonemizer(voice or espeak())
    return [each for word in words for each in phonemizer.push(word)] + phonemizer.finish()
