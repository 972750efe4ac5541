"""From words to phones while the text is still arriving: libespeak-ng, word by word.

How a word sounds can depend on its neighbours ("the apple", "to go", "it is"). A word is released
as soon as nothing that may follow can change its sound, and otherwise held for one word, or for a
few where those decide its sense ("a tear in her eye"), so that the text sounds the same word by
word as all at once. Invariant: phones depend on the sequence of
words alone, never on when they were pushed. One thread uses an Espeak: the library keeps its state
in globals.
"""

import ctypes
import re
import unicodedata
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from engine.errors import ModelError
from engine.text.pronunciation import english, heteronyms
from engine.text.pronunciation.english import Spelling
from engine.text.pronunciation.initialisms import letters
from engine.text.pronunciation.respelling import split_phones
from engine.text.word import PHONES

MARKS: Final = ".,?!"
"""Punctuation marks the voice was trained with; all others become one of these or nothing."""
_MARK_OF: Final = dict(zip(";:—–…" + MARKS, ",,,,." + MARKS, strict=True))
_STRENGTH: Final = {"": 0, ",": 1, ".": 2, "!": 3, "?": 4}  # "?!" is a question, "..." a full stop
_VOWELS: Final = frozenset("aeiouæɑɒɔəɚɛɜɝɪɨʊʌøœɐɞɘɵɤɯyʉᵻ")
_SYLLABIC: Final = "\u0329"
_LANGUAGE_FLAG: Final = re.compile(r"\([^)]+\)")  # espeak marks foreign words "(fr)...(en-us)"
# Vowels of two syllables for espeak that people say in one: the glide is joined to its vowel.
_VOWEL: Final = "[ˈˌ]?[aeiouɔəɛœøɑɐ]"
_FALLING: Final = r"(?<=[aeouɔɛɐ\u0303])_(?=[iɪuʊy](?:[_ ]|$))"
_GLIDES: Final = {
    "es": re.compile(_FALLING),
    "it": re.compile(rf"{_FALLING}|(?<=[_ ][iʊ])_(?={_VOWEL})"),
    "pt-br": re.compile(_FALLING),
    "fr-fr": re.compile(rf"(?<=[_ ][iy])_(?={_VOWEL})"),
}
_JOINED: Final = "‿"
_NEIGHBOURS: Final = 3  # words before it in the clause, as context
_FILLER: Final = "context"  # starts with a consonant and reduces no word before it
_PROBES: Final = (f" {_FILLER}", " apple", "")  # a consonant, a vowel, and the end may follow
_PROBES_ELSEWHERE: Final = (f" {_FILLER}", " bono", " ave", "")  # Spanish "un b", French "les a"
_MAX_WORD: Final = 200  # characters; longer is not a word
_PHONES_GIVEN: Final = 0x101  # espeakCHARS_UTF8 | espeakPHONEMES of speak_lib.h
_AUDIBLE_START: Final = 3  # English phones; before these only words of several senses are held


@dataclass(frozen=True)
class PhonedWord:
    """Phones of one pushed word in IPA with stress marks, and the punctuation after it ("" =
    none)."""

    phones: tuple[str, ...]
    mark: str = ""

    @property
    def syllables(self) -> int:
        return sum(is_nucleus(phone) for phone in self.phones)


def is_nucleus(phone: str) -> bool:
    """Return whether a phone carries a syllable: a vowel or a syllabic consonant."""
    return any(letter in _VOWELS or letter == _SYLLABIC for letter in phone)


class Espeak:
    """Phones of a text from the bundled libespeak-ng."""

    def __init__(self, language: str = "en-us") -> None:
        """Load the library (0.5 s) for a language as it calls them. ModelError if it cannot be."""
        self._library = _load(language)
        self._glide = _GLIDES.get(language)
        self.english = language.startswith("en")
        self.british = self.english and not language.startswith("en-us")

    def groups(self, text: str) -> list[list[str]]:
        """Return the phones in espeak's groups; some short words ("of the") are one group."""
        phones = _LANGUAGE_FLAG.sub("", self._library.text_to_phonemes(text))
        if self.english:  # an r before a consonant: espeak writes it like the Spanish one
            phones = phones.replace("r", "ɹ")
        if self._glide:
            phones = self._glide.sub(_JOINED, f" {phones}")
        split = ([phone for phone in group.split("_") if phone] for group in phones.split())
        return [group for group in split if group]

    def phones(self, text: str) -> list[str]:
        """Return the phones without groups."""
        return [phone for group in self.groups(text) for phone in group]

    def spelled(self, capitals: str, ending: str = "") -> tuple[str, ...]:
        """Phones of letters said one by one, the last one stressed, with the ending "'s" or none.
        espeak itself takes an A among them for the article, and stresses them all.
        """
        names = [self.phones(letter) for letter in capitals]
        for letter, name, following in zip(capitals, names, names[1:], strict=False):
            if letter == "R" and name[-1][-1:] == "ː" and is_nucleus(following[0]):
                name[-1] += "ɹ"  # British: heard before a vowel only
        phones = [phone.replace("ˈ", "ˌ") for name in names[:-1] for phone in name]
        return (*phones, *names[-1], *self.phones(capitals[-1] + ending)[len(names[-1]) :])


class WordPhonemizer:
    """Phones of one utterance's words, in order, as soon as each is certain."""

    def __init__(self, espeak: Espeak) -> None:
        self._espeak = espeak
        self._before: deque[str] = deque(maxlen=_NEIGHBOURS)  # released words of this clause
        self._passed: deque[str] = deque(maxlen=english.WORDS_BEFORE)  # with their marks
        self._held: deque[tuple[str, str]] = deque()  # words and their marks
        self._given = 0  # phones

    def push(self, text: str) -> list[PhonedWord]:
        """Add a word with its punctuation; return the words that are certain now, perhaps none."""
        self._held.append(split_mark(text))
        return self._release(ended=False)

    def finish(self) -> list[PhonedWord]:
        """End the text; return the held words."""
        return self._release(ended=True)

    def _release(self, *, ended: bool) -> list[PhonedWord]:
        ready = []
        while self._held and (ended or not self._waits(*self._held[0])):
            word, mark = self._held.popleft()
            after = self._held[0][0] if self._held else None if not ended else ""
            ready.append(self._give(word, "" if mark else after, mark))
        return ready

    def _give(self, word: str, after: str | None, mark: str) -> PhonedWord:
        """The phones of a word before another one ("" = a mark or nothing, None = unknown)."""
        spelling = self._spelling(word, after, self._later(0))
        if after and self._espeak.english:
            after = english.roughly(after, british=self._espeak.british)
        elif after:
            after = split_phones(after)[0]
        following = f" {_FILLER if after is None else after}" if after != "" else ""
        phones = self._sound(spelling, following)
        self._given += len(phones)
        if word or mark:
            self._passed.append(split_phones(word)[0] + mark)
        if mark:
            self._before.clear()
        elif spelling.text:
            self._before.append(spelling.text)
        return PhonedWord(phones, mark)

    def _spelling(self, word: str, after: str | None, later: Sequence[str] = ()) -> Spelling:
        if not self._espeak.english or not word:
            letters, phones = split_phones(word)
            return Spelling(letters, phones=phones)
        british = self._espeak.british
        return english.spelling(self._passed, word, after, british=british, later=later)

    def _later(self, place: int) -> list[str]:
        """Return the held words from a place on, with their marks."""
        held = islice(self._held, place, None)
        return [split_phones(word)[0] + mark for word, mark in held]

    def _waits(self, word: str, mark: str) -> bool:
        """Return whether the words behind the first held word may decide its sense or, once speech
        has begun, change its sound.
        """
        is_english = self._espeak.english
        if not word or PHONES in word or mark not in ("", ","):
            return False
        if mark or len(self._held) > 1:
            after = "" if mark else self._held[1][0]
            return is_english and heteronyms.waits(self._passed, word, after, self._later(1))
        depends = is_english and english.depends(word)
        if depends or (is_english and self._given < _AUDIBLE_START):
            return depends
        spelling = self._spelling(word, None)
        probes = _PROBES if is_english else _PROBES_ELSEWHERE
        return len({self._sound(spelling, probe) for probe in probes}) > 1

    def _sound(self, spelling: Spelling, following: str) -> tuple[str, ...]:
        """Return the word's phones between the words before it and `following` (with its space)."""
        if spelling.phones or not spelling.text:
            return spelling.phones
        if spelling.alone:
            return tuple(self._espeak.groups(spelling.alone)[-1])
        if self._espeak.english and (capitals := letters(spelling.text)):
            return self._espeak.spelled(*capitals)
        return self._among(spelling.text, following)

    def _among(self, word: str, following: str) -> tuple[str, ...]:
        words = [*self._before, word, *following.split()]
        groups = self._espeak.groups(" ".join(words))
        if len(groups) == len(words):
            return tuple(groups[len(self._before)])
        # espeak joined words: cut the neighbours off by the number of phones that they have alone,
        # which joining does not change.
        flat, alone = [phone for group in groups for phone in group], self._espeak.phones(word)
        before = sum(len(self._espeak.phones(neighbour)) for neighbour in self._before)
        after = len(self._espeak.phones(following)) if following else 0
        fits = len(flat) - before - after == len(alone)
        return tuple(flat[before : len(flat) - after] if fits else alone)


def split_mark(text: str) -> tuple[str, str]:
    """Return the word without outer punctuation, and one mark for the punctuation after it."""
    text = unicodedata.normalize("NFC", text[:_MAX_WORD]).strip()
    tail = text[len(text.rstrip("".join(_MARK_OF) + "\"'”’)]}»")) :]
    marks = [_MARK_OF[letter] for letter in tail if letter in _MARK_OF]
    mark = max(marks, key=_STRENGTH.__getitem__, default="")
    return _without_edges(text), mark


def _without_edges(text: str) -> str:
    """Strip all but letters, figures and vowel signs at both ends; a final apostrophe stays."""
    places = enumerate(text)
    inner = [at for at, char in places if char.isalnum() or unicodedata.category(char)[0] == "M"]
    if not inner:
        return ""
    end = inner[-1] + 1
    return text[inner[0] : end + (text[end : end + 1] == "'")]


def _load(language: str) -> Any:
    # Slow to import; the wrapper copies the library, so this instance shares nothing.
    import espeakng_loader
    from phonemizer.backend.espeak.wrapper import EspeakWrapper

    try:
        EspeakWrapper.set_library(espeakng_loader.get_library_path())
        EspeakWrapper.set_data_path(espeakng_loader.get_data_path())
        library = EspeakWrapper()
        library.set_voice(language)
        if language.startswith("en"):  # from here on espeak reads phones between [[ and ]]
            synthesise = library._espeak._library.espeak_Synth
            synthesise(b"", ctypes.c_size_t(1), 0, 1, 0, _PHONES_GIVEN, None, None)
    except (OSError, RuntimeError) as error:
        raise ModelError(
            "The pronunciation library cannot be loaded: {error}.",
            hint="Install the program again.",
            error=error,
        ) from error
    return library
