"""The tables of cases.toml, by name."""

import tomllib
from collections.abc import Iterable
from pathlib import Path

from engine.text.phonemes import Espeak, PhonedWord, WordPhonemizer

CASES = tomllib.loads(Path(__file__).with_name("cases.toml").read_text("utf-8"))


def phoned(words: Iterable[str], espeak: Espeak | None = None) -> list[PhonedWord]:
    phonemizer = WordPhonemizer(espeak or Espeak())
    return [each for word in words for each in phonemizer.push(word)] + phonemizer.finish()
