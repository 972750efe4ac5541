"""Signs between words, names with signs, and every token that no other rule reads.

Invariant: `anything` has a reading for every token, and its words contain only letters, hyphens and
apostrophes.
"""

import re
import unicodedata
from dataclasses import replace

from engine.text.rules import numbers
from engine.text.rules.context import SCALES, Context, Reading, form, matching, say
from engine.text.rules.dates import LATE_DAY
from engine.text.rules.numbers import NUMBER
from engine.text.tables import section, words
from engine.text.unit_table import SIGNS

_NAMES = section("symbols", "names")
_BETWEEN = section("symbols", "between")
_INNER = _BETWEEN | section("symbols", "inner")
_EXPONENTS = {"^2": "squared", "^3": "cubed"}
_FRACTION_SIGNS = "".join(numbers.UNICODE_FRACTIONS)
_FIGURES = re.compile(rf"-?(?:{NUMBER})")
_AMOUNT = re.compile(
    rf"(?:[A-Z]{{0,2}}[$€£¥₹])?(?P<figure>{NUMBER})(?:[kKmMbB]|bn)?(?:[$€£¥₹%]|(?P<unit>[°a-zA-Zµ/]{{1,5}}))?(?![^.,;:!?)])"
)
_VALUE = re.compile(r"(?:[A-Z]{0,2}[$€£¥₹])?(\d+(?:\.\d+)?)")
_NUMERICAL = re.compile(
    rf"(?:√?\(|[-+~≈√])?(?:\d+-\d+/\d+|{NUMBER}(?:/\d+)?|\d*[a-zA-Z](?:\^\d+)?)[)]?"
)
_ARITHMETIC = re.compile(
    r"[~≈]?(?:-?[\w.,()√]+|\))(?:(?:[-+*/×÷=^<>≤≥≠≈±]|\*\*|[=!<>]=|\^-)-?[\w.,()√]+)+"
)
_GENERIC = re.compile(r"[\w:.]*[A-Za-z]{2,}<[A-Za-z_].*")  # the Map<int of Map<int, str>
_LETTERS_PRODUCT = re.compile(r"[a-z](?:\*[a-z])+|[a-z]-\d+")  # a*b, n-1
_FORMULA_SIGNS = section("symbols", "formula")
_FUNCTIONS = section("symbols", "functions")
_PRIMES = {"": "", "'": "prime ", "''": "double prime "}
_GREEK = re.compile(r"(?<![Ͱ-Ͽ])[Ͱ-Ͽ](?![Ͱ-Ͽ])")
_TIMED = re.compile(rf"[ap]\.?m|\d{{1,2}}:\d\d|{LATE_DAY}", re.IGNORECASE)
_SIDE = re.compile(r"wide|long|high|tall|deep|thick|M\d\d?")  # of an M6 x 20 bolt
_MENU = re.compile(r"[A-Z][\w-]*[a-z]")
_SIZED = words("symbols", "sized")
_KEYS = section("symbols", "keys")
_HUMPS = re.compile(r"[a-z]+(?:[A-Z][a-z]+){2,}")
_ELEMENT = (
    r"(?:A[cglmrstu]|B[aehikr]?|C[adeflmnorsu]?|D[bsy]|E[rsu]|F[elmr]?|G[ade]|H[efgos]?|I[nr]?|Kr?|"
    r"L[airuv]|M[dgnot]|N[abdeip]?|O[s]?|P[abdmortu]?|R[abefghnu]|S[bcegimnr]?|T[abcehilm]|U|V|W|"
    r"Xe|Yb?|Z[nr])"
)
_MOLECULE = (
    rf"(?!.*[A-Z]{{4}})(?=(?:HCl|NaCl|KCl|LiCl)$|.*(?:[A-Za-z]\d|[a-z]\^?\d?[+-]$|OH))(\d{{0,2}})((?:(?P<one>{_ELEMENT})(?!(?P=one))\d{{0,2}}){{1,9}}?)"
    r"(?:\^?(\d?)([+-]))?"
)
_PARTS = re.compile(
    rf"(?P<number>\d+(?:\.\d+){{2,}}|{NUMBER}|[{_FRACTION_SIGNS}])|(?P<word>[^\W\d_](?:[^\W\d_]|[\u0300-\u036f]|['-](?=[^\W\d_]))*)"
    r"|(?P<double>\*\*)|(?P<power>\^[23](?!\d))|(?P<exponent>\^-?\d+)|(?P<sign>->|=>|==|!=|<=|>=|&&|\|\||[^\w\s])"
)


def named(body: str, context: Context) -> Reading | None:
    """Read tokens such as C++, he/she; "C#" keeps its sign."""
    words = _NAMES.get(body) or _NAMES.get(body.lower())
    return say(words) if words else None


def operator(body: str, context: Context) -> Reading | None:
    """Read a sign that stands alone between two words, or a dash between two numbers."""
    named = _SIDE.fullmatch(context.previous)
    between_sides = body == "x" or (body == "×" and (context.previous in SIGNS or named))
    if between_sides and not context.after_number:  # 3 m x 4 m
        measured = context.previous in SIGNS and context.before_previous[:1].isdigit()
        return say("by") if (measured or named) and context.after[:1].isdigit() else None
    begins_range = _FIGURES.fullmatch(context.previous) or _timed(context)
    if body == "~" and (begins_range or _AMOUNT.fullmatch(context.previous)):
        return _between_numbers(body, context)
    if body == "*" and context.previous == "SELECT":
        return say("star")
    if body == ">" and _MENU.fullmatch(context.previous) and _MENU.fullmatch(context.after):
        return say("then")
    if body in ("-", "–", "*", "x", "·", "⋅") or (body == "×" and context.after_number):
        return _between_numbers(body, context)
    words = _BETWEEN.get(body)
    if words is None:
        return None
    if body in ("≈", "~") and "(" in context.opened:
        return say("about")
    if body == "%" and context.after[:1].isdigit():
        return say("modulo")
    if body == "/" and context.after_number:
        return say("divided by")
    between_words = body == "/" and context.previous.isalpha() and len(context.previous) > 1
    begins = body in ("<", ">", "^", "~", "/", "#") and not context.past
    return Reading(()) if between_words or begins else say(words)


@matching(r"(--?)([A-Za-z][\w-]*)(?:=(.*))?")
def flag(match: re.Match[str], context: Context) -> Reading:
    """Read a flag of a command: --help, -m."""
    dashes = "dash " * len(match[1])
    return say(f"{dashes} {_words(match[2].replace('-', ' '))} {_words(match[3] or '')}")


def word(body: str, context: Context) -> Reading | None:
    """Read a word of letters, hyphens and apostrophes, as nearly every token of a reply is."""
    if _GREEK.search(body) or _HUMPS.fullmatch(body):
        return None
    return Reading((body,)) if all(_is_of_word(char) for char in body) else None


@matching(_MOLECULE)
def molecule(match: re.Match[str], context: Context) -> Reading:
    """Read a formula of chemistry element by element: H2O, CO2, Ca2+."""
    charge = {"+": "plus", "-": "minus"}.get(match[5], "")
    words = "-".join(
        numbers.cardinal(int(part)) if part.isdecimal() else part.upper()
        for part in [*re.findall(r"\d+|[A-Za-z]", match[2]), match[4]]
        if part
    )
    return say(f"{numbers.cardinal(int(match[1])) if match[1] else ''} {words} {charge}")


@matching(r"[A-Za-z]{1,5}\d{1,4}[A-Za-z]{0,2}|\d{1,4}[A-Za-z]{1,2}(?:\d{1,2})?")
def code_name(match: re.Match[str], context: Context) -> Reading:
    """Read A4, B12, MP3, 4K and H2O as one word, so that a letter is not read as an article."""
    parts: list[str] = []
    for part in re.findall(r"[A-Za-z]+|\d+", match[0]):
        if part == "s" and match[0][0].isupper():  # MP3s, not k8s
            parts[-1] = numbers.plural(parts[-1])
        else:
            parts.append(numbers.code(part).replace(" ", "-") if part.isdecimal() else part)
    return Reading(("-".join(parts),))


def formula(body: str, context: Context) -> Reading | None:
    """Read tokens such as 2+2=4, x=5, 2*3, y=x^2, x<10, n-1."""
    if _LETTERS_PRODUCT.fullmatch(body):
        return say(_words(body, _FORMULA_SIGNS))
    signed = set(body) & set("+*×÷=^<>≤≥≠≈±√")  # else a date, a path, a range
    if not signed or _GENERIC.fullmatch(body) or not _ARITHMETIC.fullmatch(body):
        return None
    if not re.search(r"\d|[=<>]", body):
        return None
    about = "about " if body[0] in "~≈" else ""
    return say(about + _words(body.lstrip("~≈"), _FORMULA_SIGNS))


@matching(r"(?:([A-Z])\()?log_?(\d{1,2})(?:\(([^()]+)\)?)?")
def logarithm(match: re.Match[str], context: Context) -> Reading | None:
    """Read a logarithm with its base: log₂(8), log₂ 8, O(log₂ n)."""
    order, base, argument = match.groups()
    if not (argument or re.fullmatch(rf"[a-z]|{NUMBER}", context.after)):
        return None
    lead = f"{order} of log" if order else "log"
    return say(f"{lead} base {numbers.number(base)} of {_words(argument or '', _FORMULA_SIGNS)}")


@matching(rf"([A-Za-z]|{'|'.join(_FUNCTIONS)})('{{0,2}})\(([^()]+)\)?")
def called(match: re.Match[str], context: Context) -> Reading:
    """Read a function with its argument: f(x), sin(x), O(n"""
    name = _FUNCTIONS.get(match[1], match[1])
    return say(f"{name} {_PRIMES[match[2]]}of {_words(match[3], _FORMULA_SIGNS)}")


def anything(body: str, context: Context) -> Reading:
    """Read any token: say words, numbers and known signs, and drop the rest."""
    body = re.sub(r"(?:(?<=\w)|^)\.(?=[^\W\d])", " dot ", body)
    return say(_words(body.lstrip("^")))


def speakable_letters(text: str) -> str:
    """Return the letters, hyphens and apostrophes of a text."""
    letters = "".join(char for char in text if _is_of_word(char)).strip("-'")
    return letters if any(char.isalpha() for char in letters) else ""


def _is_of_word(char: str) -> bool:
    return char.isalpha() or char in "-'" or unicodedata.category(char).startswith("M")


def _between_numbers(body: str, context: Context) -> Reading | None:
    before = context.previous
    if _timed(context) and context.after[:1].isdigit():
        return say("to")
    if before in SIGNS or before in SCALES:
        before = context.before_previous
    follows = _NUMERICAL.fullmatch(before) or _AMOUNT.fullmatch(before)
    if not follows or context.past[0].mark:
        return Reading(())
    low, high = _value(before), _value(context.after)
    if not high and not _NUMERICAL.fullmatch(context.after):
        return Reading(())
    if body in "*x×·⋅":
        sized = not _SIZED.isdisjoint(past.body.lower() for past in context.past)
        past = context.past
        while len(past) > 2 and past[1].body in ("x", "×"):  # the first x of 2 x 4 x 8
            past = past[2:]
        first = replace(context, past=past)
        by = first.before_previous in ("a", "an") or (
            body != "*" and (sized or _SIDE.fullmatch(first.previous))
        )
        return say("by" if by else "times")
    rises = low and high and not re.search("[xyzn^]", before) and float(low[1]) < float(high[1])
    return say("to" if rises else "minus")


def _value(text: str) -> re.Match[str] | None:
    """Match the number at the beginning of a text, after the sign of a currency."""
    return _VALUE.match(text.replace(",", ""))


def _timed(context: Context) -> bool:
    """Behind the "AM" of "9:00 AM - 5:00 PM", behind "9:00" or the day 12/24."""
    return bool(_TIMED.fullmatch(context.previous))


def greek(letter: str) -> str:
    """Return the name of a Greek letter."""
    return unicodedata.name(letter, "").rpartition(" ")[2].lower().replace("lamda", "lambda")


def _words(text: str, signs: dict[str, str] | None = None) -> str:
    words: list[str] = []
    text = _GREEK.sub(lambda match: f" {greek(match[0])} ", text)
    for match in _PARTS.finditer(text):
        if match["number"]:
            is_sign = match["number"] in numbers.UNICODE_FRACTIONS
            parts = match["number"].split(".")  # a version has three and more
            versioned = " point ".join(map(numbers.number, parts)) if len(parts) > 2 else ""
            words.append(versioned or (numbers.amount if is_sign else numbers.number)(match[0]))
        elif match["power"]:
            words.append(_EXPONENTS[match["power"]])
        elif match["exponent"]:
            words.append("to the power of " + numbers.number(match["exponent"][1:]))
        elif match["word"]:
            humps = _HUMPS.fullmatch(match["word"])
            name = _KEYS.get(match["word"], match["word"])
            words += re.findall("[A-Z]?[a-z]+", name) if humps else [name]
        else:
            sign = match["double"] or match["sign"]
            words.append((signs or {}).get(sign) or _INNER.get(sign, ""))
    return " ".join(words)


RULES = (
    named, operator, flag,
    form(r"([A-DF])-", "{1} minus", when=lambda _, context: context.after not in ("and", "or")),
    molecule, word, logarithm, code_name, called, formula, anything,
)  # fmt: skip
