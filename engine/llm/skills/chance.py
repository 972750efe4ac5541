"""Coins, dice and numbers drawn at random.

Invariant: all randomness comes from the context, so the same draws give the same answer.
"""

import re

from engine.llm.skills.matching.canonical import digits_for_words
from engine.llm.skills.matching.fillings import is_name
from engine.llm.skills.matching.intent import Answer, SkillContext, Slots
from engine.llm.skills.matching.quantities import enumeration, figure, number

MAX_DICE = 20  # more would be a list too long to listen to
MAX_SIDES = 1000
LARGEST = 10**12  # of a random number

_DICE = re.compile(
    r"^(?:(?P<count>\d+(?!\d)|an?|this|that|those|some|a pair of) ?)?(?:(?:fair|normal|regular) )?"
    r"(?:d ?(?P<sides>\d+)|(?:(?P<sided>\d+|\w+)[ -]sided )?(?:dice|die)s?"
    r"(?: with (?P<with>\d+) sides)?)$"
)
_TWO = frozenset(("some", "those", "a pair of"))
_CHOICES = re.compile(r",? or |,? and |, ")
_ASKS_WHY = re.compile(r" and (?:explain|tell|justify|say|give|show|defend)\b", re.IGNORECASE)


def flip(slots: Slots, context: SkillContext) -> Slots:
    """Choose one of the two `sides`."""
    return {"side": slots["sides"].split(" or ")[context.draw(1, 2) - 1]}


def roll_dice(slots: Slots, context: SkillContext) -> Answer | None:
    """ "2 dice", "a d 20", "3 d 6"; each with six sides unless it says otherwise."""
    match = _DICE.match(slots.get("dice", "die").removeprefix("the ").strip())
    if match is None:
        return None
    said = match["count"] or "1"
    count = int(said) if said.isdigit() else 2 if said in _TWO else 1
    sided = number(digits_for_words(match["sided"])) if match["sided"] else 6
    sides = int(match["sides"] or match["with"] or sided)
    if not 1 <= count <= MAX_DICE or not 2 <= sides <= MAX_SIDES:
        return Answer(f"I can roll up to {MAX_DICE} dice with up to {MAX_SIDES} sides.")
    rolls = [context.draw(1, sides) for _ in range(count)]
    if count == 1:
        return Answer(f"{rolls[0]}.")
    return Answer(f"{enumeration([str(roll) for roll in rolls])}: {sum(rolls)} together.")


def draw_number(slots: Slots, context: SkillContext) -> Slots | None:
    """Draw a whole number in a range, both ends included; from 1 to 100 without a range."""
    ends = [number(slots.get(name, default)) for name, default in (("low", "1"), ("high", "100"))]
    if any(end != int(end) or abs(end) > LARGEST for end in ends):
        return None
    low, high = sorted(map(int, ends))
    return {"number": figure(context.draw(low, high))}


def choose(slots: Slots, context: SkillContext) -> Slots:
    things = _things(slots["things"])
    return {"chosen": things[context.draw(1, len(things)) - 1].capitalize()}


def _things(said: str) -> list[str]:
    return [thing.strip() for thing in _CHOICES.split(said.strip(" .!?")) if thing.strip()]


def is_choice(said: str) -> bool:
    things = _things(said)
    return len(things) > 1 and all(map(is_name, things)) and not _ASKS_WHY.search(said)
