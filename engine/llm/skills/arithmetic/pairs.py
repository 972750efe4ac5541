"""Two numbers and what is done with them: "add 3 to 4", "the product of 3 and 4".

Invariant: both are read as numbers; the rest of arithmetic is that of sums.
"""

from collections.abc import Callable

from engine.llm.skills.arithmetic.sums import WHAT, work_out
from engine.llm.skills.matching.intent import Answer, Intent, Occasion, Skill, Slots
from engine.llm.skills.matching.quantities import parse_number


def calculate_pair(operation: str) -> Callable[[Slots, Occasion], Answer | None]:
    """A responder for "divide 20 by 4": two numbers, one operator."""

    def respond(slots: Slots, _occasion: Occasion) -> Answer | None:
        left, right = parse_number(slots["left"]), parse_number(slots["right"])
        if left is None or right is None:
            return None
        return work_out(f"{_operand(left)} {operation} {_operand(right)}")

    return respond


def _operand(value: float) -> str:
    return f"{int(value)}" if value == int(value) else f"{value}"


_LEFT, _RIGHT = "{number:left}", "{number:right}"

SKILL = Skill(
    intents=(
        Intent(
            "add",
            (f"add {_LEFT} (and|to|plus) {_RIGHT}",),
            calculate_pair("+"),
        ),
        Intent(
            "subtract",
            (
                f"subtract {{number:right}} from {_LEFT}",
                f"[{WHAT}] the difference (between|of) {_LEFT} and {_RIGHT}",
            ),
            calculate_pair("-"),
        ),
        Intent(
            "multiply",
            (
                f"multiply {_LEFT} (by|with|and) {_RIGHT}",
                f"[{WHAT}] the product of {_LEFT} and {_RIGHT}",
            ),
            calculate_pair("*"),
        ),
        Intent(
            "divide",
            (
                f"divide {_LEFT} by {_RIGHT}",
                f"how many times (can|does) {{number:right}} (go|fit|be divided) (in|into) {_LEFT}",
                f"how many times can {_LEFT} be divided by {_RIGHT}",
            ),
            calculate_pair("/"),
        ),
    ),
)
