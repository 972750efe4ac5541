"""Calculations with two numbers, and shares: percentages, tips, split bills.

Invariant: amounts are numbers with at most one currency between them, which the answer names.
"""

import math
import re
from dataclasses import dataclass

from engine.llm.skills.arithmetic.sums import without_currency, work_out
from engine.llm.skills.matching.intent import Answer, NotMeant, SkillContext, Slots
from engine.llm.skills.matching.quantities import figure, number

MOST_PEOPLE = 1000


@dataclass(frozen=True)
class Amount:
    """A number, perhaps of money; `currency` is empty when it has none."""

    count: float
    currency: str

    def __str__(self) -> str:
        """Return money with its cents."""
        shown = f"{self.count:,.2f}".removesuffix(".00") if self.currency else figure(self.count)
        return f"{shown} {self.currency}".strip()


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
    bill, percent = _amount(slots["money"]), number(slots["percent"])
    extra = Amount(round(bill.count * percent / 100, 2), bill.currency)
    return {"tip": str(extra), "whole": str(Amount(bill.count + extra.count, bill.currency))}


def bill_with_tip(before: Slots, now: Slots, _context: SkillContext) -> Slots:
    """Return the amount to split after a tip was calculated."""
    bill = _amount(before["money"])
    whole = round(bill.count * (1 + number(before["percent"]) / 100), 2)
    return {"money": f"{whole} {bill.currency}".strip(), "people": now["people"]}


def split(slots: Slots, _context: SkillContext) -> Slots | None:
    whole, people = _amount(slots["money"]), number(slots["people"])
    if people != int(people) or not 1 <= people <= MOST_PEOPLE:
        return None
    share = Amount(whole.count / people, whole.currency)
    exact = math.isclose(round(share.count, 2), share.count)
    return {"share": f"{'' if exact else 'about '}{share}"}


def split_ways(slots: Slots, context: SkillContext) -> Slots | None:
    """Split "120 dollars 3" ways."""
    money, _, people = slots["parts"].strip().rpartition(" ")
    return split({"money": money, "people": people}, context) if money else None


def remainder(slots: Slots, _context: SkillContext) -> Answer | Slots:
    left, right = number(slots["left"]), number(slots["right"])
    if right == 0:
        return Answer("I can't divide by zero. Nobody can.")
    return {"result": figure(left % right)}


def _amount(said: str) -> Amount:
    bare, currency = without_currency(said)
    if currency is None:
        raise NotMeant
    return Amount(number(re.sub(r"^an? bill of ", "", bare)), currency)
