"""Numbers in words: num2words, its known faults mended, in the gender of their noun.

Invariant: no result contains a digit.
"""

import re
from functools import lru_cache

from engine.text.languages.vocabulary import Vocabulary

NUMBER = (
    r"(?:[1-9]\d{0,2}(?:\.\d{3})+(?!\d)(?:,\d+)?"  # 1.234,56
    r"|[1-9]\d{0,2}(?:,\d{3})+\.\d+|[1-9]\d{0,2}(?:,\d{3}){2,}(?!\d)"  # 1,234.56, as in Mexico
    r"|\d+(?:[.,]\d+)?)"
)
"""A number as written, without its sign, as part of other patterns."""
_DOTS = re.compile(r"([1-9]\d{0,2}(?:\.\d{3})+)(?:(,)(\d+))?")
_COMMAS = re.compile(r"([1-9]\d{0,2}(?:,\d{3})+)(?:(\.)(\d+))?")
_PLAIN = re.compile(r"(\d+)(?:([.,])(\d+))?")
_MOST_DIGITS = 15  # longer numbers are read digit by digit
_DECIMALS_IN_ONE = 2  # more of them are read digit by digit


class Numbers:
    """The numbers of one language."""

    def __init__(self, words: Vocabulary) -> None:
        self.words = words

    def cardinal(self, value: int, gender: str = "") -> str:
        """Return a number in words. `gender`: of the noun behind it; "" if there is none."""
        section = self.words.section
        said = _replaced(_in_words(self.words.num2words, value, "cardinal"), section("faults"))
        forms = {"m": "masculine_of", "f": "feminine_of"}.get(gender)
        if not forms:
            return said
        # Two hundred million people: the millions have a gender of their own.
        scales = section("scales")
        words = said.split(" ")
        begin = max((i + 1 for i, word in enumerate(words) if scales.get(word)), default=0)
        counted = _replaced(" ".join(words[begin:]), section(forms))
        return " ".join([*words[:begin], counted]).strip()

    def elided(self, said: str) -> str:
        """Return a feminine number before a vowel: "un'ora"."""
        return _replaced(said, self.words.section("elided"))

    def ordinal(self, value: int, gender: str = "m") -> str:
        """Return an ordinal in words. `gender` "short": masculine, before its noun."""
        section = self.words.section
        said = _in_words(self.words.num2words, value, "ordinal")
        said = _replaced(said, section("ordinal_faults"))
        forms = {"f": "ordinal_feminine", "short": "ordinal_short"}.get(gender)
        return _replaced(said, section(forms)) if forms else said

    def digits(self, text: str) -> str:
        """Return the digits in words, one by one, without other characters."""
        return " ".join(self.cardinal(int(char)) for char in text if char in "0123456789")

    def grouped(self, text: str) -> str:
        """Return a group of figures in words: French says "zéro six" and "soixante-dix-huit"."""
        if self.words.num2words != "fr" or len(text) > 3:
            return self.digits(text)
        zeros = text[: len(text) - len(text.lstrip("0"))]
        rest = text[len(zeros) :]
        return f"{self.digits(zeros)} {self.cardinal(int(rest)) if rest else ''}".strip()

    def say(self, text: str, gender: str = "") -> str:
        """Return a written number in words, with its sign."""
        sign = {"-": "minus", "−": "minus", "–": "minus", "+": "plus"}.get(text[0], "")
        whole, mark, decimals = parts(text[1:] if sign else text)
        figures = len(whole) > _MOST_DIGITS or (len(whole) > 1 and whole[0] == "0")
        said = self.digits(whole) if figures else self.cardinal(int(whole), gender)
        if decimals:
            in_one = len(decimals) <= _DECIMALS_IN_ONE and decimals[0] != "0"
            behind = self.cardinal(int(decimals)) if in_one else self.digits(decimals)
            said = self.cardinal(int(whole)) if not figures else said
            said = f"{said} {self.words.say('comma' if mark == ',' else 'point')} {behind}"
        return f"{self.words.say(sign)} {said}" if sign else said


def parts(text: str) -> tuple[str, str, str]:
    """Return the figures of a match of NUMBER before its decimal mark, the mark, and the figures
    behind it.
    """
    for form in (_DOTS, _COMMAS, _PLAIN):
        match = form.fullmatch(text)
        if match and not (form is _COMMAS and not match[3] and text.count(",") == 1):
            return re.sub(r"[.,]", "", match[1]), match[2] or "", match[3] or ""
    return re.sub(r"\D", "", text) or "0", "", ""


@lru_cache(maxsize=4096)
def _in_words(language: str, value: int, form: str) -> str:
    from num2words import num2words  # 0.05 s, at the first figure

    said: str = num2words(value, lang=language, to=form)
    return said


def _replaced(text: str, patterns: dict[str, str]) -> str:
    for pattern, replacement in patterns.items():
        text = re.sub(pattern, replacement, text)
    return text
