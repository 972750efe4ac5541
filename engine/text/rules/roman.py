"""Roman numerals where the words before them say so: Louis XIV, World War II, Chapter IV.

Invariant: the pronoun "I" is only read as a number after a name that counts, and never before a
verb that goes with the pronoun.
"""

import re
from itertools import pairwise

from engine.text.rules import numbers
from engine.text.rules.context import SENTENCE_STARTERS, Context, Reading, Rule, say
from engine.text.tables import words

_NUMERAL = re.compile(
    r"(?=[IVXLCDM])M{0,3}(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})(?:'s)?", re.ASCII
)
_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_RULERS = words("roman", "rulers")
_GIVEN = words("roman", "given") | _RULERS
_COUNTED = words("roman", "counted")
_WITH_PRONOUN = words("roman", "with_pronoun")


def numeral(body: str, context: Context) -> Reading | None:
    """Read XIV after Louis as "the fourteenth", and II after War as "two"."""
    if not _NUMERAL.fullmatch(body):
        return None
    owner = context.previous
    other = context.before_previous
    if owner == "and" and other and set(body + other) <= set("IVX") and len(body) > 1:
        return say(numbers.cardinal(value_of(body)))
    if not owner[:1].isupper() or owner.lower() in SENTENCE_STARTERS:
        return None
    possessive = "'s" if body.endswith("'s") else ""
    value = value_of(body.removesuffix("'s"))
    ruler = owner.lower() in _RULERS
    is_counted = owner.lower() in _COUNTED
    before_verb = not context.punctuation and context.after.lower() in _WITH_PRONOUN
    if _is_initial(body, context):
        return None
    if body == "I" and (before_verb or not (ruler or is_counted)):
        return None
    if ruler or (not is_counted and len(body) > 1 and _is_namesake(context)):
        return say(f"the {numbers.ordinal(value)}{possessive}")
    if is_counted and body in ("C", "D", "L", "M"):
        return None
    if not is_counted and (len(body) < 2 or value > 39 or owner.isupper()):
        return None
    return say(numbers.cardinal(value) + possessive)


def _is_initial(body: str, context: Context) -> bool:
    """Return whether the token is an initial, as the D of "John D. Rockefeller"."""
    if len(body) > 1 or context.punctuation != ".":
        return False
    return context.after[:1].isupper() and context.after.lower() not in SENTENCE_STARTERS


def _is_namesake(context: Context) -> bool:
    """Return whether a person's full name stands before: Robert Griffin III, John D. Rockefeller
    III.
    """
    names = [past.body for past in context.past[:3] if not past.mark]
    if len(names) < 2 or not names[0].istitle():
        return False
    between = len(names) < 3 or names[1][:1].isupper()
    given = names[1:] if between else names[1:2]
    return any(name.lower() in _GIVEN for name in given)


def unowned(body: str, context: Context) -> Reading | None:
    """Read numerals without a name before them: the XIX century, MMXXIV."""
    if len(body) < 2 or not _NUMERAL.fullmatch(body) or body.endswith("s"):
        return None
    if not context.punctuation and context.after.lower() in ("century", "centuries"):
        return say(numbers.ordinal(value_of(body)))
    return say(numbers.cardinal(value_of(body))) if len(body) > 3 else None


def counted_lower(body: str, context: Context) -> Reading | None:
    """Read tokens such as chapter IV, Scene ii."""
    is_counted = context.previous.lower() in _COUNTED and body.upper() not in tuple("ICDLM")
    if not is_counted or context.past[0].mark or (body.islower() and not set(body) <= set("ivx")):
        return None
    if not _NUMERAL.fullmatch(body.upper()):
        return None
    return say(numbers.cardinal(value_of(body.upper().removesuffix("'S"))))


def value_of(body: str) -> int:
    """Return the value of a Roman numeral in capitals."""
    values = [_VALUES[char] for char in body] + [0]
    return sum(-one if one < after else one for one, after in pairwise(values))


RULES: tuple[Rule, ...] = (numeral, counted_lower, unowned)
