"""The words of one language, from its file in resources/text/languages, and its numbers in words:
num2words, its known faults mended, in the gender of their noun.

Invariant: no number in words contains a digit.
"""

import re
from functools import cache, lru_cache

from engine.languages import ENGLISH
from engine.resources import table

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
_SHORT = ("names", "titles", "abbreviations", "phrases", "scales", "units", "currencies")


class Vocabulary:
    """The tables and the numbers of a language. A section maps written forms to spoken ones."""

    def __init__(self, code: str) -> None:
        file = table("text", "languages", f"{code}.toml")
        self.num2words: str = file["num2words"]
        self.spelled_up_to: int = file["spelled_up_to"]
        self.roman_ordinals: int = file["roman_ordinals"]
        self.code_block = tuple(str(file["code_block"]).split())
        self.date, self.short_date, self.first = (
            str(file[name]) for name in ("date", "short_date", "first")
        )
        self.months: list[str] = file["months"].split()
        self._sections: dict[str, dict[str, str]] = {
            name: value for name, value in file.items() if isinstance(value, dict)
        }
        self._lists = {
            name: frozenset(value.split()) for name, value in file.items() if isinstance(value, str)
        }
        self.short_forms = frozenset(
            part for name in _SHORT for key in self._sections[name] for part in key.split()
        )
        """Everything that may not be said as it is written."""
        self._feminine_end = re.compile(file["feminine_end"])
        self._absolute_before = re.compile(file["absolute_before"])

    def section(self, name: str) -> dict[str, str]:
        return self._sections[name]

    def listed(self, name: str) -> frozenset[str]:
        return self._lists[name]

    def say(self, name: str) -> str:
        """Return the word of a mark or a relation, such as "comma" or "minus"."""
        return self._sections["say"][name]

    def forms(self, section: str, written: str) -> list[str]:
        """Return the singular and the plural, of a currency also those of its hundredth."""
        return self._sections[section][written].split("|")

    def unit(self, written: str) -> list[str]:
        """Return the singular and the plural of a unit; none if it is not one. "Kg" is "kg"."""
        units = self._sections["units"]
        text = units.get(written) or (units.get(written.lower()) if len(written) > 1 else None)
        return text.split("|") if text else []

    def link(self) -> str:
        """Return the preposition between a million and its noun."""
        return next(link for link in self._sections["scales"].values() if link)

    def gender(self, noun: str) -> str:
        """Return the gender of the noun behind a number, "m" or "f"; "" where the number keeps its
        full form, because no noun follows or because of how the noun begins.
        """
        letters = noun.replace("-", "")
        if not (letters.isalpha() and letters.islower()) or noun in self._lists["small"]:
            return ""
        feminine = noun in self._lists["feminine"] or self._feminine_end.search(noun)
        if feminine and noun not in self._lists["masculine"]:
            return "f"
        return "" if self._absolute_before.match(noun) else "m"

    def gender_of_unit(self, written: str) -> str:
        """Return the gender of a unit or a currency, "" if it is neither."""
        forms = self.unit(written) or self._sections["currencies"].get(written, "").split("|")
        return self.gender(forms[0].split()[0]) if forms[0] else ""

    def linked(self, words: str, noun: str) -> str:
        """Return a number with its noun: "un million d'euros", but "mille euros"."""
        link = self._sections["scales"].get(words.rpartition(" ")[2], "")
        if link == "de" and self.num2words == "fr" and noun[:1] in tuple("aeiouéèh"):
            return f"{words} d'{noun}"
        return f"{words} {link} {noun}" if link else f"{words} {noun}"

    # ------------------------------------------------------------------------- numbers

    def cardinal(self, value: int, gender: str = "") -> str:
        """Return a number in words. `gender`: of the noun behind it; "" if there is none."""
        said = self._replaced("faults", _in_words(self.num2words, value, "cardinal"))
        forms = {"m": "masculine_of", "f": "feminine_of"}.get(gender)
        if not forms:
            return said
        # Two hundred million people: the millions have a gender of their own.
        scales, words = self._sections["scales"], said.split(" ")
        begin = max((i + 1 for i, word in enumerate(words) if scales.get(word)), default=0)
        counted = self._replaced(forms, " ".join(words[begin:]))
        return " ".join([*words[:begin], counted]).strip()

    def elided(self, said: str) -> str:
        """Return a feminine number before a vowel: "un'ora"."""
        return self._replaced("elided", said)

    def ordinal(self, value: int, gender: str = "m") -> str:
        """Return an ordinal in words. `gender` "short": masculine, before its noun."""
        said = self._replaced("ordinal_faults", _in_words(self.num2words, value, "ordinal"))
        forms = {"f": "ordinal_feminine", "short": "ordinal_short"}.get(gender)
        return self._replaced(forms, said) if forms else said

    def digits(self, text: str) -> str:
        """Return the digits in words, one by one, without other characters."""
        return " ".join(self.cardinal(int(char)) for char in text if char in "0123456789")

    def grouped(self, text: str) -> str:
        """Return a group of figures in words: French says "zéro six" and "soixante-dix-huit"."""
        if self.num2words != "fr" or len(text) > 3:
            return self.digits(text)
        rest = text.lstrip("0")
        zeros = self.digits(text[: len(text) - len(rest)])
        return f"{zeros} {self.cardinal(int(rest)) if rest else ''}".strip()

    def number(self, text: str, gender: str = "") -> str:
        """Return a written number in words, with its sign."""
        sign = {"-": "minus", "−": "minus", "–": "minus", "+": "plus"}.get(text[0], "")
        whole, mark, decimals = parts(text[1:] if sign else text)
        figures = len(whole) > _MOST_DIGITS or (len(whole) > 1 and whole[0] == "0")
        said = self.digits(whole) if figures else self.cardinal(int(whole), gender)
        if decimals:
            in_one = len(decimals) <= _DECIMALS_IN_ONE and decimals[0] != "0"
            behind = self.cardinal(int(decimals)) if in_one else self.digits(decimals)
            said = self.cardinal(int(whole)) if not figures else said
            said = f"{said} {self.say('comma' if mark == ',' else 'point')} {behind}"
        return f"{self.say(sign)} {said}" if sign else said

    def _replaced(self, section: str, text: str) -> str:
        for pattern, replacement in self._sections[section].items():
            text = re.sub(pattern, replacement, text)
        return text


def parts(text: str) -> tuple[str, str, str]:
    """Return the figures of a NUMBER before its decimal mark, the mark, and the figures behind."""
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


def code_block(language: str) -> tuple[str, ...]:
    """Return the words that stand for a block of code."""
    return ("code", "block.") if language == ENGLISH else vocabulary(language).code_block


@cache
def vocabulary(code: str) -> Vocabulary:
    """Return the tables of a language, read once."""
    return Vocabulary(code)
