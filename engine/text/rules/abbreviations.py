"""Short forms in their context: Dr. Smith and Mulholland Dr., St. Louis and Main St., e.g., U.S.;
Roman numerals where the words before them say so: Louis XIV, World War II, Chapter IV.

Invariant: the dot of an abbreviation is a full stop only if the token ends its block or a sentence
begins after it. The pronoun "I" is only read as a number after a name that counts, and never before
a verb that goes with the pronoun.
"""

import re
from itertools import pairwise

from engine.text.rules import numbers
from engine.text.rules.context import OPENERS, SENTENCE_STARTERS, Context, Reading, say
from engine.text.tables import section, words

_TITLES, _WORDS, _DOTTED, _BARE = (
    section("abbreviations", name) for name in ("titles", "words", "dotted", "bare")
)
_BARE_TITLES, _BEFORE_FIGURE, _REAL_WORDS, _OTHERS_IN_CAPITALS = (
    words("abbreviations", name)
    for name in ("bare_titles", "before_figure", "real_words", "others_in_capitals")
)
_LETTERED, _BEFORE_GRADES, _MAY_END = (
    words("abbreviations", name) for name in ("lettered", "before_grades", "may_end")
)
_INITIALISM = re.compile(r"(?:[A-Za-z]\.){1,6}[A-Za-z]")
_DATED = {"est": "established", "fl": "flourished"}
_STREETS = {"Dr": ("Doctor", "Drive"), "St": ("Saint", "Street")}
_BEFORE_CHOICES = frozenset("a an is was isn't wasn't not Not be".split())
_BETWEEN_LETTERS = frozenset("or nor to versus than".split())
_LETTER = re.compile("[A-HJ-NP-Z]")
_CHOICES = "ABCDEXYZ"  # of a test, and unknowns

_NUMERAL = re.compile(
    r"(?=[IVXLCDM])M{0,3}(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})(?:'s)?", re.ASCII
)
_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_RULERS, _COUNTED, _WITH_PRONOUN = (
    words("roman", name) for name in ("rulers", "counted", "with_pronoun")
)
_GIVEN = words("roman", "given") | _RULERS


def dotted(body: str, context: Context) -> Reading | None:
    """Read tokens such as e.g., i.e., Ph.D., U.S., J.R.R."""
    if expansion := _DOTTED.get(body.lower()):
        return _with_own_comma(expansion, context)
    if not _INITIALISM.fullmatch(body) or not (body.isupper() or context.punctuation[:1] == "."):
        return None  # "a.b" is a name with a dot in it
    letters = body.replace(".", "")
    spelling = letters if letters.isupper() else "-".join(letters.upper())
    return say(spelling, context.mark_behind_dot(any_name=False))


def titled(body: str, context: Context) -> Reading | None:
    """Read tokens such as Mr. Smith, Mt. Everest."""
    title = _TITLES.get(body)
    if title is None:
        return None
    if context.punctuation.startswith("."):
        is_title = body in _BARE_TITLES or context.after in ("and", "&", "Dr", "Prof")
        return say(title, context.other_mark) if is_title or _names_something(context) else None
    bare = body in _BARE_TITLES and not context.punctuation and context.after[:1].isupper()
    return say(title) if bare else None


def street_or_person(body: str, context: Context) -> Reading | None:
    """Read Dr. and St. on either side of a name."""
    if body not in _STREETS:
        return None
    before, behind = _STREETS[body]
    if not context.punctuation.strip(".") and _names_something(context):
        in_address = context.previous[:1].isupper() and context.before_previous[:1].isdigit()
        return say(behind if in_address else before, "")  # "12 Oak Dr. Springfield"
    named = context.previous[:1].isupper() or context.previous[:1].isdigit()
    word = before if not named and body == "Dr" else behind
    return say(word, context.mark_behind_dot(any_name=False))


def shortened(body: str, context: Context) -> Reading | None:
    """Read tokens such as approx., etc., No. 5."""
    lower = body.lower()
    if not context.punctuation.startswith(".") or lower not in _WORDS:
        return None
    if body == "c" and context.after_number:
        return say("cup" if numbers.is_one(context.previous) else "cups", "")
    if body == "c" and re.fullmatch(r"\d{1,2}(?:st|nd|rd|th)", context.previous):
        return say("century", context.mark_behind_dot(any_name=True))
    figure = context.after.lstrip("(")[:1].isdigit() or (body == "No" and context.after == "of")
    is_other = lower in _BEFORE_FIGURE or (lower in _OTHERS_IN_CAPITALS and body.isupper())
    if (is_other and not figure) or (lower == "al" and context.previous != "et"):
        return None
    mark = context.mark_behind_dot(any_name=lower in _MAY_END or lower in _REAL_WORDS)
    ends_sentence = mark is not None and "." in mark
    if ends_sentence and lower in _REAL_WORDS - _BEFORE_FIGURE - {"al"}:
        return None
    word = _WORDS[lower]
    if lower in _DATED and re.fullmatch(r"\d{4}", context.after):
        word = _DATED[lower]
    return say(word.capitalize() if body[0].isupper() and lower != "etc" else word, mark)


def bare(body: str, context: Context) -> Reading | None:
    """Read tokens such as vs, w/, N/A, LED."""
    expansion = _BARE.get(body)
    is_shortened = context.punctuation.startswith(".") and body.lower() in _WORDS
    if expansion is None or is_shortened:
        return None
    return _with_own_comma(expansion, context) if expansion.endswith(",") else say(expansion)


def initial(body: str, context: Context) -> Reading | None:
    """Read an initial without a pause after the letter: George W. Bush."""
    single = len(body) == 1 and body.isupper() and body.isascii() and context.punctuation == "."
    if not single or body == "I" or not context.after:
        return None
    if context.after[0].islower():
        return say(body, "")
    begins = context.after.lower() in SENTENCE_STARTERS | OPENERS and len(context.after) > 1
    if not context.after[0].isupper() or begins or _is_of_alphabet(body, context):
        return None
    previous = context.previous
    beside_name = (
        not previous or previous[0].isupper() or previous in SENTENCE_STARTERS | _DOTTED.keys()
    )
    return say(body, "") if beside_name or len(context.after) == 1 else None


def _is_of_alphabet(body: str, context: Context) -> bool:
    """Return whether a letter is a grade, an answer or the like: "The answer is C."."""
    if len(context.after) > 1 and context.previous in _BEFORE_CHOICES and body in _CHOICES:
        return True
    other = context.before_previous
    joined = context.previous == "and" and len(other) == 1 and ord(body) == ord(other) + 1
    if joined or (context.previous.lower() in _BETWEEN_LETTERS and len(other) == 1):
        return True
    if any(past.mark == "." and _LETTER.fullmatch(past.body) for past in context.past[1:]):
        return True  # "Then B.", behind a sentence that ended in a letter
    for past in context.past[:3]:
        if past.mark in tuple(".?!"):
            return False
        if past.body.lower() in _LETTERED:
            return True
        if past.body not in SENTENCE_STARTERS:
            return False
    return False


def letter_a(body: str, context: Context) -> Reading | None:
    """Read the letter A in "N, A, M, E", which is no article, and the grades "straight As"."""
    if body == "A" and context.punctuation[:1] in tuple(",.;:!?"):
        return say("eh")
    grades = body == "As" and context.previous.lower() in _BEFORE_GRADES
    return say("A's") if grades and not context.past[0].mark else None


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
    is_initial = (  # the D of "John D. Rockefeller"
        (len(body) == 1 and context.punctuation == ".")
        and context.after[:1].isupper()
        and context.after.lower() not in SENTENCE_STARTERS
    )
    if is_initial or (body == "I" and (before_verb or not (ruler or is_counted))):
        return None
    if ruler or (not is_counted and len(body) > 1 and _is_namesake(context)):
        return say(f"the {numbers.ordinal(value)}{possessive}")
    if is_counted and body in ("C", "D", "L", "M"):
        return None
    if not is_counted and (len(body) < 2 or value > 39 or owner.isupper()):
        return None
    return say(numbers.cardinal(value) + possessive)


def _is_namesake(context: Context) -> bool:
    """Return whether a full name stands before: Robert Griffin III, John D. Rockefeller III."""
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


def _with_own_comma(expansion: str, context: Context) -> Reading:
    """Return a reading of the expansion. Its own final mark stays unless the text has a mark."""
    words = expansion.rstrip(",:")
    own = expansion[len(words) :]
    return say(words, context.other_mark or own or context.mark_behind_dot(any_name=False))


def _names_something(context: Context) -> bool:
    """Return whether a name follows: a capital that does not begin a sentence."""
    after = context.after
    starts_sentence = after.lower() in SENTENCE_STARTERS and after not in ("Who", "Will")
    named = context.previous[:1].isupper() and not context.past[0].mark
    initial = after == "A" and not named  # Dr. A. B. Jones
    return initial or (after[:1].isupper() and not starts_sentence)


RULES = (
    numeral, counted_lower, unowned, dotted, titled, street_or_person, shortened, bare, initial,
    letter_a,
)  # fmt: skip
