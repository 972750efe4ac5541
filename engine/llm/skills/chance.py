"""Coins, dice and numbers drawn at random.

Invariant: all randomness comes from the occasion, so the same draws give the same answer.
"""

import re

from engine.llm.skills.matching.canonical import digits_for_words
from engine.llm.skills.matching.fillings import is_name
from engine.llm.skills.matching.intent import (
    Answer,
    Family,
    FollowUp,
    Intent,
    Occasion,
    Slots,
    Tool,
)
from engine.llm.skills.matching.quantities import enumeration, figure, parse_number

MAX_DICE = 20  # more would be a list of numbers that nobody listens to
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


def flip_coin(_slots: Slots, occasion: Occasion) -> Answer:
    return Answer("Heads." if occasion.draw(1, 2) == 1 else "Tails.")


def roll_dice(slots: Slots, occasion: Occasion) -> Answer | None:
    """ "2 dice", "a d 20", "3 d 6"; each with six sides unless it says otherwise."""
    match = _DICE.match(slots.get("dice", "die").removeprefix("the ").strip())
    if match is None:
        return None
    said = match["count"] or "1"
    count = int(said) if said.isdigit() else 2 if said in _TWO else 1
    sided = parse_number(digits_for_words(match["sided"])) if match["sided"] else 6
    if sided is None:
        return None
    sides = int(match["sides"] or match["with"] or sided)
    if not 1 <= count <= MAX_DICE or not 2 <= sides <= MAX_SIDES:
        return Answer(f"I can roll up to {MAX_DICE} dice with up to {MAX_SIDES} sides.")
    rolls = [occasion.draw(1, sides) for _ in range(count)]
    if count == 1:
        return Answer(f"{rolls[0]}.")
    return Answer(f"{enumeration([str(roll) for roll in rolls])}: {sum(rolls)} together.")


def draw_number(slots: Slots, occasion: Occasion) -> Answer | None:
    """A whole number in a range, both ends included; from 1 to 100 where none is given."""
    ends = [parse_number(slots.get(name, default)) for name, default in _ENDS.items()]
    if any(end is None or end != int(end) or abs(end) > LARGEST for end in ends):
        return None
    low, high = sorted(int(end) for end in ends if end is not None)
    return Answer(f"{figure(occasion.draw(low, high))}.")


def choose(slots: Slots, occasion: Occasion) -> Answer | None:
    things = _things(slots["things"])
    return Answer(f"{things[occasion.draw(1, len(things)) - 1].capitalize()}.")


def _things(said: str) -> list[str]:
    return [thing.strip() for thing in _CHOICES.split(said.strip(" .!?")) if thing.strip()]


def _is_choice(said: str) -> bool:
    things = _things(said)
    return len(things) > 1 and all(map(is_name, things)) and not _ASKS_WHY.search(said)


def say_yes_or_no(_slots: Slots, occasion: Occasion) -> Answer:
    return Answer("Yes." if occasion.draw(1, 2) == 1 else "No.")


_ENDS = {"low": "1", "high": "100"}
_RANGE = "[between|from] {number:low} (and|to) {number:high}"

_COIN = "[a|the|that|this|my|1] [fair|normal|random] coin"

FAMILY = Family(
    intents=(
        Intent(
            "coin",
            (
                f"(flip|toss|throw) [us|me] {_COIN} [to see who (goes|starts) [first|1st]] "
                "[once|1 time] [for me] [[and] i (call|choose|pick|select|say|[will] take|"
                "am calling|have)] [heads|tails|heads or tails]",
                f"(flip|toss|throw) {_COIN} and (tell me|let me know|say|see) [if|whether] [it] "
                "[is|its|lands on] (heads [or tails]|tails)",
                f"(flip|toss|throw) {_COIN} and (tell me|let me know|say) "
                "(the result|what [side] it (lands on|is))",
                "[[let us|can you|could you] [please] do|i want|i need|i would like|give me|"
                "how about] [a|1|the] [result[s] of a] coin (flip|toss)",
                "heads or tails",
            ),
            flip_coin,
        ),
        Intent(
            "dice",
            (
                "(roll|role|throw|toss) [us|me] {dice} [once]",
                "(roll|throw) [a|the] (die|dice)",
                "[a] {dice} roll",
                "[simulate|do|i want|i need|i would like] a dice roll",
                "roll {dice} and (tell me|let me know|say|get) (the result|what it (lands on|is))",
                "what (do|would) (you|i) get (when|if) (you|i) (roll|throw) {dice}",
                "what is the result (when|if) (you|i) (roll|throw) {dice}",
            ),
            roll_dice,
        ),
        Intent(
            "random number",
            (
                f"(pick|choose|give me|say|think of) [a|any] [random] number [{_RANGE}]",
                f"[a] random number [{_RANGE}]",
            ),
            draw_number,
        ),
        Intent(
            "random number up to",
            (
                "(pick|choose|give me|say) [a|any] [random] number (up to|below|under) "
                "{number:high}",
                "[a] random number (up to|below|under) {number:high}",
            ),
            draw_number,
        ),
        Intent(
            "choose",
            (
                "(choose|pick|decide) between {things}",
                "(choose|pick) one [of|from] {things}",
            ),
            choose,
            verbatim=True,
        ),
        Intent("yes or no", ("yes or no",), say_yes_or_no),
    ),
    follow_ups=(
        FollowUp(
            ("random number",),
            ("[(between|from)] {number:low} (and|to) {number:high}",),
        ),
        FollowUp(
            ("coin", "dice", "random number", "random number up to", "choose", "yes or no"),
            (
                "([do (it|that)] again|once (more|again)|(one|1) more time|another (one|1|time))",
                "(roll|flip|toss|throw|pick|choose) (it|them|one|1) again",
                "(roll|flip|toss|throw|pick|choose) again",
                "another (number|roll|flip)",
                "[(pick|choose|give me|try) another [(one|1|number)]] "
                "[(that is|it is)] too (high|low|big|small)",
                "(pick|choose|give me|try) another [(one|1|number)]",
            ),
        ),
    ),
    tools=(
        Tool("flip_coin", "Flip a coin.", flip_coin),
        Tool("roll_dice", "Roll dice.", roll_dice, {"dice": "such as 'a die', '2 dice', '3d6'"}),
    ),
    fits={"things": _is_choice},
    open_lists={
        "dice": ("a die", "the dice", "two dice", "three dice"),
        "things": ("pizza and pasta", "tea and coffee", "red and blue"),
    },
)
