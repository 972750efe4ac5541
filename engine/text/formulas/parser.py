"""Read the tokens of a formula into parts.

Invariant: it ends for every text, whatever is missing or left over; nesting deeper than DEEPEST is
read as if it were empty.
"""

from collections.abc import Callable
from typing import Final

from engine.text.formulas import commands, lexer, ordinary, parts, rows, scripts
from engine.text.formulas.lexer import Kind, Token
from engine.text.formulas.parts import Part, Role

DEEPEST: Final = 40  # groups within groups; recursion ends there

_ROOTS = {"": "the square root", "2": "the square root", "3": "the cube root"}
_BARS = {
    **dict.fromkeys(("|", "lvert", "rvert", "vert"), "|"),
    **dict.fromkeys(("\\|", "Vert", "‖"), "‖"),
}


def read(text: str, *, upright: bool = False, depth: int = 0) -> list[Part]:
    """Return the parts of a formula without its delimiters. `upright`: its letters form words.
    `depth`: the number of groups around it.
    """
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
            part = self._with_scripts(base, before)
            if part.role is Role.OPERATOR and part.raw == "/" and before and before.is_value:
                base = self._atom(before) if self._peek() is not None else None
                bottom = [self._with_scripts(base, before)] if base else []
                found[-1] = parts.fraction([before], bottom)
            else:
                found.append(part)
        return found

    def _peek(self) -> Token | None:
        return self._tokens[self._place] if self._place < len(self._tokens) else None

    def _is_end(self, token: Token) -> bool:
        inner = self._closers[-1:]
        if inner and (token.kind, token.text) == (Kind.SIGN, "}"):
            return "}" in self._closers
        if inner == ["}"] or not inner or token.kind not in (Kind.SIGN, Kind.COMMAND):
            return False
        return inner[0] in (commands.CLOSING.get(token.text), _BARS.get(token.text))

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
        if self._closed:
            self._place += 1
        return found

    def _group(self) -> list[Part]:
        """Read an argument: a group in braces, or one part."""
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

    def _digit_or_group(self) -> list[Part]:
        r"""Read an argument of \frac12: a group in braces, or else a single figure."""
        token = self._peek()
        if token is not None and token.kind is Kind.NUMBER and token.text.isdecimal():
            rest = [Token(Kind.NUMBER, token.text[1:])] if len(token.text) > 1 else []
            first = Token(Kind.NUMBER, token.text[0])
            self._tokens[self._place : self._place + 1] = [first, *rest]
        return self._group()

    def _option(self) -> list[Part] | None:
        """Read an argument in square brackets; None if there is none."""
        token = self._peek()
        if token is None or token.text != "[":
            return None
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
                return rows.part(token, lambda text: read(text, depth=self._depth + 1))
            case Kind.SPACE:
                return None
            case Kind.RAW:
                return self._unit(token.text.strip(), before) or ordinary.part(token.text, before)
            case Kind.NUMBER:
                return ordinary.number(token.text)
            case Kind.LETTER | Kind.WORD:
                role = Role.LETTER if token.kind is Kind.LETTER else Role.OPERAND
                return parts.operand(ordinary.letter(token.text), token.text, role=role)

    def _sign(self, sign: str, before: Part | None) -> Part | None:
        if bar := _BARS.get(sign):
            return self._bar(bar, before)
        if sign in commands.OPENING:
            return self._bracket(sign, commands.OPENING[sign], before)
        if sign == "{":
            return parts.joined(self._inside("}"))
        if sign in ("^", "_"):  # a script with nothing before it
            self._place -= 1
            return parts.operand("")
        if sign in (",", ";", "\\\\", ":", "."):
            return self._mark(sign, before)
        return ordinary.known(sign) or ordinary.sign(sign)

    def _mark(self, sign: str, before: Part | None) -> Part | None:
        following = self._peek()
        if sign == ":" and following and following.text == "=":
            self._place += 1
            return Part(("is", "defined", "as"), Role.RELATION, ":=")
        if sign == ":" and self._closers[-1:] == ["set"]:
            return Part(("such", "that"), Role.RELATION, ":")
        if sign == ":" and before and self._is_ratio(before):
            return Part(("to",), Role.RELATION, ":")
        return parts.pause(";" if sign == "\\\\" else ",")

    def _is_ratio(self, before: Part) -> bool:
        """Return whether a colon means a ratio, as in 3:1 and a:b. It does not in f: A → B."""
        following = self._peek()
        if following is None or following.kind not in (Kind.NUMBER, Kind.LETTER):
            return False
        arrows = {"to", "rightarrow", "mapsto", "→"}
        named = before.role is Role.LETTER and before.raw.isalpha()
        maps = any(token.text in arrows for token in self._tokens[self._place :])
        return before.role is Role.NUMBER or (named and not maps)

    def _bar(self, bar: str, before: Part | None) -> Part | None:
        """Read a bar: an absolute value, a norm, or "given" or "such that" after a value in
        brackets.
        """
        if before is not None and (following := self._peek()) and following.text in ("_", "^"):
            return Part(("evaluated",), Role.RELATION, scripts.EVALUATED)
        if before is None or not before.is_value or self._comes_again(bar):
            return self._enclosed(bar)
        if self._closers[-1:] == ["set"]:
            return Part(("such", "that"), Role.RELATION, "|")
        if self._closers:
            return Part(("given",), Role.RELATION, "|")
        return Part(("divides",) if bar == "|" else ("parallel", "to"), Role.RELATION, "|")

    def _comes_again(self, bar: str) -> bool:
        """Return whether the same bar stands once more before the bracket around it ends."""
        depth = 0
        for token in self._tokens[self._place :]:
            if token.kind not in (Kind.SIGN, Kind.COMMAND):
                continue
            if _BARS.get(token.text) == bar and depth == 0:
                return True
            depth += token.text in commands.OPENING or token.text == "{"
            depth -= token.text in commands.CLOSING or token.text == "}"
            if depth < 0:
                return False
        return False

    def _enclosed(self, kind: str) -> Part:
        inner = self._inside(kind)
        said = (*commands.ENCLOSED[kind].split(), *parts.words(inner))
        return Part(said, Role.OPERAND, f"|{parts.raw(inner)}|", parts.is_long(inner), open=True)

    def _bracket(self, sign: str, closer: str, before: Part | None) -> Part | None:
        if closer in commands.ENCLOSED:
            return self._enclosed(closer)
        inner = self._inside(closer)
        said, source = parts.words(inner), f"({parts.raw(inner)})"
        if closer == "set":
            if not self._closed:  # a brace that only spans lines
                return Part(said, Role.OPERAND, source, parts.is_long(inner))
            such = any(part.words[:1] == ("such",) for part in inner)
            lead = ("the", "set", "of") if such else ("the", "set")
            return Part((*lead, *said), Role.OPERAND, source, parts.is_long(inner))
        commas = sum(part.role is Role.PAUSE for part in inner)
        if commas == 1 and (sign == "[" or (before and before.raw in ("\\in", "∈"))):
            low, high = parts.halves(inner)
            said = ("the", "interval", "from", *parts.words(low), "to", *parts.words(high))
            return Part(said, Role.OPERAND, source, parts.is_long(inner))
        opened = any(part.open for part in inner)
        return Part(said, Role.GROUP, source, parts.is_long(inner), opened)

    def _command(self, name: str, before: Part | None) -> Part | None:
        structure = self._STRUCTURES.get(name)
        if structure:
            return structure(self, name, before)
        bar = "|" if name == "mid" and self._closers else _BARS.get(name)
        if bar:
            return self._bar(bar, before)
        if name in commands.OPENING:
            return self._bracket(name, commands.OPENING[name], before)
        if name in commands.FONTS:
            return parts.joined(self._group())
        if name in commands.ACCENTS:
            return self._accent(name)
        if name in commands.WITHOUT_GROUP:
            self._group()
            return None
        return ordinary.known(name) or ordinary.unknown(name)

    def _similar(self, name: str, before: Part | None) -> Part:
        """Read the sign of similarity: "about" before a number, "follows" before a distribution,
        otherwise "is similar to".
        """
        ahead = self._tokens[self._place : self._place + 6]
        said: tuple[str, ...] = ("is", "similar", "to")
        if ahead and ahead[0].kind is Kind.NUMBER:
            said = ("is", "about") if before else ("about",)
        elif any(token.text == "(" for token in ahead):
            said = ("follows",)
        return Part(said, Role.RELATION, "\\sim")

    def _with_scripts(self, base: Part, before: Part | None) -> Part:
        index: list[Part] = []
        power: list[Part] = []
        primes = 0
        while (token := self._peek()) is not None and token.text in ("^", "_", "'"):
            self._place += 1
            if token.text == "'":
                primes += 1
            elif token.text == "_":
                index = self._script(upright=True)
            else:
                power = self._script(upright=False)
        if len(power) and all(part.raw in ("\\prime", "'") for part in power):
            primes, power = primes + len(power), []
        if not (index or power or primes):
            return base
        called = (following := self._peek()) is not None and following.text == "("
        return scripts.attach(base, scripts.Scripts(tuple(index), tuple(power), primes, called))

    def _script(self, *, upright: bool) -> list[Part]:
        """Read an index or an exponent. Shorter runs of letters are words in an index."""
        start = self._place
        group = self._group()
        if not upright or not self._has_run(start):
            return group
        return read(
            lexer.source(self._tokens[start : self._place]), upright=True, depth=self._depth + 1
        )

    def _has_run(self, start: int) -> bool:
        """Return whether three letters follow each other since a place."""
        kinds = [token.kind for token in self._tokens[start : self._place]]
        run = [Kind.LETTER] * 3
        return any(kinds[i : i + 3] == run for i in range(len(kinds) - 2))

    def _accent(self, name: str) -> Part:
        inner = parts.joined(self._group()) or parts.operand("")
        accent = commands.ACCENTS[name].split()
        leads = name in commands.LEADING_ACCENTS
        said = (*accent, *inner.words) if leads else (*inner.words, *accent)
        return Part(said, inner.role, inner.raw, inner.long)

    def _fraction(self, name: str, before: Part | None) -> Part:
        return parts.fraction(self._digit_or_group(), self._digit_or_group())

    def _root(self, name: str, before: Part | None) -> Part:
        option = self._option() or []
        inner = self._group()
        lead = _ROOTS.get(parts.raw(option))
        root = lead.split() if lead else ["the", *parts.ordinal(parts.words(option)), "root"]
        said = (*root, "of", *parts.words(inner))
        return Part(said, Role.OPERAND, f"root{parts.raw(inner)}", parts.is_long(inner), open=True)

    def _choose(self, name: str, before: Part | None) -> Part:
        top, bottom = self._group(), self._group()
        said = (*parts.words(top), "choose", *parts.words(bottom))
        return Part(said, Role.OPERAND, "", parts.is_long([*top, *bottom]))

    def _second_of_two(self, name: str, before: Part | None) -> Part | None:
        self._group()
        return parts.joined(self._group())

    def _above_and_below(self, name: str, before: Part | None) -> Part | None:
        mark, base = self._group(), parts.joined(self._group())
        if base is None or base.role is Role.RELATION:
            return base
        return Part((*base.words, *parts.words(mark)), base.role, base.raw, base.long)

    def _modulo(self, name: str, before: Part | None) -> Part:
        return Part(("mod", *parts.words(self._group())), Role.OPERATOR, name)

    def _arrow(self, name: str, before: Part | None) -> Part:
        self._option()
        self._group()
        return Part(("to",) if name == "xrightarrow" else ("from",), Role.RELATION, name)

    def _not(self, name: str, before: Part | None) -> Part | None:
        part = self._atom(before) if self._peek() is not None else None
        if part is None:
            return None
        said = ("is", "not", *part.words[1:]) if part.words[:1] == ("is",) else ("not", *part.words)
        return Part(("is", "not", "equal", "to") if part.raw == "=" else said, part.role, part.raw)

    def _upright(self, name: str, before: Part | None) -> Part | None:
        start = self._place
        group = self._group()
        source = lexer.source(self._tokens[start : self._place])
        if unit := self._unit(source, before):
            return unit
        name = source.strip("{} ")
        if name in commands.FUNCTIONS or name in commands.BIG:
            return ordinary.known(name)
        if not self._has_run(start):
            return parts.joined(group)
        return parts.joined(read(source, upright=True, depth=self._depth + 1))

    def _unit(self, source: str, before: Part | None) -> Part | None:
        ahead = "".join(token.text for token in self._tokens[self._place : self._place + 4])
        braced = ahead.startswith(("^{2}", "^{3}"))
        power = ahead.startswith(("^2", "^3")) or braced  # the square or the cube after a unit
        figure = ahead.lstrip("^{")[:1] if power else ""
        unit = ordinary.unit(f"{source}^{figure}" if power else source, before)
        if unit and power:
            self._place += 4 if braced else 2
        return unit

    _STRUCTURES: Final[dict[str, Callable[["_Parser", str, Part | None], Part | None]]] = {
        **dict.fromkeys(("frac", "dfrac", "tfrac", "cfrac"), _fraction),
        "sqrt": _root,
        "sim": _similar,
        **dict.fromkeys(("binom", "dbinom", "tbinom"), _choose),
        "textcolor": _second_of_two,
        **dict.fromkeys(("overset", "underset", "stackrel"), _above_and_below),
        "pmod": _modulo,
        **dict.fromkeys(("xrightarrow", "xleftarrow"), _arrow),
        "not": _not,
        **dict.fromkeys(commands.ROMAN, _upright),
    }
