"""Formulas in LaTeX in the languages other than English: common operators by the language's words,
letters and figures as they are. Matrices, bounds and accents have no words of their own.
"""

import re
import unicodedata

from engine.text.formulas import commands, speech
from engine.text.languages.numbers import NUMBER, Numbers
from engine.text.languages.vocabulary import vocabulary

_GROUP = r"\{([^{}]*)\}"
_TEXT = re.compile(rf"\\(?:text|mathrm|mathbf|mathbb|operatorname|mathit)\s*{_GROUP}")
_FRACTION = re.compile(rf"\\[dt]?frac\s*{_GROUP}\s*{_GROUP}")
_ROOT = re.compile(rf"\\sqrt\s*(?:\[(\w+)\])?\s*{_GROUP}")
_POWER = re.compile(rf"\^\s*(?:{_GROUP}|(\w))")
_INDEX = re.compile(rf"_\s*(?:{_GROUP}|(\w))")
_TOKEN = re.compile(rf"\\([a-zA-Z]+)|{NUMBER}|[^\W\d_](?:[^\W\d_]|['-](?=[^\W\d_]))*|\S")
_POWERS = {"2": "squared", "3": "cubed"}
_DEEPEST = 20


def words(formula: str, language: str) -> tuple[str, ...]:
    """Return the spoken words of a formula with its delimiters; there may be none."""
    n = Numbers(vocabulary(language))
    text = speech.inner(formula)
    for _ in range(_DEEPEST):  # the innermost groups first
        simpler = _simpler(text, n)
        if simpler == text:
            break
        text = simpler
    said = [_token(match, n) for match in _TOKEN.finditer(text)]
    return tuple(word for part in said for word in part.split() if any(map(str.isalpha, word)))


def _simpler(text: str, n: Numbers) -> str:
    say = n.words.say

    def root(match: re.Match[str]) -> str:
        return f" {say('cube_root' if match[1] == '3' else 'root')} {match[2]} "

    def power(match: re.Match[str]) -> str:
        exponent = (match[1] or match[2] or "").strip()
        if exponent in (r"\circ", "°"):
            return r" \circ "
        if exponent in _POWERS:
            return f" {say(_POWERS[exponent])} "
        return f" {say('power')} {exponent} "

    text = _TEXT.sub(r" \1 ", text)
    text = _FRACTION.sub(rf" \1 {say('over')} \2 ", text)
    text = _POWER.sub(power, _ROOT.sub(root, text))
    return _INDEX.sub(lambda match: f" {match[1] or match[2] or ''} ", text)


def _token(match: re.Match[str], n: Numbers) -> str:
    token, command = match[0], match[1]
    if command:
        if command in commands.SILENT or command in commands.PAUSES:
            return ""
        return n.words.section("latex").get(command) or _greek(command, n)
    if token[0].isdecimal():
        return n.say(token)
    if token[0].isalpha():
        return n.words.section("greek").get(token.lower(), token)
    if token in "-−":
        return n.words.say("minus")
    if token == "%":
        return n.words.forms("units", "%")[1]
    return n.words.section("signs").get(token, "")


def _greek(command: str, n: Numbers) -> str:
    """Return the name of a Greek letter, or the command itself."""
    name = command.removeprefix("var").upper().replace("LAMBDA", "LAMDA")
    try:
        letter = unicodedata.lookup(f"GREEK SMALL LETTER {name}")
    except KeyError:
        return command
    return n.words.section("greek").get(letter, command)
