"""Abbreviations in their context: Dr. Smith and Mulholland Dr., St. Louis and Main St., e.g., U.S.

Invariant: the dot of an abbreviation is a full stop only if the token ends its block or a sentence
begins after it.
"""

import re

from engine.text.rules import numbers
from engine.text.rules.context import OPENERS, SENTENCE_STARTERS, Context, Reading, Rule, say
from engine.text.tables import section, words

_TITLES = section("abbreviations", "titles")
_BARE_TITLES = words("abbreviations", "bare_titles")
_WORDS = section("abbreviations", "words")
_BEFORE_FIGURE = words("abbreviations", "before_figure")
_REAL_WORDS = words("abbreviations", "real_words")
_OTHERS_IN_CAPITALS = words("abbreviations", "others_in_capitals")
_DOTTED = section("abbreviations", "dotted")
_BARE = section("abbreviations", "bare")
_INITIALISM = re.compile(r"(?:[A-Za-z]\.){1,6}[A-Za-z]")
_DATED = {"est": "established", "fl": "flourished"}
_LETTERED = words("abbreviations", "lettered")
_BEFORE_GRADES = words("abbreviations", "before_grades")
_MAY_END = words("abbreviations", "may_end")
_BEFORE_CHOICES = frozenset("a an is was isn't wasn't not Not be".split())
_BETWEEN_LETTERS = frozenset("or nor to versus than".split())
_LETTER = re.compile("[A-HJ-NP-Z]")
_CHOICES = "ABCDEXYZ"  # of a test, and unknowns


def dotted(body: str, context: Context) -> Reading | None:
    """Read tokens such as e.g., i.e., Ph.D., U.S., J.R.R."""
    if not _INITIALISM.fullmatch(body) and body.lower() not in _DOTTED:
        return None
    expansion = _DOTTED.get(body.lower())
    if expansion:
        return _with_own_comma(expansion, context)
    if not (body.isupper() or context.punctuation.startswith(".")):
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
    if body in _BARE_TITLES and not context.punctuation and context.after[:1].isupper():
        return say(title)
    return None


def street_or_person(body: str, context: Context) -> Reading | None:
    """Read Dr. and St. on either side of a name."""
    if body not in ("Dr", "St"):
        return None
    before, behind = {"Dr": ("Doctor", "Drive"), "St": ("Saint", "Street")}[body]
    closes = bool(context.punctuation.strip(".")) or not _names_something(context)
    if not closes:
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
    if lower in _BEFORE_FIGURE and not figure:
        return None
    if lower in _OTHERS_IN_CAPITALS and body.isupper() and not figure:
        return None
    if lower == "al" and context.previous != "et":
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
    if expansion is None:
        return None
    if context.punctuation.startswith(".") and body.lower() in _WORDS:
        return None
    return _with_own_comma(expansion, context) if expansion.endswith(",") else say(expansion)


def initial(body: str, context: Context) -> Reading | None:
    """Read an initial without a pause after the letter: George W. Bush."""
    single = len(body) == 1 and body.isupper() and body.isascii() and context.punctuation == "."
    if not single or body == "I" or not context.after:
        return None
    if context.after[0].islower():
        return say(body, "")
    if not context.after[0].isupper():
        return None
    if context.after.lower() in SENTENCE_STARTERS | OPENERS and len(context.after) > 1:
        return None
    previous = context.previous
    if _is_of_alphabet(body, context):
        return None
    beside_name = (
        not previous or previous[0].isupper() or previous in SENTENCE_STARTERS | _DOTTED.keys()
    )
    return say(body, "") if beside_name or len(context.after) == 1 else None


def _is_of_alphabet(body: str, context: Context) -> bool:
    """Return whether a letter is a grade, an answer or the like: "The answer is C.", "from A to
    B.".
    """
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
    """Read the letter A in "N, A, M, E". Voices read a bare A as the article, and "ay" as an
    eye.
    """
    return say("eh") if body == "A" and context.punctuation[:1] in tuple(",.;:!?") else None


def marks_of_a(body: str, context: Context) -> Reading | None:
    """Read the grades in "straight As", which are not the word "as"."""
    if body != "As" or context.previous.lower() not in _BEFORE_GRADES or context.past[0].mark:
        return None
    return say("A's")


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


RULES: tuple[Rule, ...] = (
    dotted, titled, street_or_person, shortened, bare, initial, letter_a, marks_of_a,
)  # fmt: skip
