"""Read a formula in LaTeX: its tokens become parts, and these become spoken words.

Invariant: it ends for every text, whatever is missing or left over; nesting deeper than DEEPEST is
read as if it were empty. The words of a formula hold letters, hyphens and apostrophes alone, each
with at most one mark behind it; the last word has none.
"""

import re
from typing import Final

from engine.text.formulas import lexer, parts, scripts
from engine.text.formulas.lexer import Kind, Token
from engine.text.formulas.parts import Part, Role
from engine.text.rules import numbers, symbols
from engine.text.rules.numbers import NUMBER

DEEPEST: Final = 40  # groups within groups; recursion ends there

_DELIMITERS = (("$$", "$$"), ("\\[", "\\]"), ("\\(", "\\)"), ("$", "$"))
_PLAIN = re.compile(rf"[-+]?(?:{NUMBER})(?:\\?%|°)?|°")
_DEGREES = re.compile(r"\^(?:\\circ|\{\\circ\})")
_MARKS = ",;:"
_ROOTS = {"": "the square root", "2": "the square root", "3": "the cube root"}
_BARS = {
    **dict.fromkeys(("|", "lvert", "rvert", "vert"), "|"),
    **dict.fromkeys(("\\|", "Vert", "‖"), "‖"),
}
_ARROWS = frozenset({"to", "rightarrow", "mapsto", "→"})


def inner(formula: str) -> str:
    """Return the text between the delimiters; the entire text if it has none."""
    for opening, closing in _DELIMITERS:
        if formula.startswith(opening) and formula.endswith(closing):
            return formula[len(opening) : -len(closing)].strip()
    return formula


def as_text(formula: str) -> str:
    """Return a formula that is only a number or degrees as ordinary text; else ""."""
    text = _DEGREES.sub("°", inner(formula).replace("{,}", ","))
    return text.replace("\\", "") if _PLAIN.fullmatch(text) else ""


def words(formula: str) -> list[str]:
    """Return the spoken words of a formula with its delimiters; there may be none."""
    said: list[str] = []
    for word in parts.words(read(inner(formula))):
        body = word.rstrip(_MARKS)
        letters = symbols.speakable_letters(body)
        if letters:
            said.append(letters + word[len(body) :][:1])
        elif said and word[len(body) :]:
            said[-1] = said[-1].rstrip(_MARKS) + word[-1]
    if said:
        said[-1] = said[-1].rstrip(_MARKS)
    return said


def read(text: str, *, upright: bool = False, depth: int = 0) -> list[Part]:
    """Return the parts of a formula, `upright` with words, inside of `depth` other groups."""
    return _Parser(lexer.tokens(text, upright=upright), depth).sequence()


class _Parser:
    """One per formula or part of one with its own letters."""

    def __init__(self, found: list[Token], depth: int) -> None:
        self._tokens = found
        self._place = 0
        self._depth = depth
        self._closers: list[str] = []  # of the brackets that are open, the innermost last
        self._closed = True  # the last bracket that was read has its end

    def sequence(self) -> list[Part]:
        """Read the parts up to the end of the open group or bracket; the end itself stays."""
        found: list[Part] = []
        while (token := self._peek()) is not None and not self._is_end(token):
            before = found[-1] if found else None
            base = self._atom(before)
            if base is None:
                continue
            part = self._with_scripts(base)
            if part.role is Role.OPERATOR and part.raw == "/" and before and before.is_value:
                base = self._atom(before) if self._peek() is not None else None
                found[-1] = parts.fraction([before], [self._with_scripts(base)] if base else [])
            else:
                found.append(part)
        return found

    def _peek(self) -> Token | None:
        return self._tokens[self._place] if self._place < len(self._tokens) else None

    def _follows(self, *texts: str) -> bool:
        """Return whether the next token is one of these."""
        following = self._peek()
        return following is not None and following.text in texts

    def _is_end(self, token: Token) -> bool:
        inner = self._closers[-1:]
        if inner and (token.kind, token.text) == (Kind.SIGN, "}"):
            return "}" in self._closers
        if inner == ["}"] or not inner or token.kind not in (Kind.SIGN, Kind.COMMAND):
            return False
        return inner[0] in (lexer.CLOSING.get(token.text), _BARS.get(token.text))

    def _inside(self, closer: str) -> list[Part]:
        """Read the parts up to a closing bracket, and the bracket itself."""
        self._closers.append(closer)
        self._depth += 1
        found: list[Part] = []
        if self._depth < DEEPEST:
            found = self.sequence()
        else:
            self._place = len(self._tokens)
        self._depth -= 1
        self._closers.pop()
        ending = self._peek()
        self._closed = ending is not None and (ending.text == "}") is (closer == "}")
        self._place += self._closed
        return found

    def _group(self, *, figure: bool = False) -> list[Part]:
        r"""Read an argument: a group in braces, or one part. `figure`: of \frac12, one figure."""
        token = self._peek()
        if figure and token is not None and token.kind is Kind.NUMBER and token.text.isdecimal():
            each = [Token(Kind.NUMBER, text) for text in (token.text[0], token.text[1:]) if text]
            self._tokens[self._place : self._place + 1] = each
        while (token := self._peek()) is not None and token.kind is Kind.SPACE:
            self._place += 1
        if token is None or self._is_end(token):
            return []
        if token.kind is Kind.SIGN and token.text == "{":
            self._place += 1
            return self._inside("}")
        self._depth += 1
        part = self._atom(None) if self._depth < DEEPEST else None
        self._depth -= 1
        return [part] if part else []

    def _option(self) -> list[Part]:
        """Read an argument in square brackets, if there is one."""
        if not self._follows("["):
            return []
        self._place += 1
        return self._inside(")")

    def _atom(self, before: Part | None) -> Part | None:
        """Read the next part without its scripts; None if it is silent."""
        token = self._tokens[self._place]
        self._place += 1
        match token.kind:
            case Kind.COMMAND:
                return self._command(token.text, before)
            case Kind.SIGN:
                return self._sign(token.text, before)
            case Kind.ENVIRONMENT:
                return scripts.environment(token, lambda text: read(text, depth=self._depth + 1))
            case Kind.SPACE:
                return None
            case Kind.RAW:
                return self._unit(token.text.strip(), before) or parts.plain_text(
                    token.text, before
                )
            case Kind.NUMBER:
                return parts.operand(numbers.number(token.text), token.text, role=Role.NUMBER)
            case Kind.LETTER | Kind.WORD:
                role = Role.LETTER if token.kind is Kind.LETTER else Role.OPERAND
                return parts.operand(parts.letter(token.text), token.text, role=role)

    def _sign(self, sign: str, before: Part | None) -> Part | None:
        if bar := _BARS.get(sign):
            return self._bar(bar, before)
        if sign in lexer.OPENING:
            return self._bracket(sign, lexer.OPENING[sign], before)
        if sign == "{":
            return parts.joined(self._inside("}"))
        if sign in ("^", "_"):  # a script with nothing before it
            self._place -= 1
            return parts.operand("")
        if sign in (",", ";", "\\\\", ":", "."):
            return self._mark(sign, before)
        return parts.known(sign) or parts.sign(sign)

    def _mark(self, sign: str, before: Part | None) -> Part | None:
        if sign == ":" and self._follows("="):
            self._place += 1
            return _relation("is defined as", ":=")
        if sign == ":" and self._closers[-1:] == ["set"]:
            return _relation("such that", ":")
        if sign == ":" and before and self._is_ratio(before):
            return _relation("to", ":")
        return Part((), Role.PAUSE, ";" if sign == "\\\\" else ",")

    def _is_ratio(self, before: Part) -> bool:
        """Return whether a colon means a ratio, as in 3:1 and a:b. It does not in f: A → B."""
        following = self._peek()
        if following is None or following.kind not in (Kind.NUMBER, Kind.LETTER):
            return False
        named = before.role is Role.LETTER and before.raw.isalpha()
        maps = any(token.text in _ARROWS for token in self._tokens[self._place :])
        return before.role is Role.NUMBER or (named and not maps)

    def _bar(self, bar: str, before: Part | None) -> Part | None:
        """Read a bar: an absolute value, a norm, or "given" or "such that" behind a value."""
        if before is not None and self._follows("_", "^"):
            return _relation("evaluated", scripts.EVALUATED)
        if before is None or not before.is_value or self._comes_again(bar):
            return self._enclosed(bar)
        if self._closers:
            return _relation("such that" if self._closers[-1] == "set" else "given", "|")
        return _relation("divides" if bar == "|" else "parallel to", "|")

    def _comes_again(self, bar: str) -> bool:
        """Return whether the same bar stands once more before the bracket around it ends."""
        depth = 0
        for token in self._tokens[self._place :]:
            if token.kind not in (Kind.SIGN, Kind.COMMAND):
                continue
            if _BARS.get(token.text) == bar and depth == 0:
                return True
            depth += token.text in lexer.OPENING or token.text == "{"
            depth -= token.text in lexer.CLOSING or token.text == "}"
            if depth < 0:
                return False
        return False

    def _enclosed(self, kind: str) -> Part:
        inner = self._inside(kind)
        said = (*lexer.ENCLOSED[kind].split(), *parts.words(inner))
        return Part(said, Role.OPERAND, f"|{parts.raw(inner)}|", parts.is_long(inner), open=True)

    def _bracket(self, sign: str, closer: str, before: Part | None) -> Part | None:
        if closer in lexer.ENCLOSED:
            return self._enclosed(closer)
        inner = self._inside(closer)
        said, role, opened = parts.words(inner), Role.OPERAND, False
        pauses = [place for place, part in enumerate(inner) if part.role is Role.PAUSE]
        if closer == "set":
            such = any(part.words[:1] == ("such",) for part in inner)
            lead = ("the", "set", "of") if such else ("the", "set")
            said = (*lead, *said) if self._closed else said  # else a brace that only spans lines
        elif len(pauses) == 1 and (sign == "[" or (before and before.raw in ("\\in", "∈"))):
            low, high = inner[: pauses[0]], inner[pauses[0] + 1 :]
            said = ("the", "interval", "from", *parts.words(low), "to", *parts.words(high))
        else:
            role, opened = Role.GROUP, any(part.open for part in inner)
        return Part(said, role, f"({parts.raw(inner)})", parts.is_long(inner), opened)

    def _command(self, name: str, before: Part | None) -> Part | None:
        match name:
            case "frac" | "dfrac" | "tfrac" | "cfrac":
                return parts.fraction(self._group(figure=True), self._group(figure=True))
            case "sqrt":
                return self._root()
            case "sim":
                return self._similar(before)
            case "binom" | "dbinom" | "tbinom":
                top, bottom = self._group(), self._group()
                said = (*parts.words(top), "choose", *parts.words(bottom))
                return Part(said, Role.OPERAND, "", parts.is_long([*top, *bottom]))
            case "textcolor":
                self._group()
                return parts.joined(self._group())
            case "overset" | "underset" | "stackrel":
                mark, base = self._group(), parts.joined(self._group())
                if base is None or base.role is Role.RELATION:
                    return base
                return Part((*base.words, *parts.words(mark)), base.role, base.raw, base.long)
            case "pmod":
                return Part(("mod", *parts.words(self._group())), Role.OPERATOR, name)
            case "xrightarrow" | "xleftarrow":
                self._option()
                self._group()
                return _relation("to" if name == "xrightarrow" else "from", name)
        return self._word(name, before)

    def _word(self, name: str, before: Part | None) -> Part | None:
        """Read a command that stands for words, or gives its group another look."""
        bar = "|" if name == "mid" and self._closers else _BARS.get(name)
        if bar:
            return self._bar(bar, before)
        if name == "not":
            return self._not(before)
        if name in lexer.ROMAN:
            return self._upright(before)
        if name in lexer.OPENING:
            return self._bracket(name, lexer.OPENING[name], before)
        if name in lexer.FONTS:
            return parts.joined(self._group())
        if name in lexer.ACCENTS:
            inner = parts.joined(self._group()) or parts.operand("")
            accent = lexer.ACCENTS[name].split()
            leads = name in lexer.LEADING_ACCENTS
            said = (*accent, *inner.words) if leads else (*inner.words, *accent)
            return Part(said, inner.role, inner.raw, inner.long)
        if name in lexer.WITHOUT_GROUP:
            self._group()
            return None
        unknown = parts.operand(symbols.speakable_letters(name), f"\\{name}")
        return parts.known(name) or unknown

    def _similar(self, before: Part | None) -> Part:
        """Read the sign of similarity: "about" before a number, "follows" before a distribution."""
        ahead = self._tokens[self._place : self._place + 6]
        if ahead and ahead[0].kind is Kind.NUMBER:
            return _relation("is about" if before else "about", "\\sim")
        follows = any(token.text == "(" for token in ahead)
        return _relation("follows" if follows else "is similar to", "\\sim")

    def _with_scripts(self, base: Part) -> Part:
        index: list[Part] = []
        power: list[Part] = []
        primes = 0
        while (token := self._peek()) is not None and token.text in ("^", "_", "'"):
            self._place += 1
            if token.text == "'":
                primes += 1
            elif token.text == "_":
                index = self._index()
            else:
                power = self._group()
        if power and all(part.raw in ("\\prime", "'") for part in power):
            primes, power = primes + len(power), []
        if not (index or power or primes):
            return base
        found = scripts.Scripts(tuple(index), tuple(power), primes, self._follows("("))
        return found.attached_to(base)

    def _index(self) -> list[Part]:
        """Read an index, in which shorter runs of letters are words, and some words are names."""
        start = self._place
        group = self._group()
        if self._has_run(start):
            group = read(self._source(start), upright=True, depth=self._depth + 1)
        name = group[0].raw.removeprefix("\\") if len(group) == 1 else ""
        return [parts.operand(name)] if name in scripts.EXTREMES else group

    def _source(self, start: int) -> str:
        return lexer.source(self._tokens[start : self._place])

    def _has_run(self, start: int) -> bool:
        """Return whether three letters follow each other since a place."""
        kinds = [token.kind for token in self._tokens[start : self._place]]
        return any(kinds[i : i + 3] == [Kind.LETTER] * 3 for i in range(len(kinds) - 2))

    def _root(self) -> Part:
        option, inner = self._option(), self._group()
        lead = _ROOTS.get(parts.raw(option))
        root = lead.split() if lead else ["the", *parts.ordinal(parts.words(option)), "root"]
        said = (*root, "of", *parts.words(inner))
        return Part(said, Role.OPERAND, f"root{parts.raw(inner)}", parts.is_long(inner), open=True)

    def _not(self, before: Part | None) -> Part | None:
        part = self._atom(before) if self._peek() is not None else None
        if part is None:
            return None
        said = ("is", "not", *part.words[1:]) if part.words[:1] == ("is",) else ("not", *part.words)
        return Part(("is", "not", "equal", "to") if part.raw == "=" else said, part.role, part.raw)

    def _upright(self, before: Part | None) -> Part | None:
        start = self._place
        group = self._group()
        source = self._source(start)
        if unit := self._unit(source, before):
            return unit
        name = source.strip("{} ")
        if name in lexer.FUNCTIONS or name in lexer.BIG:
            return parts.known(name)
        if self._has_run(start):
            group = read(source, upright=True, depth=self._depth + 1)
        return parts.joined(group)

    def _unit(self, source: str, before: Part | None) -> Part | None:
        """Read a unit with the square or the cube behind it."""
        ahead = "".join(token.text for token in self._tokens[self._place : self._place + 4])
        power = re.match(r"\^(?:\{([23])\}|([23]))", ahead)
        figure = f"^{power[1] or power[2]}" if power else ""
        unit = parts.unit(source + figure, before)
        if unit and power:
            self._place += 4 if power[1] else 2
        return unit


def _relation(said: str, source: str) -> Part:
    return Part(tuple(said.split()), Role.RELATION, source)
