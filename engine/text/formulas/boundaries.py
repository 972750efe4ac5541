r"""Find the formulas in a stream of characters: $...$, $$...$$, \(...\), \[...\], environments,
commands in plain text, and integrals, sums and products with limits.

Invariant: the parts joined are the text that was pushed, however it was cut. A formula is emitted
complete once it has closed. Other text is emitted as soon as it cannot become a formula: an amount
of money waits only for the words that rule a formula out.
"""

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final

LONGEST_INLINE: Final = 300  # characters; an opening without an end must not swallow the reply
LONGEST_DISPLAY: Final = 2000
_RESCANNED: Final = 120
"""Characters of what is no formula that are searched for one again; more would be quadratic."""
_LONGEST_TERM = 40

_LONGEST_BIG = 80
_SPECIAL = re.compile(r"[$\\`\n∫∑∏]")
_LIMITS = re.compile("[_^⁰¹²³⁴-⁾ⁱⁿ₀-₎ₐ-ₜᵢᵣᵤᵥⱼ]")
_BIG = re.compile(
    r"(?:∫(?:\{[^{}]*\}|\S)++\s.*?[^A-Za-z]d[A-Za-z]|[∑∏](?:\{[^{}]*\}|\S)++\s[^\s,;.!?]+)"
)
_FUNCTIONS = "sin cos tan log ln exp max min lim gcd lcm det mod arg sup inf cot sec csc".split()
_DOLLAR = re.compile(r"(?<!\\)\$")
_WORD = re.compile(r"(?<![\\A-Za-z{])([A-Za-z]+)$")
_BESIDE = re.compile(r"[\w)}\]]\s+[A-Za-z]+$")
_SMALL_WORDS = frozenset("is to or in of at on as by an if we be so no it do am".split())
_AMOUNT = re.compile(r"[\d.,]*\d(?:[kKmMbBtT]|bn|mn)?")
_ENDS_AMOUNT = re.compile(
    rf"{_AMOUNT.pattern}(?:[.,;:!?)]+\s+[A-Za-z]{{2}}|\s+a\s|[)\]*\"”|]|[.;:!?]\s)"
)
_SENTENCE = re.compile(r"[.?]\s$")
_OPEN_END = tuple("/:,;([{&")
_ESCAPED_END = re.compile(r"\\[,;:{(]$")
_COMMAND = re.compile(r"\\([a-zA-Z]+)\*?")
_CUT = re.compile(r"(?:\$\$?|\\[(\[])[^a-zA-Z]*\\[a-zA-Z]{2}|\\(?:frac|sqrt)\{")
_BEGIN = re.compile(r"\\begin\{([a-zA-Z]*)(?:\*?\})?")
_STRONG = re.compile(r"[\\^_=+]|^[A-Za-z]$|^[\d.]+$")


class Verdict(Enum):
    OPEN = "open"
    CLOSED = "closed"  # with the last character
    CLOSED_BEFORE = "closed before"  # the last character comes after it
    NONE = "none"


@dataclass(frozen=True)
class Formula:
    """A formula as written, with its delimiters."""

    text: str


class Boundaries:
    """Separates the formulas of one reply: characters in, plain text and formulas out."""

    def __init__(self) -> None:
        self.held = ""  # what may be a formula, from its opening on
        self._before = ""  # the last character that came out
        self._code = False  # within `...` of this line

    def push(self, delta: str) -> list[str | Formula]:
        """Add text; return the plain text and the formulas that are certain now."""
        out: list[str | Formula] = []
        pending = delta
        while pending:
            if self.held:
                self.held, pending = self.held + pending[0], pending[1:]
            else:
                pending = self._to_special(pending, out)
            held = self.held
            verdict = _judge(held, self._before) if held else Verdict.OPEN
            if verdict is Verdict.OPEN:
                continue
            self.held = ""
            if verdict is Verdict.CLOSED:
                self._give(Formula(held), out)
            elif verdict is Verdict.CLOSED_BEFORE:
                self._give(Formula(held[:-1]), out)
                pending = held[-1] + pending
            else:
                pending = self._refused(held, out) + pending
        return out

    def end(self) -> list[str | Formula]:
        """Return the rest: a formula that has just closed or was cut, or plain text."""
        out: list[str | Formula] = []
        while self.held:
            held, self.held = self.held, ""
            closed = _judge(held + "\n", self._before) is Verdict.CLOSED_BEFORE
            if closed or _CUT.match(held):
                self._give(Formula(held), out)
            else:
                out += self.push(self._refused(held, out))
        return out

    def _to_special(self, pending: str, out: list[str | Formula]) -> str:
        """Emit text up to a sign that may begin a formula, which is held; return the rest."""
        special = _SPECIAL.search(pending)
        plain = special.start() if special else len(pending)
        if plain:
            self._give(pending[:plain], out)
        char = pending[plain : plain + 1]
        if char and char in "\n`":
            self._code = char == "`" and not self._code
        if char and (char in "\n`" or self._code or self._before == "\\"):
            self._give(char, out)
        else:
            self.held = char
        return pending[plain + 1 :]

    def _refused(self, held: str, out: list[str | Formula]) -> str:
        """Emit as text the beginning that is not a formula; return the rest to search again."""
        certain = 1 if len(held) <= _RESCANNED else len(held)
        self._give(held[:certain], out)
        return held[certain:]

    def _give(self, part: str | Formula, out: list[str | Formula]) -> None:
        out.append(part)
        self._before = "" if isinstance(part, Formula) else part[-1]


def _judge(held: str, before: str) -> Verdict:
    if held[0] == "$":
        return _display(held) if held.startswith("$$") else _dollar(held, before)
    return _backslash(held, before) if held[0] == "\\" else _big(held)


def _limited(held: str, longest: int) -> Verdict:
    """Judge an open formula: it has no backtick, and a bounded length."""
    return Verdict.NONE if held[-1] == "`" or len(held) > longest else Verdict.OPEN


def _dollar(held: str, before: str) -> Verdict:
    """$...$ on one line, as Pandoc has it, and only if it looks like mathematics."""
    inner, last = held[1:], held[-1]
    if not inner:
        return Verdict.NONE if before == "$" else Verdict.OPEN
    if _DOLLAR.search(inner[:-1]):
        return _closed_dollar(inner)
    # US$5, 5$ or: behind a letter or figure a formula must begin with a script or a command.
    glued = before.isalnum() and last not in "\\^_"
    if last == "\n" or (len(inner) == 1 and (last.isspace() or glued)):
        return Verdict.NONE
    if last == "$" and not inner.endswith("\\$"):
        return Verdict.NONE if inner[-2:-1].isspace() else Verdict.OPEN
    return Verdict.NONE if _is_text(inner) else _limited(held, LONGEST_INLINE)


def _closed_dollar(inner: str) -> Verdict:
    """Decide by the character behind a dollar whether it closes a formula."""
    content, following = inner[:-2], inner[-1]
    open_end = content.endswith(_OPEN_END) and len(content) > 1 and not _ESCAPED_END.search(content)
    opened, closed = (content.count(f"{brace}") - content.count(f"\\{brace}") for brace in "{}")
    glued = following.isdigit() or (following.isalpha() and not _STRONG.search(content))
    if glued or open_end or opened != closed or _ends_word(content):
        return Verdict.NONE
    return Verdict.CLOSED_BEFORE


def _is_text(inner: str) -> bool:
    """Return whether what follows a dollar cannot be mathematics: an amount, or words in a row."""
    if inner[-1] in '"“”' or (_SENTENCE.search(inner) and not inner.endswith("\\ ")):
        return True
    if inner[0].isdigit() and _ENDS_AMOUNT.match(inner):
        return True
    return not (inner[-1].isalpha() or inner[-1] == "}") and _ends_word(inner[:-1])


def _ends_word(text: str) -> bool:
    """Return whether text ends in a word that formulas do not have beside another term."""
    tail = text[-_LONGEST_TERM:]
    match = _WORD.search(tail)
    if not match or match[1] in _FUNCTIONS or not _BESIDE.search(tail):
        return False
    word = match[1].lower()
    is_word = word in _SMALL_WORDS or len(word) > 2
    return is_word and text.count("{") <= text.count("}")


def _until(held: str, longest: int, *, closed: object) -> Verdict:
    """Judge a formula with an end of its own, in which no paragraph may end."""
    if closed:
        return Verdict.CLOSED
    return Verdict.NONE if held.endswith("\n\n") else _limited(held, longest)


def _display(held: str) -> Verdict:
    closed = len(held) > 4 and held.endswith("$$") and held[-3] != "\\"
    if not closed and (held == "$$$" or (len(held) > 3 and _is_text(held[2:]))):
        return Verdict.NONE
    return _until(held, LONGEST_DISPLAY, closed=closed)


def _backslash(held: str, before: str) -> Verdict:
    if len(held) == 1:
        return Verdict.OPEN
    if held[1] == "(":
        return _until(held, LONGEST_INLINE, closed=held.endswith("\\)") and len(held) > 4)
    if held[1] == "[":
        return _until(held, LONGEST_DISPLAY, closed=held.endswith("\\]") and len(held) > 4)
    if not held[1].isalpha() or before in (":", "/"):
        return Verdict.NONE
    return _environment(held) if held.startswith("\\begin{") else _bare(held)


def _big(held: str) -> Verdict:
    """∫₀¹ x² dx, ∑_{i=1}^n i: it ends with its differential or its first term."""
    if len(held) > 1 and not _LIMITS.match(held[1]):
        return Verdict.NONE
    goes_on = held[-1].isalnum() or held[-1] in "_^{}()"
    if not goes_on and _BIG.fullmatch(held[:-1]):
        return Verdict.CLOSED_BEFORE
    return Verdict.NONE if held[-1] == "\n" else _limited(held, _LONGEST_BIG)


def _environment(held: str) -> Verdict:
    from engine.text.formulas import lexer

    begin = _BEGIN.match(held)
    name = begin[1] if begin else ""
    if begin and held[begin.end(1) : begin.end(1) + 1] and name not in lexer.ENVIRONMENTS:
        return Verdict.NONE
    ends = held.endswith("}") and re.search(rf"\\end\{{{name}\*?\}}$", held)
    return _until(held, LONGEST_DISPLAY, closed=ends)


def _bare(held: str) -> Verdict:
    r"""Judge a formula in plain text, such as \frac{a}{b}, up to a space outside of braces."""
    from engine.text.formulas import lexer

    name = _COMMAND.match(held)
    if name is None or name.end() == len(held):
        return _limited(held, LONGEST_INLINE)
    if name[1] not in lexer.COMMANDS or len(name[1]) == 1 or name[1] == "begin":
        return Verdict.NONE
    depth = held.count("{") - held.count("}")
    if depth > 0 and held[-1] == "\n":
        return Verdict.NONE
    if depth < 0 or (depth == 0 and (held[-1].isspace() or held[-1] in '.,;:!?)*"|$`')):
        return Verdict.CLOSED_BEFORE
    return _limited(held, LONGEST_INLINE)
