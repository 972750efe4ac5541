"""Cut a formula into tokens.

Invariant: every token is said or groups other tokens. Marks that only matter to the eye (sizes of
brackets, small spaces) are dropped.
"""

import re
import unicodedata
from dataclasses import dataclass
from enum import Enum

from engine.text.formulas import commands
from engine.text.rules.numbers import NUMBER, UNICODE_FRACTIONS
from engine.text.unit_table import SIGNS


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
_THOUSANDS = re.compile(r"(?<=\d)(?:\{,\}|\\,)(?=\d{3}(?!\d))")
_DECIMAL_COMMA = re.compile(r"(?<=\d)\{,\}(?=\d)")
_COMMENT = re.compile(r"(?<!\\)%.*")
_REPEATING = re.compile(r"\.(\d*)\\(?:overline|bar)\{(\d+)\}")
_MICRO = re.compile(
    r"\\mu\s*\\(?:text|mathrm)\{([a-zA-Z]+)\}|\\(?:text|mathrm)\{\s*\\mu\s*([a-zA-Z]+)\}"
)
_OHM = re.compile(r"(?<=\d)((?:\\[,;: ]|~)\s*)([kM]?)\s*\\Omega(?![a-zA-Z])")
_TEXT = "|".join(sorted(commands.TEXTS, key=len, reverse=True))
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
_BEGIN = re.compile(r"\\begin\s*\{(?P<name>[a-zA-Z]+\*?)\}")
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
    said = []
    for token in found:
        prefix = "\\" if token.kind is Kind.COMMAND else ""
        text = f"\\text{{{token.text}}}" if token.kind is Kind.RAW else token.text
        said.append(f"{prefix}{text} " if prefix else text)
    return "".join(said)


def _is_measured(found: list[Token], unit: str) -> bool:
    """Return whether letters behind a space are the unit of the number before it; a power has no
    unit.
    """
    if not found or found[-1].kind is not Kind.NUMBER or found[-2:][0].text == "^":
        return False
    return all(re.split(r"[\^{]", part)[0] in SIGNS for part in unit.split("/"))


def _environment(text: str, position: int) -> Token | None:
    r"""Return the environment that begins at `position`, up to its \end or to the end of the
    text.
    """
    begin = _BEGIN.match(text, position)
    if not begin:
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
    """Replace notations by simpler ones with the same meaning: Unicode fractions, raised digits and
    more.
    """
    text = _COMMENT.sub("", text)
    text = _DECIMAL_COMMA.sub(".", _THOUSANDS.sub(",", text))
    text = _REPEATING.sub(r".\1\2\\text{repeating}", text)
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
    if match["text"]:
        return [Token(Kind.RAW, match["inner"])]
    if match["money"]:
        return [Token(Kind.RAW, re.sub(r"[\\\s]", "", match["money"]))]
    if match["number"]:
        return [Token(Kind.NUMBER, match["number"])]
    if match["letters"]:
        return _letters(match["letters"], _UPRIGHT_SIZE if upright else _WORD_SIZE)
    if match["space"]:
        return []
    if name := match["command"]:
        if name in commands.PAUSES:
            return [Token(Kind.SIGN, ",")]
        return [] if name in commands.SILENT else [Token(Kind.COMMAND, name)]
    sign = match["escaped"] or match["sign"]
    return [Token(Kind.SPACE if sign in commands.SPACES or sign == "&" else Kind.SIGN, sign)]


def _letters(run: str, size: int) -> list[Token]:
    """Read a run of letters as one word, as a function without its backslash, or as a product of
    letters.
    """
    if run in _NAMED:
        return [Token(Kind.COMMAND, run)]
    is_word = len(run) >= size and run[1:].islower() and _VOWEL.search(run.lower())
    if is_word and run.isascii():
        return [Token(Kind.WORD, run)]
    return [Token(Kind.WORD if is_word else Kind.LETTER, letter) for letter in run]  # or Greek
