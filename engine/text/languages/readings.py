"""The reading of a token in a language other than English: the rules in their order.

Invariant: every token has a reading, whose words hold letters, hyphens and apostrophes alone.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from engine.text.languages import figures, names
from engine.text.languages.vocabulary import NUMBER, Vocabulary, vocabulary
from engine.text.rules import groups, punctuation
from engine.text.rules.context import Context, PreviousToken, Reading, say
from engine.text.rules.punctuation import Peeled

_Rule = Callable[[str, Context, Vocabulary], Reading | None]
_RULES: tuple[_Rule, ...] = (
    names.abbreviation, names.link, figures.first, figures.date, figures.time, figures.half_of_day,
    figures.money, figures.scale, figures.currency, figures.unit, figures.ordinal, figures.measure,
    figures.ratio, figures.fraction, figures.number, figures.version, names.roman, names.initialism,
)  # fmt: skip

_ELIDED = re.compile(r"([^\W\d_]{1,6}')(.+)")
_LED = re.compile(r"([~≈<>≤≥±+])([-−]?[\d.$€£¥].*)")
_RANGE = re.compile(r"((?!-)[^-–]*\d[^-–]*)[-–]([^-–]*\d[^-–]*)")
_LAST_PART = re.compile(r"(?<=\w)[-–](?=\d)")
_PARTS = re.compile(rf"{NUMBER}|[^\W\d_](?:[^\W\d_]|['-](?=[^\W\d_]))*|\^-?\d+|\S")
_CAPITALS = re.compile("[A-Z]{2,3}")  # beside figures they are spelled: MP3
_FORMULA = re.compile(r"[+=×÷^√<>≤≥≠≈±]")
_DIALLED = re.compile(r"\+\d[\d().-]{6,20}|[\d().-]{7,20}", re.ASCII)
_GROUPS = re.compile(r"\d{5}-\d{3}|0\d(?:[.-]\d\d){4}")  # a postcode of Brazil, French numbers
_HIDDEN = re.compile(r"•(\d+)")
_GROUPED = re.compile(rf"[^\w\s]{{0,2}}{groups.THOUSANDS}[^\d\s]*")


class TableReadings:
    """The readings of one language, from its tables."""

    group_mark = ""  # between the groups of a number, as its reading expects them

    def __init__(self, code: str) -> None:
        self._words = vocabulary(code)
        self._greek = self._words.section("greek")

    def read(self, body: str, context: Context) -> Reading:
        """Return the reading of a token without its punctuation."""
        is_word = body.isalpha() and body[1:].islower() and body[0].lower() not in self._greek
        if is_word and not names.is_short(body, self._words):  # as nearly every token is
            return Reading((body,))
        return (
            self._dialled(body, context)
            or self._led(body, context)
            or self._narrow(body, context)
            or self._range(body, context)
            or self._sign(body, context)
            or self._anything(body)
        )

    def code(self, run: Sequence[str], context: Context, *, entire: bool) -> int:
        """Return the number of tokens that are said figure by figure, see groups.code."""
        run = [re.sub(r"^\((\+\d+)\)$", r"\1", run[0]), *run[1:]]  # (+34) 91 123 45 67
        return groups.code(run, cued=self._is_cued(context), entire=entire)

    def thousands(self, run: Sequence[str], context: Context) -> int:
        """Return the number of tokens that form one number in groups of three."""
        named = context.previous[:1].isupper() and context.before_previous != ""
        for size in range(len(run), 1, -1):
            text = " ".join(run[:size])
            if _GROUPED.fullmatch(text) and (not named or re.search(r"\b000\D*$", text)):
                return size
        return 0

    def code_words(self, text: str) -> list[str]:
        """Return a code in words, with a pause after every group except the last."""
        said: list[str] = []
        for group in re.findall(r"\+?\d+|[^\W\d_]+", text):
            plus = [self._words.say("plus")] if group[0] == "+" else []
            figures = group.lstrip("+")
            words = self._words.grouped(figures) if figures.isdecimal() else figures
            said += [*plus, *words.split()]
            said[-1] += ","
        return [*said[:-1], said[-1].rstrip(",")] if said else []

    def opens_pause(self, peeled: Peeled, past: tuple[PreviousToken, ...]) -> bool:
        """Return whether the word before needs a pause; before an area code it does not."""
        is_area = peeled.body.isdecimal() and self._is_cued(Context(past))
        return punctuation.opens_pause(peeled) and not is_area

    def past(self, body: str, punctuation: str, mark: str) -> PreviousToken:
        """Return a token as its neighbours see it, with the dot of an abbreviation."""
        last = _LAST_PART.split(body)[-1]
        return PreviousToken(last + "." * (punctuation.startswith(".") and not mark), mark)

    def _narrow(self, body: str, context: Context) -> Reading | None:
        if (elided := _ELIDED.fullmatch(body)) and (said := self._elided(elided[2], context)):
            return replace(said, words=(elided[1] + said.words[0], *said.words[1:]))
        for rule in _RULES:
            if (answer := rule(body, context, self._words)) is not None:
                return replace(answer, is_code=True) if rule is names.link else answer
        return None

    def _elided(self, body: str, context: Context) -> Reading | None:
        """Read what stands behind an apostrophe, if it is not a plain word."""
        if body[0].islower():
            return names.abbreviation(body, context, self._words)
        words = self._words
        if body == "1" and words.num2words == "it":  # all'una, but l'uno per cento
            return say("uno" if context.after in ("per", *words.months) else "una")
        said = self.read(body, context)
        if said.words[:1] == (words.first,):  # l'1/5: l'uno maggio
            said = replace(said, words=(self._words.cardinal(1), *said.words[1:]))
        return said if said.words else None

    def _led(self, body: str, context: Context) -> Reading | None:
        """Read ~50, <5, +10 with the word of their sign."""
        match = _LED.fullmatch(body)
        if not match:
            return None
        reading = self._narrow(match[2], context) or self._range(match[2], context)
        lead = self._words.section("signs")[match[1]].split()
        return reading and replace(reading, words=(*lead, *reading.words))

    def _range(self, body: str, context: Context) -> Reading | None:
        """Read 10-15, 9:00–18:00, 5-10 %, 3-1."""
        match = _RANGE.fullmatch(body)
        if not match:
            return None
        high = self._narrow(match[2], context)
        behind = replace(context, punctuation="")  # 350-400 €: the currency is said once
        low = figures.number(match[1], behind, self._words) or self._narrow(match[1], behind)
        if not high or not low:
            return None
        to = self._words.say("to").split()
        return replace(high, words=(*low.words, *to, *high.words))

    def _dialled(self, body: str, context: Context) -> Reading | None:
        """Read telephone numbers in one token; without a plus, words before must announce them."""
        hidden = _HIDDEN.fullmatch(body)
        text = hidden[1] if hidden else ""
        if not hidden and _DIALLED.fullmatch(body):
            if body[0] == "+":
                text = groups.international(body) or body
            elif self._is_cued(context) or _GROUPS.fullmatch(body):
                size = 2 if self._words.num2words == "fr" else 3  # as the country groups them
                groups_of_it = re.findall(rf"\d{{{size}}}(?:\d(?!\d))?|\d+", body)
                text = " ".join(groups_of_it) if body.isdecimal() else body
        return Reading(tuple(self.code_words(text)), is_code=True) if text else None

    def _is_cued(self, context: Context) -> bool:
        cues = self._words.listed("phone_cues")
        return any(past.body.lower().strip(".:") in cues for past in context.past[:3])

    def _sign(self, body: str, context: Context) -> Reading | None:
        """Read a sign that stands alone; a dash is a minus or a range between numbers."""
        words = self._words
        if body in ("-", "–", "−"):
            if not (context.after_number and context.after[:1].isdecimal()):
                return Reading(())
            low, high = (re.sub(r"\D", "", text) for text in (context.previous, context.after))
            rises = int(low) < int(high) if low and high else False
            return say(words.say("to" if rises else "minus"))
        if body == "/" and context.after_number and context.after[:1].isdecimal():
            return say(words.section("signs")["÷"])
        if body in ("x", "*", "·") and context.after_number and context.after[:1].isdecimal():
            return say(words.section("signs")["×"])
        said = words.section("signs").get(body)
        return None if said is None else say(said)

    def _anything(self, body: str) -> Reading:
        """Read any token: say words, numbers and known signs, and drop the rest."""
        said: list[str] = []
        found = _PARTS.findall(body)
        is_formula = bool(_FORMULA.search(body))
        for place, part in enumerate(found):
            before = found[place - 1] if place else ""
            following = found[place + 1] if place + 1 < len(found) else ""
            said += self._part(part, before, following, is_formula=is_formula).split()
        return Reading(tuple(said))

    def _part(self, part: str, before: str, following: str, *, is_formula: bool) -> str:
        words = self._words
        if part[0].isdecimal():
            return words.number(part)
        if part[0] == "^":
            power = {"^2": "squared", "^3": "cubed"}.get(part)
            exponent = words.number(part[1:]) if len(part) > 1 else ""
            return words.say(power) if power else f"{words.say('power')} {exponent}"
        if part == "x" and before[-1:].isdecimal() and following[:1].isdecimal():
            part = "*"
        if part[0].lower() in self._greek:
            return " ".join(self._greek.get(char.lower(), char) for char in part)
        if part[0].isalpha():
            beside = bool(before or following)
            return names.spelled(part, words) if beside and _CAPITALS.fullmatch(part) else part
        if part == "." and len(before) > 1 and len(following) > 1 and following.isalpha():
            return words.say("dot")
        if part == "*" and before[-1:].isdecimal() and following[:1].isdecimal():
            return words.section("signs")["×"]
        if part == "-":
            return words.say("minus") if is_formula else ""
        if part in "%‰°":
            return words.unit(part)[1]
        if part in words.section("currencies"):
            return words.forms("currencies", part)[1]
        return words.section("signs").get(part, "")
