"""Sums, spoken or typed.

Invariant: only digits, operators, parentheses and the two roots ever reach the evaluator
(simpleeval, which evaluates no attribute, name or call besides those), and every power is bounded.
"""

import ast
import math
import re
from collections.abc import Callable

from simpleeval import DEFAULT_OPERATORS, InvalidExpression, SimpleEval

from engine.llm.skills.matching.intent import Answer, Family, Intent, Occasion, Slots, Tool
from engine.llm.skills.matching.quantities import figure, parse_number, rounded

MAX_EXPRESSION_CHARS = 200  # a longer sum is not spoken, and its nesting stays shallow
MAX_EXPONENT = 1000  # 9 ** 9 ** 9 must fail at once, not compute for a minute

_N = r"(-?\d+(?:\.\d+)?)"
# In order. Words that join two numbers come last, so that "square root of 2 times 3" reads well.
_REWRITES = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\bthe\b|\bequals?\b|\bmakes?\b|\bgives?\b|=\s*$", " "),
        (r"\bopen (?:bracket|parenthesis)\b", "("),
        (r"\bclose (?:bracket|parenthesis)\b", ")"),
        (r"(?<=root of )(?:minus|negative) (?=\d)", "-"),
        (rf"\bcube root of {_N}", r"cbrt(\1)"),
        (rf"\bsquare root of {_N}", r"sqrt(\1)"),
        (rf"\broot of {_N}", r"sqrt(\1)"),
        (r"\bsquare root of \(", "sqrt("),
        (rf"\b(?:a )?(?:half|1 half) of {_N}", r"(\1/2)"),
        (rf"\b(?:a |1 )?(?:third|3rd) of {_N}", r"(\1/3)"),
        (rf"\b(?:a |1 )?quarter of {_N}", r"(\1/4)"),
        (rf"\b(?:twice|double) {_N}", r"(2*\1)"),
        (rf"{_N} percent of {_N}", r"(\1/100*\2)"),
        (rf"{_N} (?:percent )?(?:off) {_N}", r"(\2*(1-\1/100))"),
        (rf"{_N} (plus|minus|\+|-) {_N} percent", r"(\1 \2 \1*\3/100)"),
        (rf"{_N} percent", r"(\1/100)"),
        (r"\bsquared\b", "**2"),
        (r"\bcubed\b", "**3"),
        (r"\b(?:raised )?to\s+power\s+(?:of )?", "**"),
        (r"\b(?:raised )?to\s+(\d+)(?:st|nd|rd|th)(?: power)?", r"**\1"),
        (r"\^", "**"),
        (r"\bmultiplied by\b|\btimes\b|(?<=[\d) ])x(?=[\d( ])", "*"),
        (r"\bdivided by\b|\bover\b|:", "/"),
        (r"\bplus\b|\badded to\b|\band\b", "+"),
        (r"\bminus\b|\btake away\b|\bless\b|\bnegative\b", "-"),
        (r"\bmodulo\b|\bmod\b", "%"),
        (r"\ba (?=\d)", " "),
        (r"\b(sqrt|cbrt) +\(", r"\1("),
    )
)
_SUM = re.compile(r"^(?:[\d.\s+\-*/%()]|sqrt\(|cbrt\()+$")
_HAS_WORK = re.compile(r"[\d)]\s*[+\-*/%]|sqrt|cbrt")
_SPOKEN = (
    (re.compile(r"\s*\*\*\s*2(?![\d.])"), " squared"),
    (re.compile(r"\s*\*\*\s*3(?![\d.])"), " cubed"),
    (re.compile(r"\*\*"), " to the power of "),
    (re.compile(r"\*"), " times "),
    (re.compile(r"/"), " divided by "),
    (re.compile(r"\+"), " plus "),
    (re.compile(r"-"), " minus "),
)
_NAMED = re.compile(r"^(?:the )?(?:square root|cube root|half|[\d.]+ percent) of [\d.]+$")
_SIMPLE = re.compile(r"^-?\d+(?:\.\d+)?(?:\s*(?:\*\*|[+\-*/])\s*\d+(?:\.\d+)?){1,3}$")


def calculate(slots: Slots, _occasion: Occasion) -> Answer | None:
    """Answer a sum; None when the words are none."""
    said = slots["expression"]
    if len(said) > MAX_EXPRESSION_CHARS or not re.search(r"\d", said):
        return None
    expression = _written(said)
    if not _SUM.match(expression) or not _HAS_WORK.search(expression):
        return None
    return _answer(expression, said)


def calculate_pair(operation: str) -> Callable[[Slots, Occasion], Answer | None]:
    """A responder for "divide 20 by 4": two numbers, one operator."""

    def respond(slots: Slots, _occasion: Occasion) -> Answer | None:
        left, right = parse_number(slots["left"]), parse_number(slots["right"])
        if left is None or right is None:
            return None
        return _answer(f"{_operand(left)} {operation} {_operand(right)}")

    return respond


def calculate_percentage(slots: Slots, _occasion: Occasion) -> Answer | None:
    """ "What percent of 80 is 20"."""
    whole, share = parse_number(slots["left"]), parse_number(slots["right"])
    if whole is None or share is None:
        return None
    if whole == 0:
        return Answer("Nothing is a percentage of zero.")
    return Answer(f"{figure(share)} is {figure(100 * share / whole)} percent of {figure(whole)}.")


def _answer(expression: str, said: str = "") -> Answer | None:
    """The value of an expression, beside the words it was asked in where those are simple."""
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
    if _SIMPLE.match(expression):
        return Answer(f"{_aloud(expression)} {verb} {figure(value)}.")
    if _NAMED.match(said):
        return Answer(f"{said[0].upper()}{said[1:]} {verb} {figure(value)}.")
    return Answer(f"The answer {verb} {figure(value)}.")


def _written(said: str) -> str:
    expression = said
    for pattern, replacement in _REWRITES:
        expression = pattern.sub(replacement, expression)
    return re.sub(r"\s+", " ", expression).strip()


def _evaluate(expression: str) -> float | None:
    """The value; None when it is not well formed. Raises the arithmetic errors of Python."""
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


def _operand(value: float) -> str:
    return f"{int(value)}" if value == int(value) else f"{value}"


def _aloud(expression: str) -> str:
    for symbol, word in _SPOKEN:
        expression = symbol.sub(word, expression)
    return re.sub(r"\s+", " ", expression).strip()


_LEFT, _RIGHT = "{number:left}", "{number:right}"

FAMILY = Family(
    intents=(
        Intent("add", (f"add {_LEFT} (and|to|plus) {_RIGHT}",), calculate_pair("+")),
        Intent(
            "sum",
            (f"[what is] the sum of {_LEFT} and {_RIGHT}",),
            calculate_pair("+"),
        ),
        Intent("subtract", (f"subtract {{number:right}} from {_LEFT}",), calculate_pair("-")),
        Intent(
            "difference",
            (f"[what is] the difference (between|of) {_LEFT} and {_RIGHT}",),
            calculate_pair("-"),
        ),
        Intent("multiply", (f"multiply {_LEFT} (by|with|and) {_RIGHT}",), calculate_pair("*")),
        Intent("product", (f"[what is] the product of {_LEFT} and {_RIGHT}",), calculate_pair("*")),
        Intent("divide", (f"divide {_LEFT} by {_RIGHT}",), calculate_pair("/")),
        Intent(
            "percentage",
            (f"what (percent|percentage) of {_LEFT} is {_RIGHT}",),
            calculate_percentage,
        ),
        Intent(
            "sum in words",
            (
                "(what is|how much is|what are|calculate|compute|work out|solve) {expression}",
                "what (does|do) {expression} (equal|make|give)",
                "{expression}",
            ),
            calculate,
        ),
    ),
    tools=(
        Tool(
            "calculate",
            "Work out a sum exactly.",
            calculate,
            {"expression": "such as '12 * 7', '15 percent of 80' or 'sqrt(2) + 1'"},
        ),
    ),
    open_lists={
        "number": ("two", "three", "seven", "twelve", "twenty", "forty eight", "one hundred"),
        "expression": (
            *(f"{left} plus {101 - left}" for left in range(1, 101)),
            *(f"{left} times {(left * 7) % 20 + 1}" for left in range(1, 101, 3)),
            *(f"{100 - left} minus {left}" for left in range(1, 50, 4)),
            *(f"{left * 4} divided by {left % 12 + 1}" for left in range(1, 25, 2)),
            *(f"{left} percent of {left * 3 % 100 + 1}" for left in range(5, 101, 5)),
            *(f"the square root of {left}" for left in (2, 9, 16, 25, 49, 64, 81, 100, 144)),
            *(f"{left} squared" for left in (3, 5, 8, 11, 12, 15)),
            *(f"half of {left}" for left in (10, 25, 50, 90)),
            "two to the power of ten",
            "two point five times four",
            "one hundred and twenty minus three",
            "five hundred plus two hundred and fifty",
        ),
    },
)
