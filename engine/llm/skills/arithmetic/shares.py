"""Shares of things: what percent one is of another, tips, bills split, averages.

Invariant: amounts are numbers with at most one currency between them, which the answer names.
"""

import math
import re
from dataclasses import dataclass

from engine.llm.skills.arithmetic.sums import without_currency
from engine.llm.skills.matching.intent import Answer, Occasion, Slots
from engine.llm.skills.matching.quantities import figure, parse_number

LARGEST_FACTORIAL = 170  # the largest that a float can hold
MOST_PEOPLE = 1000


@dataclass(frozen=True)
class Amount:
    """A number, perhaps of money; `currency` is empty when it has none."""

    count: float
    currency: str

    def __str__(self) -> str:
        """Money with its cents."""
        shown = f"{self.count:,.2f}".removesuffix(".00") if self.currency else figure(self.count)
        return f"{shown} {self.currency}".strip()


def percentage(slots: Slots, _occasion: Occasion) -> Answer | Slots | None:
    """ "What percent of 80 is 20", "20 is what percent of 80"."""
    whole, share = parse_number(slots["whole"]), parse_number(slots["share"])
    if whole is None or share is None:
        return None
    if whole == 0:
        return Answer("Nothing is a percentage of zero.")
    percent = figure(100 * share / whole)
    return {"share": figure(share), "percent": percent, "whole": figure(whole)}


def tip(slots: Slots, _occasion: Occasion) -> Slots | None:
    bill, percent = _amount(slots["money"]), parse_number(slots["percent"])
    if bill is None or percent is None:
        return None
    extra = Amount(round(bill.count * percent / 100, 2), bill.currency)
    return {"tip": str(extra), "whole": str(Amount(bill.count + extra.count, bill.currency))}


def bill_with_tip(before: Slots, now: Slots, _occasion: Occasion) -> Slots | None:
    """The amount to split after a tip was worked out."""
    bill, percent = _amount(before["money"]), parse_number(before["percent"])
    if bill is None or percent is None:
        return None
    whole = round(bill.count * (1 + percent / 100), 2)
    return {"money": f"{whole} {bill.currency}".strip(), "people": now["people"]}


def split(slots: Slots, _occasion: Occasion) -> Slots | None:
    whole, people = _amount(slots["money"]), parse_number(slots["people"])
    if whole is None or people is None or people != int(people) or not 1 <= people <= MOST_PEOPLE:
        return None
    share = Amount(whole.count / people, whole.currency)
    exact = math.isclose(round(share.count, 2), share.count)
    return {"share": f"{'' if exact else 'about '}{share}"}


def split_ways(slots: Slots, occasion: Occasion) -> Slots | None:
    """ "120 dollars 3" ways."""
    money, _, people = slots["parts"].strip().rpartition(" ")
    return split({"money": money, "people": people}, occasion) if money else None


def factorial(slots: Slots, _occasion: Occasion) -> Answer | Slots | None:
    number = parse_number(slots["number"])
    if number is None or number != int(number) or number < 0:
        return None
    if number > LARGEST_FACTORIAL:
        return Answer("That number is too large for me.")
    return {"of": figure(number), "result": figure(float(math.factorial(int(number))))}


def remainder(slots: Slots, _occasion: Occasion) -> Answer | Slots | None:
    left, right = parse_number(slots["left"]), parse_number(slots["right"])
    if left is None or right is None:
        return None
    if right == 0:
        return Answer("I can't divide by zero. Nobody can.")
    return {"result": figure(left % right)}


def average(slots: Slots, _occasion: Occasion) -> Slots | None:
    said = [each for each in re.split(r",|\band\b|\s", slots["numbers"]) if each]
    numbers = [number for each in said if (number := parse_number(each)) is not None]
    if len(numbers) < 2 or len(numbers) != len(said):
        return None
    return {"result": figure(sum(numbers) / len(numbers))}


def _amount(said: str) -> Amount | None:
    bare, currency = without_currency(said)
    count = parse_number(re.sub(r"^(?:a bill of|an? bill of) ", "", bare))
    return None if count is None or currency is None else Amount(count, currency)
