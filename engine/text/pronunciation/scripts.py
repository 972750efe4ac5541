"""Letters that no English voice can say: those of other scripts are left out, Latin letters that
espeak does not know become their base letters.

Invariant: what English writes, with the accents of its loans and of European names (Latin-1 and
Latin Extended-A), is never changed: espeak knows these.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Final

from engine.text.word import Piece

_KNOWN: Final = "\u017f"  # espeak's English has tables up to here
_SAID: Final = frozenset(
    "LATIN GREEK COMBINING MODIFIER MATHEMATICAL FULLWIDTH MICRO VARIATION SUPERSCRIPT".split()
)
"""First words of the Unicode names of letters that are read, not left out."""
_SIGNS: Final = ("\u2100", "\u214f")  # letter-like signs: ohm, kelvin, the set of real numbers
_LATIN: Final = re.compile(r"LATIN (?:SMALL|CAPITAL) (?:LETTER|LIGATURE) (.+?)(?: WITH .*)?")
_SOUNDS: Final = {"SCHWA": "e", "ESH": "sh", "EZH": "zh", "ENG": "ng", "THORN": "th", "GAMMA": "g"}
# A Greek letter alone, or behind a delta or a pi, is a symbol and has its name; more are a word.
_GREEK_WORD: Final = re.compile(r"(?![ΔπδΠ][Α-Ωα-ω](?![Ͱ-Ͽἀ-῿]))[Ͱ-Ͽἀ-῿](?:[-'’]?[Ͱ-Ͽἀ-῿])+")
_LEFT_OUT: Final = "\0"
_YEN: Final = re.compile(r"(?<=\d)円")  # money.py has a word for it
_RUN: Final = re.compile(rf"{_LEFT_OUT}(?:[-'’·]*{_LEFT_OUT})*")


@lru_cache(maxsize=4096)
def is_foreign(char: str) -> bool:
    """Return whether a character is a letter, or its sign, that no English voice can say."""
    if char <= _KNOWN or _SIGNS[0] <= char <= _SIGNS[1]:
        return False
    name = unicodedata.name(char, "") if unicodedata.category(char)[0] in "LM" else ""
    return bool(name) and name.partition(" ")[0] not in _SAID


def without_foreign(piece: Piece) -> Piece:
    """Return a piece with one space in place of every run of other scripts."""
    if piece.text.isascii():
        return piece
    piece = piece.replace(_GREEK_WORD, lambda match: _LEFT_OUT * len(match[0]))
    money = {match.start() for match in _YEN.finditer(piece.text)}
    marked = "".join(
        _LEFT_OUT if is_foreign(char) and place not in money else char
        for place, char in enumerate(piece.text)
    )
    return Piece(marked, piece.places).replace(_RUN, " ")


def composed(piece: Piece) -> Piece:
    """Return a piece in NFC, as most texts are; macOS stores letters and accents separately."""
    if piece.text.isascii() or unicodedata.is_normalized("NFC", piece.text):
        return piece
    text, places, begin = "", [], 0
    for end in range(1, len(piece.text) + 1):
        if end < len(piece.text) and _goes_on(piece.text[end]):
            continue
        letters = unicodedata.normalize("NFC", piece.text[begin:end])
        text += letters
        # A word ends behind the last accent, and begins with its first letter.
        places += [piece.places[end - 1 if begin else 0]] * len(letters)
        begin = end
    return Piece(text, tuple(places))


def readable(word: str) -> str:
    """A word in letters that espeak says, without other scripts and several accents."""
    if word.isascii():
        return word
    return "".join(map(_base, unicodedata.normalize("NFC", word)))


def _goes_on(char: str) -> bool:
    """Return whether a character may melt into the one before: an accent, a part of Korean."""
    return unicodedata.category(char)[0] == "M" or "\u1160" <= char <= "\u11ff"


@lru_cache(maxsize=4096)
def _base(char: str) -> str:
    if char <= _KNOWN:
        return char
    if is_foreign(char) or unicodedata.combining(char):
        return ""
    plain = unicodedata.normalize("NFKC", char)
    if plain.isascii() or "GREEK" in unicodedata.name(char, ""):
        return plain
    match = _LATIN.fullmatch(unicodedata.name(char, ""))
    if not match:
        return char if not char.isalpha() else ""
    name = match[1]
    base = _SOUNDS.get(name) or name.rpartition(" ")[2]
    base = base if len(base) <= 2 else ""
    return base.upper() if char.isupper() else base.lower()
