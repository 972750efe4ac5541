"""Unit conversion with pint.

Invariant: only unit names from the table reach pint; it never parses a user's words.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from engine.llm.skills.matching.canonical import canonical
from engine.llm.skills.matching.intent import Answer, SkillContext, Slots
from engine.llm.skills.matching.quantities import enumeration, figure, parse_number
from engine.text.unit_table import UNITS, Unit

if TYPE_CHECKING:
    import pint

# "5 foot 10" leaves the inches out.
_FEET_ALONE = re.compile(r"^(\d+ (?:foot|feet|ft)(?: and)? \d+(?: and a half)?)$")
_THOUSANDS = re.compile(r"^([\d.]+) k$")  # "10k" is a run, not a temperature
_CANNOT = "I can't turn"
_CALORIE = re.compile(r"\b(?:small )?calorie")  # beside joules it is the physicist's
_LENGTHS = frozenset(("mile", "kilometer", "meter", "foot", "yard"))
CELSIUS = "degree_Celsius"
_TEMPERATURES = {CELSIUS, "degree_Fahrenheit", "kelvin"}
_TWO_UNITS = frozenset(("feet and inches", "foot and inches", "ft and in"))
_CONVERSION_DIGITS = 2  # decimals spoken from 1 up; four of them would be too many to hear


@dataclass(frozen=True)
class Amount:
    """A number with one unit; "6 feet 2 inches" is two amounts."""

    count: float
    unit: Unit


def convert(slots: Slots, _context: SkillContext) -> Answer | None:
    """Convert `amount` ("10 miles", "6 feet 2 inches") to the unit `target`, all as said."""
    target = _by_form().get(re.sub("^an? ", "", slots["target"]).strip())
    run = _THOUSANDS.match(slots["amount"].strip())
    if run and target is not None and target.pint in _LENGTHS:
        return convert({**slots, "amount": f"{run[1]} kilometres"}, _context)
    said = slots["amount"]
    if slots["target"] in _TWO_UNITS:
        return _in_feet_and_inches(_amounts(said))
    if target is not None and target.pint == "joule":
        said = _CALORIE.sub("small calorie", said)
    amounts = _amounts(said)
    if target is None or not amounts:
        return None
    if target.pint == "ounce" and all(_is_volume(amount.unit) for amount in amounts):
        target = _by_form()["fluid ounce"]
    meant = [Amount(amount.count, _meant(amount.unit, target)) for amount in amounts]
    values = [_magnitude(amount, target) for amount in meant]
    if None in values:
        return Answer(f"{_CANNOT} {meant[0].unit.plural} into {target.plural}.")
    value = sum(part for part in values if part is not None)
    # As spoken: two decimals, or three significant digits below one.
    shown = float(f"{value:.3g}") if 0 < abs(value) < 1 else round(value, _CONVERSION_DIGITS)
    about = "" if abs(shown - value) <= 1e-9 * max(1.0, abs(value)) else "about "
    return Answer(f"{_phrase(*meant)} is {about}{_phrase(Amount(shown, target))}.")


def measure(slots: Slots, context: SkillContext) -> Answer | None:
    """Convert for a question, unless it is another one: "how many bars in a minute"."""
    answer = convert(slots, context)
    return None if answer is None or answer.text.startswith(_CANNOT) else answer


def into_other(before: Slots, now: Slots, context: SkillContext) -> Slots | None:
    """Convert to another unit; "in a week" is another amount."""
    if now["target"].startswith(("a ", "an ", "1 ")):
        return convert_other(before, {"amount": now["target"]}, context)
    return {**before, **now}


def ask_target(slots: Slots, _context: SkillContext) -> Answer | None:
    return Answer("Into what? Say, for example: kilometres.") if _amounts(slots["amount"]) else None


def convert_other(before: Slots, now: Slots, _context: SkillContext) -> Slots | None:
    """Convert another number of the same unit, or another amount: "and 50?"."""
    if parse_number(now["amount"]) is None:
        return {**before, **now}
    amounts = _amounts(before["amount"])
    if len(amounts) != 1:
        return None
    return {**before, "amount": f"{now['amount']} {amounts[0].unit.plural.lower()}"}


def _in_feet_and_inches(amounts: list[Amount]) -> Answer | None:
    """Return a person's height, to the nearest inch."""
    inch = _by_form()["inch"]
    values = [_magnitude(amount, inch) for amount in amounts]
    if not values or None in values:
        return None
    feet, inches = divmod(round(sum(value for value in values if value is not None)), 12)
    parts = Amount(feet, _by_form()["foot"]), Amount(inches, inch)
    return Answer(f"{_phrase(*amounts)} is about {_phrase(*parts)}.")


def convert_tool(slots: Slots, context: SkillContext) -> Answer | None:
    """Convert with number and unit apart, as a model gives them."""
    amount = canonical(f"{slots['quantity']} {slots['source']}")
    return convert({"amount": amount, "target": canonical(slots["target"])}, context)


def prepare() -> None:
    """Build pint's registry now rather than at the first question (0.7 s where measured)."""
    _registry()


def _amounts(words: str) -> list[Amount]:
    """Parse amounts in canonical words; empty if a part of them is not an amount."""
    amounts: list[Amount] = []
    rest = _FEET_ALONE.sub(r"\1 inches", words.strip())
    while rest:
        amount, rest = _last_amount(rest)
        if amount is None:
            return []
        amounts.insert(0, amount)
    return amounts


def _last_amount(words: str) -> tuple[Amount | None, str]:
    """Return the amount at the end, with the longest names, and the words before it."""
    parts = words.split()
    for unit_at in range(len(parts)):
        unit = _by_form().get(" ".join(parts[unit_at:]))
        if unit is None:
            continue
        if unit_at == 0:
            return Amount(1.0, unit), ""
        for number_at in range(unit_at):
            count = parse_number(" ".join(parts[number_at:unit_at]))
            if count is not None:
                before = " ".join(parts[:number_at]).removesuffix(" and")
                return Amount(count, unit), before
    return None, words


def _magnitude(amount: Amount, target: Unit) -> float | None:
    """Return the amount in target units; None when the units measure different things."""
    import pint

    quantity = _registry().Quantity(amount.count, amount.unit.pint)
    try:
        return float(quantity.to(target.pint).magnitude)
    except pint.DimensionalityError:
        return None


def _meant(source: Unit, target: Unit) -> Unit:
    """Resolve an ambiguous source unit by the target unit: in "20 degrees to fahrenheit" the
    degrees are Celsius, and in "8 ounces in millilitres" the ounces are fluid ounces.
    """
    if source.pint == "degree" and target.pint in _TEMPERATURES:
        return _by_form()["fahrenheit" if target.pint == CELSIUS else "celsius"]
    if source.pint == "ounce" and _is_volume(target):
        return _by_form()["fluid ounce"]
    return source


def _is_volume(unit: Unit) -> bool:
    return bool(_registry().Unit(unit.pint).dimensionality == {"[length]": 3})


def _phrase(*amounts: Amount) -> str:
    """ "6 feet and 2 inches" """
    phrases = []
    for amount in amounts:
        name = amount.unit.singular if abs(amount.count) == 1 else amount.unit.plural
        phrases.append(f"{figure(amount.count)} {name}")
    return enumeration(phrases)


@lru_cache(maxsize=1)
def _registry() -> "pint.UnitRegistry[float]":
    # Imported here: pint takes most of a second, which only the skills' own start-up should pay.
    import pint

    return pint.UnitRegistry(cache_folder=None, autoconvert_offset_to_baseunit=False)


@lru_cache(maxsize=1)
def _by_form() -> dict[str, Unit]:
    return {form.lower(): unit for unit in UNITS for form in unit.forms}
