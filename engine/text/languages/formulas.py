"""Formulas in LaTeX in the languages other than English: common operators by the language's words,
letters and figures as they are. Matrices, bounds and accents have no words of their own.
"""

import re
import unicodedata

from engine.text.formulas import lexer, parser
from engine.text.languages.readings import TableReadings
from engine.text.languages.vocabulary import Vocabulary, vocabulary
from engine.text.rules.context import Context

_GROUP = r"\{([^{}]*)\}"
_STRUCTURES = (  # a name between pointed brackets stands for its word
    (rf"\\(?:text|mathrm|mathbf|mathbb|mathit|operatorname)\s*{_GROUP}", r" \1 "),
    (rf"\\[dt]?frac\s*{_GROUP}\s*{_GROUP}", r" \1 <over> \2 "),
    (rf"\\sqrt\s*\[3\]\s*{_GROUP}", r" <cube_root> \1 "),
    (rf"\\sqrt\s*{_GROUP}", r" <root> \1 "),
    (r"\^\s*(?:\{\s*2\s*\}|2)", " <squared> "),
    (r"\^\s*(?:\{\s*3\s*\}|3)", " <cubed> "),
    (r"\^\s*(?:\{\s*\\circ\s*\}|\\circ\b)", r" \\circ "),
    (rf"\^\s*(?:{_GROUP}|(\w))", r" <power> \1\2 "),
    (rf"_\s*(?:{_GROUP}|(\w))", r" \1\2 "),
)
_COMMAND = re.compile(r"\\([a-zA-Z]+)|\\(.)|(?<=[\d\w)}])([-−+=<>/])(?=[\d\w({\\])")
_PRODUCT = re.compile(r"(?<![\\A-Za-z{])(?!(?:sin|cos|tan|log|ln|lim)\b)[A-Za-z]{2,3}(?![A-Za-z])")
_FACTOR = re.compile(r"(?<=\d)(?=[^\W\d_])")
_MINUS = re.compile(r"(?<!\S)[-−](?!\S)")
_DEEPEST = 20  # groups within groups


def words(formula: str, language: str) -> tuple[str, ...]:
    """Return the spoken words of a formula with its delimiters; there may be none."""
    table, readings = vocabulary(language), TableReadings(language)
    text, before = _PRODUCT.sub(lambda match: " ".join(match[0]), parser.inner(formula)), ""
    for _ in range(_DEEPEST):  # the innermost groups first
        if text == before:
            break
        before = text
        for pattern, replacement in _STRUCTURES:
            said = re.sub(r"<(\w+)>", lambda match: table.say(match[1]), replacement)
            text = re.sub(pattern, said, text)
    text = _COMMAND.sub(lambda match: f" {_command(match, table)} ", text)
    text = _MINUS.sub(table.say("minus"), _FACTOR.sub(" ", text))
    return tuple(word for token in text.split() for word in readings.read(token, Context()).words)


def _command(match: re.Match[str], table: Vocabulary) -> str:
    """Return the word of a command or a sign; a Greek letter has its name in the language."""
    command = match[1]
    if not command:
        return match[2] or match[3]
    if command in lexer.SILENT or command in lexer.PAUSES:
        return ""
    letter = command.removeprefix("var").upper().replace("LAMBDA", "LAMDA")
    try:
        greek = table.section("greek").get(unicodedata.lookup(f"GREEK SMALL LETTER {letter}"))
    except KeyError:
        greek = None
    return table.section("latex").get(command) or greek or command
