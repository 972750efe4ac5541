"""Sums, spoken or typed, and shares: percentages, tips, split bills.

Invariant: only digits, operators, parentheses and the two roots ever reach the evaluator
(simpleeval, which evaluates no attribute, name or call besides those), and every power is bounded.
An amount has at most one currency, which the answer names.
"""

import ast
import math
import re
from collections.abc import Callable, Iterable
from fractions import Fraction

from simpleeval import DEFAULT_OPERATORS, InvalidExpression, SimpleEval

from engine.llm.skills.matching.intent import (
    Answer,
    NotMeant,
    SkillContext,
    Slots,
    last_answer,
)
from engine.llm.skills.matching.quantities import (
    figure,
    joined_hundreds,
    number,
    parse_number,
    rounded,
)
from engine.resources import table

MAX_EXPRESSION_CHARS = 200  # a longer sum is not spoken, and its nesting stays shallow
LARGEST_DENOMINATOR = 100  # of a fraction that is still useful as one
MOST_PEOPLE = 1000  # a bill is split between
MAX_EXPONENT = 1000  # 9 ** 9 ** 9 must fail at once, not compute for a minute

_NUMBER = r"(-?\d+(?:\.\d+)?)"
# "3 quarters", "a half", "1 3rd", "2 5 ths", as canonical text has them.
_SHARE = (
    r"(?:(\d+) |an? )?"
    r"(half|halves|quarters?|thirds?|3rds?"
    r"|(?<=\d )\d+ ?(?:rd|th)s?|(?<=a )\d+ ?(?:rd|th)|(?<=an )8th)\b"
)
_PARTS = {"hal": 2, "qua": 4, "thi": 3}

Replacement = str | Callable[[re.Match[str]], str]


def _share(match: re.Match[str]) -> str:
    """Return "(2/3)" for two thirds, "(1+2/3)" with a whole number before them."""
    *whole, count, word = match.groups()
    denominator = _PARTS.get(word[:3]) or re.sub(r"\D", "", word)
    return f"({''.join(f'{each}+' for each in whole)}{count or 1}/{denominator})"


def _rewrites(name: str) -> list[tuple[re.Pattern[str], Replacement]]:
    """Return the patterns of one table, each with its replacement."""
    found: list[tuple[re.Pattern[str], Replacement]] = []
    for pattern, new in table("skills", "rewrites.toml")[name]:
        pattern = pattern.replace("<number>", _NUMBER).replace("<share>", _SHARE)
        found.append((re.compile(pattern), _share if new == "<share>" else new))
    return found


_REWRITES = _rewrites("sums")
# A time of day, a share of nothing, a date, a telephone number.
_NO_SUM = re.compile(
    r"^(?:\d{1,2}:\d\d|[\d.]+ percent|\d+ / \d+ / \d+|(?:\d{3} - )?\d{3} - \d{4})$"
)
# "50 plus 60 plus 10 percent": 10 percent of an unknown number.
_PERCENT_ADDED = re.compile(r"[-+] ?\([\d.]+/100\)|[-+][^()]*\(([\d.]+) [-+] \1\*[\d.]+/100\)")
_A_SHARE = re.compile(r"^\s*\(\d+/\d+\)\s*$")
# Without a question these are not requests.
_TWO_NUMBERS = re.compile(r"^(\d+(?:\.\d+)?) (/|and) (\d+(?:\.\d+)?)$")
_SUM = re.compile(r"^(?:[\d.\s+\-*/%()]|sqrt\(|cbrt\()+$")
_OPERATOR = re.compile(
    r"[-+*/^]|\b(?:plus|minus|less|times|multiplied|divided|over|squared|cubed|root|percent|power|of)\b"
)
# A fraction, or a sum in parentheses: one value for the next operation.
_VALUE = re.compile(r"\((?:\d+\+)?\d+/\d+\)|\([^()*/%]*\)")
_HAS_WORK = re.compile(r"[\d)]\s*[+\-*/%]|sqrt|cbrt")
_SPOKEN = _rewrites("aloud")
_NAMED = re.compile(r"^(?:the )?(?:square root|cube root|half|[\d.]+ percent) of [\d.]+$")
_OF_SHARES = re.compile(r"\d ?/ ?\d.*[+-]|[+-].*\d ?/ ?\d|\).*\d ?/ ?\d")
# These do not mean a quotient.
_SAYINGS = frozenset(("24 / 7", "9 / 11", "50 / 50", "20 / 20"))
# One short sentence, about one number at its end.
_LAST_DECIMAL = re.compile(
    r"^(?P<before>[^?!]{0,80}?)(?:about )?(?P<number>-?\d[\d,]*\.\d+)(?P<after>[^\d.?!]*\.?)$"
)
_ROUNDED: dict[str, Callable[[float], int]] = {
    "off": lambda number: math.floor(number + 0.5),
    "up": math.ceil,
    "down": math.floor,
}
_CURRENCIES = {
    **dict.fromkeys(("$", "dollar", "dollars", "buck", "bucks"), "dollars"),
    **dict.fromkeys(("\N{EURO SIGN}", "euro", "euros"), "euros"),
    **dict.fromkeys(("\N{POUND SIGN}", "quid"), "pounds"),
}
_CURRENCY = re.compile(
    "|".join(rf"\b{each}\b" if each.isalpha() else re.escape(each) for each in _CURRENCIES)
)
_SIMPLE = re.compile(r"^-?\d+(?:\.\d+)?(?:\s*(?:\*\*|[+\-*/])\s*\d+(?:\.\d+)?){1,3}$")


def calculate(slots: Slots, _context: SkillContext) -> Answer | None:
    """Answer a sum, also of money; None when the words are not a sum."""
    said, currency = without_currency(_words(slots))
    if len(said) > MAX_EXPRESSION_CHARS or currency is None:
        return None
    if said in _SAYINGS or _NO_SUM.match(said):
        return None
    two = _TWO_NUMBERS.match(said) if "bare" in slots else None
    if two and (two[2] == "and" or float(two[1]) < float(two[3])):  # "3/4", "5 and 10"
        return None
    expression = _rewritten(joined_hundreds(said) if _OPERATOR.search(said) else said, _REWRITES)
    if _is_unclear(expression):
        return None
    expression = expression.replace("&", "+")
    if not _SUM.match(expression) or not _HAS_WORK.search(expression):
        return None
    if said.count("percent") == 1 and _PERCENT_ADDED.search(expression):
        return None
    if _A_SHARE.match(expression) and "/" not in said:  # "what is a half" asks what it means
        return None
    return work_out(expression, said, currency)


def _is_unclear(expression: str) -> bool:
    """Return whether "and" (as &) stands beside a product: "5 and 3 times 2" is 11 or 16."""
    before = ""
    while before != expression:
        before, expression = expression, _VALUE.sub("0", expression)
    return "&" in expression and re.search(r"[*/%]|sqrt|cbrt", expression) is not None


def _words(slots: Slots) -> str:
    return slots.get("expression") or slots["bare"]


def without_currency(said: str) -> tuple[str, str | None]:
    """Return a sum without its currency, and the currency: empty = none, None = several."""
    kinds = {_CURRENCIES[found] for found in _CURRENCY.findall(said)}
    bare = re.sub(r"\s+", " ", _CURRENCY.sub(" ", said)).strip()
    return bare, (None if len(kinds) > 1 else "".join(kinds))


def round_last(slots: Slots, context: SkillContext) -> Answer | None:
    """Repeat the last answer with its last number rounded; None if that number has no decimals."""
    match = _LAST_DECIMAL.match(last_answer(context))
    places = int(slots.get("places", "0"))
    if match is None:
        return None
    scaled = float(match["number"].replace(",", "")) * 10**places
    way = _ROUNDED[slots.get("way", "off")](scaled)
    return Answer(f"{match['before']}about {figure(way / 10**places)}{match['after']}")


def continue_sum(before: Slots, now: Slots, _context: SkillContext) -> Slots | None:
    """Apply a follow-up to the sum: "divided by 4" has the operator `symbol`, the rest `more`."""
    if "more" in now and parse_number(now["more"]) is None:
        return None
    return {"expression": f"({_words(before)}) {now['symbol']} {now.get('more', '')}".strip()}


def rooted(before: Slots, _now: Slots, _context: SkillContext) -> Slots | None:
    return {"expression": f"square root of ({_words(before)})"}


def other_percentage(before: Slots, now: Slots, _context: SkillContext) -> Slots | None:
    """Calculate "and 30 percent?" after "20 percent of 80"."""
    percent = rf"{_NUMBER} percent"
    expression = _words(before)
    if len(re.findall(percent, expression)) != 1 or parse_number(now["more"]) is None:
        return None
    return {"expression": re.sub(percent, f"{now['more']} percent", expression)}


def other_whole(before: Slots, now: Slots, _context: SkillContext) -> Slots | None:
    """Calculate "and of 50?" after "20 percent of 80"."""
    share, of, _ = _words(before).rpartition(" of ")
    return {"expression": f"{share} of {now['more']}"} if of else None


def work_out(expression: str, said: str = "", currency: str = "") -> Answer | None:
    """Return the value of an expression, with the words of the question if those are simple."""
    try:
        value = _evaluate(expression)
    except ZeroDivisionError:
        return Answer("I can't divide by zero. Nobody can.")
    except OverflowError:
        return Answer("That number is too large for me.")
    except ValueError:
        return Answer("That has no answer among the ordinary numbers.")
    if value is None:
        return None
    verb = "is" if math.isclose(rounded(value), value, rel_tol=1e-12) else "is about"
    result = f"{figure(value)} {currency}".strip()
    if _SIMPLE.match(expression) and not currency:
        return Answer(f"{_rewritten(expression, _SPOKEN)} {verb} {result}.")
    if _NAMED.match(said):
        return Answer(f"{said[0].upper()}{said[1:]} {verb} {result}.")
    exact = Fraction(value).limit_denominator(LARGEST_DENOMINATOR)
    if verb == "is about" and _OF_SHARES.search(expression) and abs(exact - value) < 1e-12:
        return Answer(f"The answer is {exact}, about {result}.")
    return Answer(f"The answer {verb} {result}.")


def _rewritten(text: str, rewrites: Iterable[tuple[re.Pattern[str], Replacement]]) -> str:
    for pattern, replacement in rewrites:
        text = pattern.sub(replacement, text)
    return re.sub(r"\s+", " ", text).strip()


def _evaluate(expression: str) -> float | None:
    """Return the value; None for an invalid expression. Raises the arithmetic errors of Python."""
    evaluator = SimpleEval(
        operators=DEFAULT_OPERATORS | {ast.Pow: _power},
        functions={"sqrt": math.sqrt, "cbrt": math.cbrt},
        names={},
    )
    try:
        value = evaluator.eval(expression)
    except (InvalidExpression, SyntaxError, TypeError, RecursionError, MemoryError):
        return None
    result = float(value)
    if not math.isfinite(result):
        raise OverflowError(expression)
    return result


def _power(base: float, exponent: float) -> float:
    if abs(exponent) > MAX_EXPONENT:
        raise OverflowError
    value = math.pow(base, exponent)
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def calculate_pair(slots: Slots, _context: SkillContext) -> Answer | None:
    """Calculate with two numbers and one `operator`: "divide 20 by 4"."""
    values = [number(slots[side]) for side in ("left", "right")]
    left, right = (int(value) if value == int(value) else value for value in values)
    return work_out(f"{left} {slots['operator']} {right}")


def percentage(slots: Slots, _context: SkillContext) -> Answer | Slots:
    """Answer "what percent of 80 is 20" and "20 is what percent of 80"."""
    whole, share = number(slots["whole"]), number(slots["share"])
    if whole == 0:
        return Answer("Nothing is a percentage of zero.")
    percent = figure(100 * share / whole)
    return {"share": figure(share), "percent": percent, "whole": figure(whole)}


def tip(slots: Slots, _context: SkillContext) -> Slots:
    bill, currency = _bill(slots["money"])
    extra = round(bill * number(slots["percent"]) / 100, 2)
    return {"tip": _money(extra, currency), "whole": _money(bill + extra, currency)}


def bill_with_tip(before: Slots, now: Slots, _context: SkillContext) -> Slots:
    """Return the amount to split after a tip was calculated."""
    bill, currency = _bill(before["money"])
    whole = round(bill * (1 + number(before["percent"]) / 100), 2)
    return {"money": f"{whole} {currency}".strip(), "people": now["people"]}


def split(slots: Slots, _context: SkillContext) -> Slots | None:
    bill, currency = _bill(slots["money"])
    people = number(slots["people"])
    if people != int(people) or not 1 <= people <= MOST_PEOPLE:
        return None
    share = bill / people
    about = "" if math.isclose(round(share, 2), share) else "about "
    return {"share": f"{about}{_money(share, currency)}"}


def split_ways(slots: Slots, context: SkillContext) -> Slots | None:
    """Split "120 dollars 3" ways."""
    money, _, people = slots["parts"].strip().rpartition(" ")
    return split({"money": money, "people": people}, context) if money else None


def remainder(slots: Slots, _context: SkillContext) -> Answer | Slots:
    left, right = number(slots["left"]), number(slots["right"])
    if right == 0:
        return Answer("I can't divide by zero. Nobody can.")
    return {"result": figure(left % right)}


def _bill(said: str) -> tuple[float, str]:
    """Return an amount and its currency. NotMeant."""
    bare, currency = without_currency(said)
    if currency is None:
        raise NotMeant
    return number(re.sub(r"^an? bill of ", "", bare)), currency


def _money(amount: float, currency: str) -> str:
    """Return money with its cents; without a currency, a number."""
    if not currency:
        return figure(amount)
    return f"{amount:,.2f}".removesuffix(".00") + f" {currency}"
