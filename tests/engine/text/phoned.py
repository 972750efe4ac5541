"""Words with their phones, as they come word by word."""

from collections.abc import Iterable

from engine.text.phonemes import Espeak, PhonedWord, WordPhonemizer


def phoned(words: Iterable[str], espeak: Espeak | None = None) -> list[PhonedWord]:
    phonemizer = WordPhonemizer(espeak or Espeak())
    return [each for word in words for each in phonemizer.push(word)] + phonemizer.finish()
