"""Write the person's names into a transcript where a recogniser wrote words that sound alike.

Invariant: only words that may be names are replaced: unknown ones, or those with a capital inside a
sentence. Common words stay, whatever they sound like.
"""

# ruff: noqa: RUF001  IPA letters look like others on purpose

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from engine.asr.sphinx.english import pronunciations
from engine.errors import ModelError
from engine.languages import ENGLISH, SPOKEN
from engine.text.names import Names
from engine.text.phonemes import Espeak
from engine.text.pronunciation.respelling import in_english, said_words, split_phones

HOTWORDS: Final = 30  # names: more delay each transcript
_MOST_WORDS: Final = 4  # that a name may have been heard as
_FEWEST_PHONES: Final = 3
# Differences of sounds, as a share of the name's phones, up to which a word is the name.
_UNKNOWN, _KNOWN, _SEVERAL = 0.3, 0.13, 0.2
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_ENDS: Final = re.compile(r"[.!?:;…]\W*$")
_SIGNS: Final = re.compile(r"[^\w\s'’-]")
_MOST_KNOWN: Final = 10_000
_I: Final = ("I", "I'", "I’")
_ENDING: Final = re.compile(r"['’]s$")
# Sounds that recognisers confuse, a group each; a vowel and a consonant are never alike.
_VOWEL_GROUPS: Final = ("iɪᵻye", "ɛæeɐə", "ɑɒɔʌaəo", "uʊoɵ", "əɚɜɐʌɪ")
_VOWELS: Final = frozenset("".join(_VOWEL_GROUPS))
_CLASSES: Final = {
    sound: group[0]
    for group in ("pb", "tdɾθð", "kɡxɣ", "fvβ", "sz", "ʃʒ", "m", "nŋɲ", "lʎ", "ɹrʁ", "w")
    for sound in group
}
_FOLDED: Final = str.maketrans({"ː": "", "ˈ": "", "ˌ": "", "ˑ": "", "‿": "", "h": "", "ʔ": ""})
_LEAST_ALONE: Final = 0.5  # the cost of a sound that one of two lacks
_ALIKE, _VOWEL, _SAME_CLASS, _OTHER = 0.3, 0.6, 0.3, 1.0


@dataclass(frozen=True)
class _Sound:
    """A name with its sounds, folded."""

    written: str
    phones: str


class HeardNames:
    """Corrects the transcripts of one language. It loads espeak, in half a second."""

    def __init__(self, names: Names, language: str) -> None:
        """ModelError if espeak cannot be loaded."""
        self._espeak = Espeak(SPOKEN[language].espeak if language in SPOKEN else language)
        self._english = language == ENGLISH
        self._by_skeleton: dict[str, list[_Sound]] = defaultdict(list)
        for name in names:
            if name.language not in ("", language):
                continue
            phones = "".join(self._said(word) for word in said_words(name.said, name.language))
            sound = _Sound(name.written, phones or self._sounds(name.written))
            if len(sound.phones) >= _FEWEST_PHONES:
                for skeleton in _near_skeletons(sound.phones):
                    self._by_skeleton[skeleton].append(sound)

    def _said(self, word: str) -> str:
        letters, phones = split_phones(word)
        return _folded("".join(in_english(phones))) if phones else self._sounds(letters)

    @lru_cache(maxsize=4096)  # noqa: B019 - lives as long as the recogniser
    def _sounds(self, text: str) -> str:
        return _folded("".join(self._espeak.phones(text)))

    def corrected(self, text: str) -> str:
        """Return the transcript with the names."""
        words = list(_WORD.finditer(text))
        if self._english:
            _look_up(word[0] for word in words)
        place, done, pieces = 0, 0, list[str]()
        while place < len(words):
            found = self._name_at(text, words[place : place + _MOST_WORDS])
            if found is None:
                place += 1
                continue
            written, count = found
            last = words[place + count - 1]
            ending = _ENDING.search(last[0])
            pieces += (text[done : words[place].start()], written, ending[0] if ending else "")
            place, done = place + count, last.end()
        return "".join((*pieces, text[done:]))

    def _name_at(self, text: str, words: Sequence[re.Match[str]]) -> tuple[str, int] | None:
        """Return the name that the first words sound like, and how many words those are."""
        best: tuple[float, str, int] | None = None
        for count in range(len(words), 0, -1):
            heard = words[:count]
            between = text[heard[0].end() : heard[-1].start()] if count > 1 else " "
            allowed = -1.0 if _SIGNS.search(between) else self._allowed(text, heard)
            if allowed < 0:
                continue
            spelt = " ".join((*(word[0] for word in heard[:-1]), _ENDING.sub("", heard[-1][0])))
            phones = "".join(self._sounds(each) for each in spelt.split())
            for sound, far in self._near(phones, allowed):
                is_same = spelt.casefold() == sound.written.casefold()
                if not is_same and (best is None or far < best[0]):
                    best = far, sound.written, count
        return best[1:] if best else None

    def _near(self, phones: str, allowed: float) -> Iterator[tuple[_Sound, float]]:
        """Yield the names that are no further from these phones than `allowed`."""
        near = (self._by_skeleton.get(each, ()) for each in _near_skeletons(phones))
        found = {sound for sounds in near for sound in sounds}
        for sound in sorted(found, key=lambda each: each.written):
            least = _LEAST_ALONE * abs(len(phones) - len(sound.phones))
            if least <= allowed * len(sound.phones):
                far = _distance(phones, sound.phones)
                if far <= allowed:
                    yield sound, far

    def _allowed(self, text: str, heard: Sequence[re.Match[str]]) -> float:
        """Return how far a name may be from these words; negative = they stay."""
        before = text[: heard[0].start()]
        inside = bool(before.strip()) and not _ENDS.search(before)
        upper = heard[0][0][0].isupper() and heard[0][0][:2] not in _I
        if not self._english:
            capitals = inside and all(word[0][0].isupper() for word in heard)
            return (_KNOWN if len(heard) == 1 else _SEVERAL) if capitals else -1.0
        if upper and inside and len(heard) > 1:
            return _SEVERAL
        if len(heard) > 1 and not upper:
            return -1.0
        if _is_known(heard[0][0]):
            return _KNOWN if upper and inside else -1.0
        if len(heard) > 1:
            return _SEVERAL
        return _UNKNOWN if upper else _KNOWN


class NameCorrection:
    """The correction for the list in force, made when it is first needed and when it changes."""

    def __init__(self) -> None:
        self._made: tuple[Names, str] = ((), "")
        self._heard: HeardNames | None = None

    def corrected(self, text: str, names: Names, language: str) -> str:
        """Return the transcript with the names; as it is if espeak cannot read its language."""
        if not names:
            return text
        if self._made != (names, language):
            self._made, self._heard = (names, language), None
            with suppress(ModelError):
                self._heard = HeardNames(names, language)
        return self._heard.corrected(text) if self._heard else text


def hotwords(names: Names) -> str | None:
    """Return the newest names as Whisper expects its hotwords; None for an empty list."""
    return ", ".join(name.written for name in names[-HOTWORDS:]) or None


_known: dict[str, bool] = {}  # words that were looked up


def _look_up(words: Iterable[str]) -> None:
    """Look up words in the English dictionary, all at once: each look-up reads its file."""
    new = {_plain(word) for word in words} - _known.keys()
    if new:
        found = pronunciations(new)
        if len(_known) > _MOST_KNOWN:
            _known.clear()
        _known.update((word, word in found) for word in new)


def _is_known(word: str) -> bool:
    """Return whether a word that was looked up is in the dictionary."""
    return _known.get(_plain(word), True)


def _plain(word: str) -> str:
    return _ENDING.sub("", word.lower().replace("’", "'"))


def _folded(phones: str) -> str:
    for joined, single in (("tʃ", "ʃ"), ("dʒ", "ʒ"), ("n̩", "ən"), ("l̩", "əl"), ("j", "")):
        phones = phones.replace(joined, single)
    known = _VOWELS | _CLASSES.keys()
    return "".join(each for each in phones.translate(_FOLDED) if each in known)


def _near_skeletons(phones: str) -> set[str]:
    """Return the skeleton, the classes of the consonants, and those with one consonant less."""
    own = "".join(_CLASSES[each] for each in phones if each in _CLASSES)
    return {own, *(own[:place] + own[place + 1 :] for place in range(len(own)))}


def _distance(heard: str, name: str) -> float:
    """Return the differences of sounds as a share of the name's length."""
    before = [sum(map(_cost_alone, name[:end])) for end in range(len(name) + 1)]
    for sound in heard:
        row = [before[0] + _cost_alone(sound)]
        for place, other in enumerate(name):
            alone = (before[place + 1] + _cost_alone(sound), row[place] + _cost_alone(other))
            row.append(min(before[place] + _cost(sound, other), *alone))
        before = row
    return before[-1] / max(1, len(name))


def _cost_alone(sound: str) -> float:
    return _LEAST_ALONE if sound == "ə" else 0.8 if sound in _VOWELS else 1.0


def _cost(one: str, other: str) -> float:
    if one == other:
        return 0.0
    if one in _VOWELS and other in _VOWELS:
        near = any(one in group and other in group for group in _VOWEL_GROUPS)
        return _ALIKE if near else _VOWEL
    if one in _VOWELS or other in _VOWELS:
        return 2 * _OTHER
    return _SAME_CLASS if _CLASSES[one] == _CLASSES[other] else _OTHER
