"""Check whether a wake phrase is long enough to be distinct, and rare in ordinary talk; pronounce
its words, also those outside the dictionary.

Suggestions pass the same checks. Invariant: every phone is one of the acoustic model's 39 (CMU
set).
"""

# ruff: noqa: RUF001 IPA letters look like others on purpose

import re
from collections.abc import Sequence

from engine.asr.sphinx.english import in_pieces, log_chance, pronunciations
from engine.errors import InvalidInput
from engine.text.phonemes import Espeak
from engine.translatable import Translatable

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

LEAST_SYLLABLES = 3
LEAST_PHONES = 6
MOST_WORDS = 5
MOST_LETTERS = 40
# Natural logarithm of the probability that the phrase begins at a word of other talk, by the
# English language model. People say up to 9000 words an hour: this is once in forty days of talk.
COMMON = -16.0
CALLS = ("hey", "hello", "okay")
USUAL = "hey rubato"
_WORDS = re.compile(r"[a-z]+(?:'[a-z]+)*(?: [a-z]+(?:'[a-z]+)*)*")


def sounds(words: Sequence[str]) -> Sounds:
    """Return the pronunciations of lower-case words from the dictionary, otherwise from the
    phonemizer. A silent word has no phones. ModelError if either is missing.
    """
    known = pronunciations(words)
    unknown = [word for word in words if word not in known]
    espeak = Espeak() if unknown else None
    for word in unknown:
        assert espeak is not None
        groups = espeak.groups(word)
        known[word] = in_pieces("".join(phone for group in groups for phone in group), _CMU)
    return known


def syllables(phones: str) -> int:
    return sum(phone in VOWELS for phone in phones.split())


def normal(phrase: str) -> str:
    """Return the phrase in the form for comparison: lower case, single spaces, no punctuation."""
    return " ".join(re.sub(r"[^\w' ]+", " ", phrase.lower()).split())


def examine(phrase: str) -> Sounds:
    """Return the pronunciations of a normalised phrase. InvalidInput says why it is not suitable,
    with a suggestion; ModelError if a part of the recogniser is missing.
    """
    if not _WORDS.fullmatch(phrase) or len(phrase) > MOST_LETTERS:
        raise InvalidInput(
            "That cannot be a wake phrase: it needs one to five English words of letters.",
            hint="Try “{phrase}”.",
            phrase=USUAL,
        )
    words = phrase.split()
    if len(words) > MOST_WORDS:
        raise InvalidInput(
            "“{phrase}” is too long: nobody says it the same way twice.",
            hint=Translatable(
                "Use {count} words at most, for example “{phrase}”.", count=MOST_WORDS, phrase=USUAL
            ),
            phrase=phrase,
        )
    if fault := _fault(phrase):
        raise InvalidInput(fault, hint="Try “{phrase}”.", phrase=_suggestion(phrase))
    return sounds(words)


def _fault(phrase: str) -> str:
    """Return why a phrase is not suitable; empty if it is."""
    found = sounds(phrase.split())
    spoken = " ".join(found[word] for word in phrase.split())
    length = syllables(spoken)
    if length < LEAST_SYLLABLES or len(spoken.split()) < LEAST_PHONES:
        return Translatable(
            "“{phrase}” is too short ({count} of at least {least} syllables): other "
            "words sound like it.",
            phrase=phrase,
            count=length,
            least=LEAST_SYLLABLES,
        )
    if log_chance(phrase.split()) > COMMON:
        return Translatable(
            "“{phrase}” is said too often in other talk: you would wake me all the time.",
            phrase=phrase,
        )
    return ""


def _suggestion(phrase: str) -> str:
    """Return the phrase with a call before it if that is suitable, otherwise the usual phrase."""
    words = phrase.split()
    if len(words) < MOST_WORDS and words[0] not in CALLS:
        for call in CALLS:
            longer = f"{call} {phrase}"
            fits = len(longer) <= MOST_LETTERS
            if fits and not _fault(longer):
                return longer
    return USUAL
