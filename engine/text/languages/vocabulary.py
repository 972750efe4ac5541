"""The words of one language, from its file in resources/text/languages."""

import re
from functools import cache

from engine.languages import ENGLISH
from engine.resources import table


class Vocabulary:
    """The tables of a language. A section maps written forms to spoken ones."""

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
        short = ("names", "titles", "abbreviations", "phrases", "scales", "units", "currencies")
        self.short_forms = frozenset(
            part for name in short for key in self._sections[name] for part in key.split()
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


def code_block(language: str) -> tuple[str, ...]:
    """Return the words that stand for a block of code."""
    return ("code", "block.") if language == ENGLISH else vocabulary(language).code_block


@cache
def vocabulary(code: str) -> Vocabulary:
    """Return the tables of a language, read once."""
    return Vocabulary(code)
