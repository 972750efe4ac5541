r"""The commands of LaTeX in words, and a formula cut into tokens.

Invariant: every token is said or groups other tokens. Marks that only matter to the eye (sizes of
brackets, small spaces) are dropped. A command in no table is said by its name.
"""

import re
import unicodedata
from dataclasses import dataclass
from enum import Enum

from engine.text import unit_table
from engine.text.rules.numbers import NUMBER, UNICODE_FRACTIONS
from engine.text.tables import section, words

GREEK = {name: name.lower() for name in words("latex", "greek")} | section("latex", "variants")
OPERANDS = GREEK | section("latex", "operands")
SIGNS, OPERATORS, RELATIONS, FUNCTIONS, BIG, ACCENTS, OPENING, CLOSING, ENCLOSED = (
    section("latex", name)
    for name in "signs operators relations functions big accents opening closing enclosed".split()
)
LIMITS, LEADING_ACCENTS, WITHOUT_GROUP, MATRICES, ROWS, STRUCTURES = (
    words("latex", name)
    for name in "limits leading_accents without_group matrices rows structures".split()
)
FONTS, ROMAN, TEXTS, SILENT, PAUSES = (
    words("latex", name) for name in "fonts roman texts silent pauses".split()
)
ENVIRONMENTS = MATRICES | ROWS
COMMANDS = frozenset(
    name
    for table in (OPERANDS, OPERATORS, RELATIONS, FUNCTIONS, BIG, ACCENTS, OPENING, CLOSING)
    for name in table
    if name.isalpha() and name.isascii()
) | (FONTS | ROMAN | TEXTS | SILENT | PAUSES | STRUCTURES)
"""Every command that is known; in plain text, "\\name" is LaTeX only if it is one of them."""
_SPACES = frozenset({"\\,", "\\;", "\\:", "\\!", "\\ ", "\\>", "~", "\\/", "&"})


class Kind(Enum):
    COMMAND = "command"  # without its backslash
    NUMBER = "number"
    WORD = "word"  # several letters that belong together
    LETTER = "letter"
    SIGN = "sign"
    SPACE = "space"  # one that LaTeX shows
    RAW = "raw"  # ordinary text, or a unit, read by the rules of ordinary text
    ENVIRONMENT = "environment"  # `inner` is what stands in it


@dataclass(frozen=True)
class Token:
    kind: Kind
    text: str
    inner: str = ""


_RAISED = re.compile("[⁰¹²³⁴-⁾ⁱⁿᵃᵇᶜᵈᵉᶠᵍʰʲᵏˡᵐᵒᵖʳˢᵗᵘᵛʷˣʸᶻ]+")
_LOWERED = re.compile("[₀-₎ₐ-ₜᵢᵣᵤᵥⱼ]+")
# Notations and simpler ones with the same meaning.
_PLAINER = (
    (r"(?<!\\)%.*", ""),  # a comment
    (r"(?<=\d)(?:\{,\}|\\,)(?=\d{3}(?!\d))", ","),
    (r"(?<=\d)\{,\}(?=\d)", "."),
    (r"\.(\d*)\\(?:overline|bar)\{(\d+)\}", r".\1\2\\text{repeating}"),
)
_MICRO = re.compile(
    r"\\mu\s*\\(?:text|mathrm)\{([a-zA-Z]+)\}|\\(?:text|mathrm)\{\s*\\mu\s*([a-zA-Z]+)\}"
)
_OHM = re.compile(r"(?<=\d)((?:\\[,;: ]|~)\s*)([kM]?)\s*\\Omega(?![a-zA-Z])")
_TEXT = "|".join(sorted(TEXTS, key=len, reverse=True))
_TOKEN = re.compile(
    rf"(?P<text>\\(?:{_TEXT})\s*\{{(?P<inner>(?:[^{{}}]|\{{[^{{}}]*\}})*)\}})"
    rf"|(?P<money>\\\$\s*(?:{NUMBER})|(?:{NUMBER})\s*\\\$)"
    rf"|\\(?P<command>[a-zA-Z]+)\*?|(?P<escaped>\\.)|(?P<number>{NUMBER})"
    r"|(?P<letters>[^\W\d_]+)|(?P<space>[\s~]+)|(?P<sign>.)",
    re.DOTALL,
)
_UNIT_AFTER_SPACE = re.compile(
    r"(?:\\[,;: ]|~)\s*(?P<unit>(?:[a-zA-Zµμ°Ω%]{1,4})(?:\^\{?[23]\}?)?"
    r"(?:/[a-zA-Z]{1,4}(?:\^\{?[23]\}?)?)?)(?![a-zA-Z_({^\\])"
)
_BORDER = re.compile(r"\\(?P<border>begin|end)\s*\{(?P<name>[a-zA-Z]+\*?)\}")
_WORD_SIZE, _UPRIGHT_SIZE = 4, 3  # letters; shorter runs are products of letters
_VOWEL = re.compile("[aeiouy]")
_NAMED = frozenset("sin cos tan log ln exp max min lim gcd lcm det mod arg".split())


def tokens(text: str, *, upright: bool = False) -> list[Token]:
    """Return the tokens of a formula without its delimiters. `upright`: the letters are in roman
    type or in an index, so that shorter runs of letters are words.
    """
    found: list[Token] = []
    text = _plainer(text)
    position = 0
    while position < len(text):
        unit = _UNIT_AFTER_SPACE.match(text, position)
        if unit and _is_measured(found, unit["unit"]):
            found.append(Token(Kind.RAW, re.sub("[{}]", "", unit["unit"])))
            position = unit.end()
            continue
        environment = _environment(text, position)
        if environment:
            found.append(environment)
            position += len(environment.text)
            continue
        match = _TOKEN.match(text, position)
        assert match  # the last alternative takes any character
        found += _token(match, upright=upright)
        position = match.end()
        if match["command"] in ("left", "right") and text[position : position + 1] == ".":
            position += 1
    return found


def source(found: list[Token]) -> str:
    """Return the tokens as LaTeX again, for another reading of them."""
    forms = {Kind.COMMAND: "\\{} ", Kind.RAW: "\\text{{{}}}"}
    return "".join(forms.get(token.kind, "{}").format(token.text) for token in found)


def _is_measured(found: list[Token], unit: str) -> bool:
    """Return whether letters behind a space are a unit: behind a number that is not a power."""
    if not found or found[-1].kind is not Kind.NUMBER or found[-2:][0].text == "^":
        return False
    return all(re.split(r"[\^{]", part)[0] in unit_table.SIGNS for part in unit.split("/"))


def _environment(text: str, position: int) -> Token | None:
    """Return the environment that begins at `position`, up to its end or that of the text."""
    begin = _BORDER.match(text, position)
    if not begin or begin["border"] == "end":
        return None
    depth = 0
    for match in _BORDER.finditer(text, position):
        if match["name"] == begin["name"]:
            depth += 1 if match["border"] == "begin" else -1
        if depth == 0:
            inner = text[begin.end() : match.start()]
            return Token(Kind.ENVIRONMENT, text[position : match.end()], inner)
    return Token(Kind.ENVIRONMENT, text[position:], text[begin.end() :])


def _plainer(text: str) -> str:
    for pattern, replacement in _PLAINER:
        text = re.sub(pattern, replacement, text)
    text = _RAISED.sub(lambda match: f"^{{{_plain(match[0])}}}", text)
    text = _LOWERED.sub(lambda match: f"_{{{_plain(match[0])}}}", text)
    text = _MICRO.sub(lambda match: rf"\text{{µ{match[1] or match[2]}}}", text)
    text = _OHM.sub(r"\1\2Ω", text).replace("||", r"\|").replace(r"\exists!", r"\existsone ")
    for sign, parts in UNICODE_FRACTIONS.items():
        top, bottom = parts.split("/")
        text = text.replace(sign, rf"\frac{{{top}}}{{{bottom}}}")
    return text.replace("°", r"^\circ ").replace("√", r"\sqrt ").replace("’", "'")


def _plain(script: str) -> str:
    """Return raised or lowered characters as ordinary ones."""
    return unicodedata.normalize("NFKC", script).replace("\N{MINUS SIGN}", "-")


def _token(match: re.Match[str], *, upright: bool) -> list[Token]:
    kind, written = match.lastgroup, match[0]
    if kind == "text":
        return [Token(Kind.RAW, match["inner"])]
    if kind == "money":
        return [Token(Kind.RAW, re.sub(r"[\\\s]", "", written))]
    if kind == "number":
        return [Token(Kind.NUMBER, written)]
    if kind == "letters":
        return _letters(written, _UPRIGHT_SIZE if upright else _WORD_SIZE)
    if kind == "command":
        name = match["command"]
        if name in PAUSES:
            return [Token(Kind.SIGN, ",")]
        return [] if name in SILENT else [Token(Kind.COMMAND, name)]
    if kind == "space":
        return []
    return [Token(Kind.SPACE if written in _SPACES else Kind.SIGN, written)]


def _letters(run: str, size: int) -> list[Token]:
    """Read letters as one word, as a function without its backslash, or as a product of letters."""
    if run in _NAMED:
        return [Token(Kind.COMMAND, run)]
    is_word = len(run) >= size and run[1:].islower() and _VOWEL.search(run.lower())
    if is_word and run.isascii():
        return [Token(Kind.WORD, run)]
    return [Token(Kind.WORD if is_word else Kind.LETTER, letter) for letter in run]  # or Greek
