"""How the words of a wake phrase sound, also those that no dictionary has.

Invariant: every phone is one of the acoustic model's 39 (CMU set).
"""

# ruff: noqa: RUF001  IPA letters look like others on purpose

from collections.abc import Sequence

from engine.asr.sphinx.english import pronunciations
from engine.text.phonemes import Espeak

Sounds = dict[str, str]
"""Word to its phones, separated by spaces."""

# What the phonemizer's American English is made of. Longer symbols go first.
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
_LONGEST = max(map(len, _CMU))
VOWELS = frozenset(
    ("AA", "AE", "AH", "AO", "AW", "AY", "EH", "ER", "EY", "IH", "IY", "OW", "OY", "UH", "UW")
)


def sounds(words: Sequence[str]) -> Sounds:
    """How lower-case words sound: by the dictionary, else by the phonemizer; a word without a
    sound has no phones. ModelError when either is not there.
    """
    known = pronunciations(words)
    unknown = [word for word in words if word not in known]
    espeak = Espeak() if unknown else None
    found = dict(known)
    for word in unknown:
        assert espeak is not None
        groups = espeak.groups(word)
        found[word] = of_ipa("".join(phone for group in groups for phone in group))
    return found


def of_ipa(text: str) -> str:
    """Phones of the phonemizer in the CMU set; stress and what is not known are passed over."""
    phones: list[str] = []
    place = 0
    while place < len(text):
        sizes = range(_LONGEST, 0, -1)
        size = next((n for n in sizes if text[place : place + n] in _CMU), 0)
        if size:
            phones.append(_CMU[text[place : place + size]])
        place += max(1, size)
    return " ".join(phones)


def syllables(phones: str) -> int:
    return sum(phone in VOWELS for phone in phones.split())
