"""Signs between words, names with signs in them, and whatever no other rule took.

Invariant: `anything` answers every token, and its words hold letters, hyphens and apostrophes only.
"""

import re
import unicodedata

from engine.text import numbers
from engine.text.context import Context, Reading, Rule, say
from engine.text.numbers import NUMBER

_NAMES = {
    "C++": "C plus plus", "C#": "C sharp", "F#": "F sharp", ".NET": "dot net", "A*": "A star",
    "g++": "G plus plus", "Notepad++": "Notepad plus plus", "R&D": "R and D", "&c": "et cetera",
    "and/or": "and or", "he/she": "he or she", "she/he": "she or he", "his/her": "his or her",
    "him/her": "him or her", "s/he": "she or he", "yes/no": "yes or no", "Yes/No": "yes or no",
    "true/false": "true or false", "either/or": "either or", "m/s": "meters per second",
}  # fmt: skip
_BETWEEN = {
    "&": "and", "+": "plus", "=": "equals", "==": "equals", "===": "equals",
    "!=": "is not equal to",
    "≠": "is not equal to", "≈": "is about", "<": "is less than", ">": "is greater than",
    "<=": "is at most", ">=": "is at least", "≤": "is at most", "≥": "is at least",
    "±": "plus or minus", "×": "times", "÷": "divided by", "^": "to the power of", "@": "at",
    "→": "to", "->": "to", "=>": "to", "⇒": "to", "⟶": "to", "←": "from", "↔": "to and from",
    "%": "percent", "/": "slash", "√": "the square root of", "∞": "infinity", "~": "about",
    "&&": "and", "||": "or", ":=": "equals", "+=": "plus equals", "#": "number", "§": "section",
    "∈": "in", "∑": "the sum of", "∫": "the integral of", "Δ": "delta",
}  # fmt: skip
_INNER = _BETWEEN | {
    "/": "",
    "#": "",
    "~": "",
    "*": "",
    "<": "",
    ">": "",
    "->": "",
    "=>": "",
    "°": "degrees",
}
_EXPONENTS = {"^2": "squared", "^3": "cubed"}
_NUMERICAL = re.compile(rf"[(\-+]?(?:{NUMBER}|[a-zA-Z])[)]?")
_ARITHMETIC = re.compile(r"[~≈]?(?:[\w.,()]+|\))(?:(?:[-+*/×÷=^<>]|\*\*|==|\^-)[\w.,()]+)+")
_FORMULA_SIGNS = {"-": "minus", "*": "times", "/": "over", "**": "to the power of"}
_PARTS = re.compile(
    rf"(?P<number>{NUMBER})|(?P<word>[^\W\d_](?:[^\W\d_]|[\u0300-\u036f]|['-](?=[^\W\d_]))*)"
    r"|(?P<double>\*\*)|(?P<power>\^[23](?!\d))|(?P<exponent>\^-?\d+)|(?P<sign>->|=>|==|!=|<=|>=|&&|\|\||[^\w\s])"
)
_LETTERS_AND_FIGURES = re.compile(
    r"[A-Za-z]{1,5}\d{1,4}[A-Za-z]{0,2}|\d{1,4}[A-Za-z]{1,2}(?:\d{1,2})?"
)
_SCORE_GROUPS = re.compile(r"[A-Za-z]+|\d+")
_FLAG = re.compile(r"(--?)([A-Za-z][\w-]*)(?:=(.*))?")


def named(core: str, context: Context) -> Reading | None:
    """C++, he/she; "C#" keeps its sign"""
    said = _NAMES.get(core)
    return say(said) if said else None


def operator(core: str, context: Context) -> Reading | None:
    """A sign on its own between two words; a dash between two numbers."""
    if core in ("-", "–", "−", "*"):
        return _between_numbers(core, context)
    said = _BETWEEN.get(core)
    if said is None:
        return None
    if core in ("≈", "~") and "(" in context.opened:
        return say("about")
    if core == "/" and context.after_number:
        return say("divided by")
    if core in ("<", ">", "^", "~", "/", "#") and not context.past:
        return Reading(())
    return say(said)


def flag(core: str, context: Context) -> Reading | None:
    """--help, -m: as one reads a command"""
    match = _FLAG.fullmatch(core)
    if not match:
        return None
    dashes = "dash " * len(match[1])
    return say(f"{dashes} {_words(match[2].replace('-', ' '))} {_words(match[3] or '')}")


def word(core: str, context: Context) -> Reading | None:
    """A word that is only letters, hyphens and apostrophes: nearly every token of a reply."""
    return Reading((core,)) if all(char.isalpha() or char in "-'" for char in core) else None


def code_name(core: str, context: Context) -> Reading | None:
    """A4, B12, MP3, 4K, H2O: one word, so that a single letter is not read as an article."""
    if not _LETTERS_AND_FIGURES.fullmatch(core):
        return None
    parts = []
    for part in _SCORE_GROUPS.findall(core):
        figure = part.isdecimal()
        said = numbers.code(part) if figure else part
        parts.append(said.replace(" ", "-"))
    return Reading(("-".join(parts),))


def formula(core: str, context: Context) -> Reading | None:
    """2+2=4, x=5, 2*3, y=x^2"""
    if not _ARITHMETIC.fullmatch(core) or not re.search(r"\d|=", core):
        return None
    if not set(core) & set("+*×÷=^<>"):  # only a slash or a dash: a date, a path, a range
        return None
    about = "about " if core[0] in "~≈" else ""
    return say(about + _words(core.lstrip("~≈"), _FORMULA_SIGNS))


def anything(core: str, context: Context) -> Reading:
    """The last resort: words and numbers are kept, known signs are said, the rest is dropped."""
    core = re.sub(r"(?:(?<=\w)|^)\.(?=[^\W\d])", " dot ", core)
    return say(_words(core))


def speakable_letters(text: str) -> str:
    """Only what a word may hold."""
    kept = "".join(
        char
        for char in text
        if char.isalpha() or char in "-'" or unicodedata.category(char).startswith("M")
    ).strip("-'")
    return kept if any(char.isalpha() for char in kept) else ""


def _between_numbers(core: str, context: Context) -> Reading | None:
    if not (context.past and not context.past[0].mark and _NUMERICAL.fullmatch(context.previous)):
        return Reading(())
    after = context.after
    if not _NUMERICAL.fullmatch(after) and not re.match(r"\d", after):
        return Reading(())
    if core == "*":
        return say("times")
    low, high = _leading_value(context.previous), _leading_value(after)
    return say("to" if low is not None and high is not None and low < high else "minus")


def _leading_value(text: str) -> float | None:
    match = re.match(r"\d[\d,]*(?:\.\d+)?", text)
    return float(match[0].replace(",", "")) if match else None


def _words(text: str, signs: dict[str, str] | None = None) -> str:
    said = []
    for match in _PARTS.finditer(text):
        if match["number"]:
            said.append(numbers.number(match["number"]))
        elif match["power"]:
            said.append(_EXPONENTS[match["power"]])
        elif match["exponent"]:
            said.append("to the power of " + numbers.number(match["exponent"][1:]))
        elif match["word"]:
            said.append(match["word"])
        else:
            sign = match["double"] or match["sign"]
            said.append((signs or {}).get(sign) or _INNER.get(sign, ""))
    return " ".join(said)


RULES: tuple[Rule, ...] = (named, operator, flag, word, code_name, formula, anything)
