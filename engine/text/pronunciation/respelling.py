"""How a person writes a sound: a respelling ("roo-BAH-toh"), phones in slashes ("/ʁubato/"), or
ordinary words ("jiff").

Invariant: the words that come out depend on the text and the language alone. A word with phones has
its letters first, then PHONES, then the phones with "_" between them, so that voices that read
letters still have some.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from engine.errors import InvalidInput
from engine.languages import ENGLISH
from engine.text.tables import section
from engine.text.word import PHONES

MOST_PHONES: Final = 40  # of one word
_STRESSES: Final = "ˈˌ"
_VOWEL_SIGNS: Final = frozenset("aeiouyæɑɒɔəɚɛɜɝɪɨʊʌøœɐɞɘɵɤɯʉʏɶᵻ")
_TOKEN: Final = re.compile(r"/[^/]*/|\S+")
_CASES: Final = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z]?[a-z]+|[A-Z]{2,}(?=[a-z])")
_SYLLABIC: Final = re.compile(r"[^aeiouy]*[lmnr]")
_VOICELESS: Final = frozenset(("p", "t", "k", "f", "θ"))
_HISSES: Final = frozenset(("s", "z", "ʃ", "ʒ", "tʃ", "dʒ"))


def _apart(text: str) -> str:
    """Return phones with their accents as signs of their own."""
    return unicodedata.normalize("NFD", text).replace("c\u0327", "ç")


_MODIFIERS: Final = "ːˑ\u0300-\u036fʰʲʷ"
_VOWELS, _LONG, _CONSONANTS, _IN_ENGLISH, _MNEMONICS, _REPLACED, _SIGNS, _WORDS = (
    section("respelling", name)
    for name in "vowels long consonants english mnemonics replaced signs words".split()
)
_NEAREST: Final = {_apart(phone): near for phone, near in _IN_ENGLISH.items()}
COMMON_WORDS: Final = frozenset(_WORDS["common"].split())
"""Ordinary words that are names, too."""
_CONSONANT: Final = "|".join(sorted(_CONSONANTS, key=len, reverse=True))
_SPELT_VOWEL: Final = "|".join(sorted(_VOWELS, key=len, reverse=True))
_LONG_SYLLABLE: Final = re.compile(rf"((?:{_CONSONANT})*)([aeiouy])((?:{_CONSONANT}))e")
_SYLLABLE: Final = re.compile(rf"((?:{_CONSONANT})*?)({_SPELT_VOWEL})((?:{_CONSONANT})*)")
_PHONE: Final = re.compile(
    rf"(?:{'|'.join(_SIGNS['joined'].split())}|[{_SIGNS['single']}])[{_MODIFIERS}]*"
)
_ACCENTS: Final = {"es": "áéíóú", "it": "àèìòù", "pt": "áéíóú"}


@lru_cache(maxsize=4096)
def said_words(said: str, language: str = "") -> tuple[str, ...]:
    """Return the words for the voice. `language`: whose spelling a respelling has, "" = English.
    InvalidInput if the phones cannot be read.
    """
    tokens = _TOKEN.findall(said)
    capitals = [token.isupper() and len(token) > 1 for token in tokens]
    return tuple(
        _with_phones(token, phones_of(token))
        if token.startswith("/")
        else _respelt(token, language, alone=not shouted or all(capitals))
        for token, shouted in zip(tokens, capitals, strict=True)
    )


def split_phones(word: str) -> tuple[str, tuple[str, ...]]:
    """Return the letters of a word and its phones, if it has some."""
    letters, _, phones = word.partition(PHONES)
    return letters, tuple(phones.split("_")) if phones else ()


def with_ending(word: str, ending: str) -> str:
    """Return a word for an English voice with the ending "'s", "s" or ""."""
    letters, phones = split_phones(word)
    if not ending or not phones:
        return word + ending
    last = phones[-1].lstrip(_STRESSES)
    sound = ("ɪ", "z") if last in _HISSES else ("s",) if last in _VOICELESS else ("z",)
    return f"{letters}{ending}{PHONES}{'_'.join((*phones, *sound))}"


def in_english(phones: Sequence[str]) -> tuple[str, ...]:
    """Return phones that English voices have."""
    found: list[str] = []
    for phone in phones:
        stress = phone[: len(phone) - len(phone.lstrip(_STRESSES))]
        near = phone[len(stress) :]
        if near not in _MNEMONICS:
            plain = re.sub(f"[{_MODIFIERS}]", "", near)
            near = _NEAREST.get(near, _NEAREST.get(plain, plain))
        found += (stress * (number == 0) + each for number, each in enumerate(near.split()))
    return tuple(found)


def mnemonics(phones: Sequence[str]) -> str:
    """Return English phones as an input for espeak."""
    spelt = ""
    for phone in phones:
        bare = phone.lstrip(_STRESSES)
        stress = {"ˈ": "'", "ˌ": ","}.get(phone[0], "") if phone != bare else ""
        spelt += stress + _MNEMONICS.get(bare, bare)
    return f"[[{spelt}]]" if spelt.isascii() else ""


def phones_of(text: str) -> tuple[str, ...]:
    """Return the phones of IPA, each stress before its vowel. InvalidInput for an unknown sign."""
    text = "".join(_REPLACED.get(sign, sign) for sign in _apart(text.strip("/")))
    found: list[str] = []
    stress, place = "", 0
    while place < len(text):
        if text[place] in _STRESSES:
            stress, place = text[place], place + 1
            continue
        match = _PHONE.match(text, place)
        if match is None:
            raise InvalidInput(
                "'{sign}' is not a phone of the phonetic alphabet.",
                hint="Write how it sounds, as in roo-BAH-toh.",
                sign=text[place],
            )
        vowel = _is_vowel(match[0])
        found.append(stress * vowel + match[0])
        stress, place = "" if vowel else stress, match.end()
    if not any(map(_is_vowel, found)) or len(found) > MOST_PHONES:
        raise InvalidInput(
            "A said word has one vowel or more, and at most {most} phones.", most=MOST_PHONES
        )
    if sum(map(_is_vowel, found)) == 1:
        return tuple(f"ˈ{each.lstrip(_STRESSES)}" if _is_vowel(each) else each for each in found)
    return tuple(found)


def _with_phones(letters: str, phones: Sequence[str]) -> str:
    plain = re.sub(r"\W", "", letters)[:MOST_PHONES]
    return f"{plain or 'x'}{PHONES}{'_'.join(phones)}"


def _respelt(token: str, language: str, *, alone: bool) -> str:
    """Return a word for a token: with phones if it is a respelling, otherwise as it is."""
    syllables = _syllables(token, alone=alone)
    if not syllables:
        return token
    joined = "".join(syllables).lower()
    if language not in ("", ENGLISH):
        return _accented(syllables, _ACCENTS.get(language, ""))
    sounds = [_syllable(each.lower()) for each in syllables]
    stressed = _stressed(syllables)
    phones: list[str] = []
    for number, sound in enumerate(sounds):
        mark = "ˈ" if number == stressed[-1] else "ˌ" if number in stressed else ""
        others = {"ɚ": "ɜː", "ə": "ʌ"} if mark else {"iː": "i", "ʌ": "ə"}  # of its stress
        for phone in sound:
            vowel = _is_vowel(phone)
            phones.append(mark + others.get(phone, phone) if vowel else phone)
            mark = "" if vowel else mark
    said = all(sounds) and len(phones) <= MOST_PHONES
    return _with_phones(joined, phones) if said else joined


def _syllables(token: str, *, alone: bool) -> list[str]:
    """Return the syllables of a respelling; none for an ordinary word."""
    bare = token.strip("-.,")
    if "-" in bare:
        return [each for each in bare.split("-") if each]
    parts = _CASES.findall(bare)
    mixed = len(parts) > 1 and any(len(each) > 1 and each.isupper() for each in parts)
    if not alone or (mixed and "".join(parts) == bare):
        return parts if mixed else [bare]
    return []


def _stressed(syllables: Sequence[str]) -> list[int]:
    """Return the places of the stressed syllables, the main one last."""
    capitals = [number for number, each in enumerate(syllables) if each.isupper()]
    if capitals and len(capitals) < len(syllables):
        return capitals
    return [max(0, len(syllables) - 2)]


def _syllable(text: str) -> tuple[str, ...]:
    """Return the phones of a syllable; none if it cannot be read."""
    if match := _LONG_SYLLABLE.fullmatch(text):
        return (*_sounds(match[1]), _LONG[match[2]], *_sounds(match[3]))
    if match := _SYLLABLE.fullmatch(text):
        open_, _, closed = _VOWELS[match[2]].partition("|")
        vowel = closed if closed and match[3] else open_
        return (*_sounds(match[1]), *vowel.split(), *_sounds(match[3]))
    if _SYLLABIC.fullmatch(text) and re.fullmatch(rf"(?:{_CONSONANT})+", text):
        return (*_sounds(text[:-1]), "ə", *_sounds(text[-1]))
    return ()


def _sounds(consonants: str) -> list[str]:
    found = re.findall(_CONSONANT, consonants)
    return [phone for each in found for phone in _CONSONANTS[each].split()]


def _accented(syllables: Sequence[str], accents: str) -> str:
    """Return a respelling of a language that writes its stress with accents as one word."""
    found = [each.lower() for each in syllables]
    stressed = _stressed(syllables)[-1]
    if accents and any(each.isupper() for each in syllables):
        table = dict(zip("aeiou", accents, strict=True))
        found[stressed] = re.sub(
            r"[aeo]|[iu](?![aeo])", lambda match: table[match[0]], found[stressed], count=1
        )
    return "".join(found)


def _is_vowel(phone: str) -> bool:
    return not _VOWEL_SIGNS.isdisjoint(phone)
