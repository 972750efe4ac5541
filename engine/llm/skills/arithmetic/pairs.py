"""Two numbers and what is done with them: "add 3 to 4", "the product of 3 and 4".

Invariant: both are read as numbers; the rest of arithmetic is that of sums.
"""

from engine.llm.skills.arithmetic.sums import work_out
from engine.llm.skills.matching.intent import Answer, Occasion, Slots
from engine.llm.skills.matching.quantities import parse_number


def calculate_pair(slots: Slots, _occasion: Occasion) -> Answer | None:
    """ "Divide 20 by 4": two numbers, one `operator`."""
    left, right = parse_number(slots["left"]), parse_number(slots["right"])
    if left is None or right is None:
        return None
    return work_out(f"{_operand(left)} {slots['operator']} {_operand(right)}")


def _operand(value: float) -> str:
    return f"{int(value)}" if value == int(value) else f"{value}"
