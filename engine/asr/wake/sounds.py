"""Pronunciations of the words of a wake phrase, also of words outside the dictionary.

Invariant: every phone is one of the acoustic model's 39 (CMU set).
"""

# ruff: noqa: RUF001 IPA letters look like others on purpose

from collections.abc import Sequence

from engine.asr.sphinx.english import pronunciations
from engine.asr.sphinx.pronounce import in_pieces
from engine.text.phonemes import Espeak

Sounds = dict[str, str]
"""Words to phones, separated by spaces."""

# Symbols of the phonemizer's American English. Longer ones have priority.
_CMU = {
    "tʃ": "CH", "dʒ": "JH", "aɪ": "AY", "aʊ": "AW", "eɪ": "EY", "oʊ": "OW", "ɔɪ": "OY",
    "əl": "AH L", "ɔːɹ": "AO R", "oːɹ": "AO R", "ɑːɹ": "AA R", "ɪɹ": "IH R", "ɛɹ": "EH R",
    "ʊɹ": "UH R", "ɜː": "ER", "ɚ": "ER", "iː": "IY", "uː": "UW", "ɑː": "AA", "ɔː": "AO",
    "oː": "AO", "i": "IY", "u": "UW", "a": "AA", "ɑ": "AA", "ɔ": "AO", "ɐ": "AH", "ə": "AH",
    "ʌ": "AH", "ɪ": "IH", "ᵻ": "IH", "ɛ": "EH", "e": "EH", "æ": "AE", "ʊ": "UH", "o": "OW",
    "ɒ": "AA", "p": "P", "b": "B", "t": "T", "d": "D", "k": "K", "ɡ": "G", "f": "F", "v": "V",
    "θ": "TH", "ð": "DH", "s": "S", "z": "Z", "ʃ": "SH", "ʒ": "ZH", "h": "HH", "m": "M",
    "n": "N", "ŋ": "NG", "l": "L", "ɹ": "R", "r": "R", "ɾ": "T", "j": "Y", "w": "W", "x": "K",
    "ɬ": "L",
}  # fmt: skip
VOWELS = frozenset(
    ("AA", "AE", "AH", "AO", "AW", "AY", "EH", "ER", "EY", "IH", "IY", "OW", "OY", "UH", "UW")
)


def sounds(words: Sequence[str]) -> Sounds:
    """Return the pronunciations of lower-case words from the dictionary, otherwise from the
    phonemizer. A silent word has no phones. ModelError if either is missing.
    """
    found = pronunciations(words)
    unknown = [word for word in words if word not in found]
    espeak = Espeak() if unknown else None
    for word in unknown:
        assert espeak is not None
        groups = espeak.groups(word)
        found[word] = in_pieces("".join(phone for group in groups for phone in group), _CMU)
    return found


def syllables(phones: str) -> int:
    return sum(phone in VOWELS for phone in phones.split())
