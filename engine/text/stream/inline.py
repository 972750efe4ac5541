"""Removes from one token the marks of inline markdown, HTML and LaTeX, and the characters that
cannot be spoken.

Invariant: every character that stays keeps its place in the reply.
"""

import html
import re
import unicodedata

from engine.text.rules.numbers import UNICODE_FRACTIONS
from engine.text.stream.piece import Piece

_EMOTICON = re.compile(
    r"[:;]['^o-]?[)(DPpOo/\\|*3]+|=[)(DP]+|8-\)|<3+|\^_+\^|[xX]D+|:'\(|¯\\?_\(ツ\)_/¯|\(:|:[a-z][a-z0-9_+-]*:"
)
_ENTITY = re.compile(r"&(?:#\d{1,6}|#[xX][0-9a-fA-F]{1,5}|[a-zA-Z]{2,8});")
_BREAK_TAG = re.compile(r"<(?:br|hr|p|/p|li|/li)\s*/?>", re.IGNORECASE)
_TAG = re.compile(
    r"</?(?:a|abbr|b|code|details|div|em|font|h[1-6]|i|img|kbd|mark|ol|pre|s|small|span|strong|sub|"
    r"summary|sup|table|tbody|td|th|thead|think|tr|u|ul)(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_QUOTED_TAG = re.compile(r"</?([a-zA-Z][a-zA-Z0-9]*)/?>")
_AUTOLINK = re.compile(r"<((?:https?://|mailto:)[^<>]+|[^<>@\s]+@[^<>@\s]+)>")
_IMAGE = re.compile(r"!(?=\[)")
_TARGET = re.compile(r"\]\([^()]*(?:\([^()]*\)[^()]*)*\)")
_REFERENCE = re.compile(
    r"\]\[[^\]\[]*\]|\[\^[^\]]*\]|(?<=[^\W\d_.,!?;:\"”')])?\[\d{1,3}\](?:\(\))?"
)
_LATEX_DELIMITER = re.compile(r"\\[()\[\]]|\$\$")
_LATEX_FRACTION = re.compile(r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}")
_LATEX_ROOT = re.compile(r"\\sqrt\{([^{}]*)\}")
_LATEX_TEXT = re.compile(r"\\(?:text|mathrm|mathbf|mathit|boxed)\{([^{}]*)\}")
_LATEX_COMMAND = re.compile(r"\\([a-zA-Z]+)(?=[^a-zA-Z]|$)")
_LATEX_WORDS = {
    "times": "times", "cdot": "times", "div": "divided by", "pm": "plus or minus",
    "approx": "is about", "leq": "is at most", "le": "is at most",
    "geq": "is at least", "ge": "is at least",
    "neq": "is not equal to", "ne": "is not equal to", "infty": "infinity", "to": "to",
    "rightarrow": "to", "sum": "the sum of", "int": "the integral of", "sqrt": "the square root of",
    "ldots": "and so on", "dots": "and so on", "quad": "", "left": "", "right": "",
    "displaystyle": "", "text": "", "circ": "degrees", "percent": "percent",
    "Delta": "delta", "Sigma": "sigma",
    "Omega": "omega", "Pi": "pi", "Gamma": "gamma", "Phi": "phi", "Theta": "theta",
}  # fmt: skip
_ESCAPE = re.compile(r"\\([\\`*_{}#+.!|~>$%&<-])")
_EMPHASIS = re.compile(r"(?<!\d)\*\*|\*\*(?!\d)|__+|~~|`+")
_POWER = re.compile(r"(?<=\d)\*\*(?=\d)")
_STAR = re.compile(r"(?<![^\W_])[*_](?=.)|(?<=.)[*_](?![^\W_])")
_UNDERSCORE = re.compile(r"(?<=[^\W_])_+(?=[^\W_])")
_FOREIGN = {
    "’": "'", "‘": "'", "ʼ": "'", "`": "'", "´": "'", "‐": "-", "‑": "-", "−": "-", "⁄": "/",
    "。": ". ", "、": ", ", "，": ", ", "？": "? ", "！": "! ", "：": ": ", "；": "; ", "№": "No. ",
    "؟": "?", "،": ",", "؛": ";", "۔": ".", "।": ".", "॥": ".",
}  # fmt: skip
_TO_TRANSLATE = re.compile("[" + "".join(_FOREIGN) + "]")
_SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+", strict=True))
_EXPONENT = re.compile("[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")


def plain_pieces(piece: Piece) -> list[Piece]:
    """What is left of a token, in pieces without white space; none for an emoji or a mark alone."""
    if _EMOTICON.fullmatch(piece.text):
        return []
    quoted = "`" in piece.text
    piece = piece.replace(_ENTITY, lambda match: html.unescape(match[0]))
    piece = _without_latex(piece)
    piece = piece.replace(_AUTOLINK, lambda match: match[1])
    if quoted:
        piece = piece.replace(_QUOTED_TAG, lambda match: f" {match[1]} ")
    else:
        piece = piece.replace(_BREAK_TAG, ", ").replace(_TAG, "")
    piece = _without_links(piece)
    piece = piece.replace(_ESCAPE, lambda match: match[1])
    if piece.text not in ("*", "**"):
        piece = _without_emphasis(piece)
    piece = piece.replace(_TO_TRANSLATE, lambda match: _FOREIGN[match[0]])
    return _sayable(piece).split()


def _without_links(piece: Piece) -> Piece:
    return piece.replace(_IMAGE, "").replace(_TARGET, "").replace(_REFERENCE, "")


def _without_emphasis(piece: Piece) -> Piece:
    if "://" in piece.text or "@" in piece.text:
        return piece.replace(re.compile(r"^[*_`]+|[*_`]+$|(?<=[.,;:!?])[*_`]+"), "")
    piece = piece.replace(_POWER, "^").replace(_EMPHASIS, "").replace(_STAR, "")
    return piece.replace(_UNDERSCORE, " ")


def _without_latex(piece: Piece) -> Piece:
    if "\\" not in piece.text and "$" not in piece.text:
        return piece
    piece = piece.replace(_LATEX_DELIMITER, "")
    piece = piece.replace(_LATEX_FRACTION, lambda match: f" {match[1]} over {match[2]} ")
    piece = piece.replace(_LATEX_ROOT, lambda match: f" the square root of {match[1]} ")
    piece = piece.replace(_LATEX_TEXT, lambda match: match[1])
    return piece.replace(_LATEX_COMMAND, lambda match: f" {_LATEX_WORDS.get(match[1], match[1])} ")


def _sayable(piece: Piece) -> Piece:
    """Without emoji, control and format characters; figures of any script become 0 to 9."""
    text, places = [], []
    piece = piece.replace(_EXPONENT, lambda match: ("^" if match.start() else "") + match[0])
    for char, place in zip(piece.text, piece.places, strict=True):
        words = char if char.isascii() and char.isprintable() else _translate(char)
        text.append(words)
        places.extend([place] * len(words))
    return Piece("".join(text), tuple(places))


def _translate(char: str) -> str:
    if char.isspace():
        return " "
    if char in _SUPERSCRIPTS:
        return _SUPERSCRIPTS[char]
    if char.isdecimal():
        return str(unicodedata.decimal(char))
    if "！" <= char <= "～":  # full-width forms of ASCII
        return chr(ord(char) - 0xFEE0)
    category = unicodedata.category(char)
    if category in ("No", "Nl") and char not in UNICODE_FRACTIONS:
        return unicodedata.normalize("NFKC", char).replace("⁄", "/")
    if category[0] == "C" or category in ("Sk", "Me") or "\ufe00" <= char <= "\ufe0f":
        return ""
    return char if category != "So" or char in "°℃℉" else ""
