"""Remove from one token the marks of inline markdown and HTML, and the characters that cannot be
spoken.

Invariant: every character that stays keeps its place in the reply.
"""

import html
import re
import unicodedata
from dataclasses import dataclass

from engine.text.llm_markers import TOKEN
from engine.text.rules.links import MASK
from engine.text.rules.numbers import UNICODE_FRACTIONS
from engine.text.stream import notes, tags
from engine.text.word import Piece

_EMOTICON = re.compile(
    r"[:;]['^o-]?[)(DPpOo/\\|*3]+|=[)(DP]+|8-\)|<3+|\(?\^[_o.-]*\^\)?|\S*°\S°\S*|\([-T>o;][_.][-T<o;]\)|T_+T|>_+<|-_+-|[xX]D+|:'\(|¯\\?_\(ツ\)_/¯|\(:|:[a-z][a-z0-9_+-]*:"
)
_PLAIN = re.compile(r"(?!x{4}$)(?!X{4}$)[A-Za-z]+[,.]?")  # nearly every token
_ENTITY = re.compile(r"&(?:#\d{1,6}|#[xX][0-9a-fA-F]{1,5}|[a-zA-Z]{2,8});")
_ATTRIBUTES = r"(?:\s[^<>]*)?/?>"
_END_TAG = re.compile(
    rf"</(?:summary|h[1-6]|dt|tr|caption|figcaption|legend|title){_ATTRIBUTES}", re.IGNORECASE
)
_BREAK_TAG = re.compile(rf"<(?:br|hr|p|/p|li|/li|/td|/th|/dd){_ATTRIBUTES}", re.IGNORECASE)
_BLOCK_TAG = re.compile(
    r"</?(?:address|article|aside|blockquote|body|center|details|div|dl|fieldset|figure|footer|"
    r"form|h[1-6]|header|html|main|nav|ol|pre|section|summary|table|tbody|td|tfoot|th|thead|tr|ul)"
    rf"{_ATTRIBUTES}",
    re.IGNORECASE,
)
INLINE_TAGS = (
    "a|abbr|acronym|audio|b|bdi|bdo|big|button|cite|code|col|colgroup|data|dd|del|dfn|dt|em|font|i|"
    "iframe|img|input|ins|kbd|label|li|mark|meter|nobr|option|p|picture|progress|q|rp|rt|ruby|s|"
    "samp|select|small|source|span|strike|strong|sub|sup|svg|think|time|title|tt|u|var|video|wbr"
)
_NEXT_SENTENCE = re.compile(r"</s>(?=<s>)", re.IGNORECASE)  # of SSML
_TAG = re.compile(rf"</?(?:{INLINE_TAGS}){_ATTRIBUTES}", re.IGNORECASE)
_RAISED = re.compile(r"(?P<base>\w*)<sup>(?P<raised>[^<>]*)</sup>", re.IGNORECASE)
_FIGURES = re.compile(r"[-−+]?\d+")
_NOTED = re.compile(r"[^\W\d_]{3,}|")  # a word with the number of a note
_TRUNK = re.compile(r"^(\+\d{1,3})\(0\)(?=\d)")  # +49(0)30: not dialled behind the country
_TRUNK_APART, _COUNTRY = re.compile(r"^\(0\)(?=\d)"), re.compile(r"\+\d{1,3}")
_MASK = re.compile(
    r"(?<![\w*•●])(?:[*•●]{3,}|[xX]{4,})(?:-(?:[*•●]{2,}|[xX]{3,}))*-?(?=\d{3,5}(?![\d*]))"
)
_MASKS = re.compile(r"[*•●]{4}|x{4}|X{4}")
_HIGHLIGHT = re.compile(r"^[(\"']*==(?=[^\W_])|(?<=[\w.,!?)'\"])==(?=[.,;:!?)\"']*$)")
_RAISED_MARK = re.compile(r"(?<=\w)\^([\w-]{1,4})\^")  # x^2^, as Pandoc writes it
_LOWERED_MARK = re.compile(r"(?<=\w)~(\d{1,3})~")
_INFIX = re.compile(r"(?<=[^\W\d_]{2})\*([^\W\d_]{2,})\*(?=[^\W\d_]{2})")  # un*frigging*believable
_INSERTED = re.compile(r"^\+\+([^+\s]+)\+\+(?=\W*$)")
_SPOILER = re.compile(r"^[(\"']*\|\|(?=\w)|(?<=[\w.,!?)'\"])\|\|(?=[.,;:!?)\"']*$)")
_QUOTED_TAG = re.compile(r"</?([a-zA-Z][a-zA-Z0-9]*)/?>")
_AUTOLINK = re.compile(r"<((?:https?://|mailto:)[^<>]+|[^<>@\s]+@[^<>@\s]+)>")
_ALTERED = re.compile(r"(?<!\w)\[([A-Za-z])\](?=[a-z])")  # "[T]he"
_IMAGE = re.compile(r"[!^](?=\[)")  # and an inline note: word^[note]
_TARGET = re.compile(r"\]\([^()]*(?:\([^()]*\)[^()]*)*\)")
_REFERENCE = re.compile(
    r"\]\[[^\]\[]*\]|\[\^[^\]]*\]|(?<=[^\W\d_.,!?;:\"”')])?\[\d{1,3}\](?:\(\))?"
)
_ESCAPE = re.compile(r"\\([\\`*_{}#+.!|~>$%&<-])")
_EMPHASIS = re.compile(r"(?<!\d)\*\*|\*\*(?!\d)|__+|~~|`+")
_POWER = re.compile(r"(?<=[\d)])\*\*(?=\d)|(?<=\b[A-Za-z])\*\*(?=\d)")
_STAR = re.compile(r"(?<![^\W_])[*_](?=.)|(?<=.)[*_](?![^\W_])")
_ATOMS = re.compile(r"(?<=\b[A-Z])_(?=\d)|(?<=\b[A-Z]{2})_(?=\d)|(?<=[A-Z]\d[A-Z])_(?=\d)")
_UNDERSCORE = re.compile(r"(?<=[^\W_])_+(?=[^\W_])")
_FOREIGN = {
    "’": "'", "‘": "'", "ʼ": "'", "`": "'", "´": "'", "‐": "-", "‑": "-", "−": "-", "⁄": "/",
    "。": ". ", "、": ", ", "，": ", ", "？": "? ", "！": "! ", "：": ": ", "；": "; ", "№": "No. ",
    "؟": "?", "،": ",", "؛": ";", "۔": ".", "।": ".", "॥": ".",
    "〜": "~", "∼": "~",
}  # fmt: skip
_DRAWN_LINE = re.compile(r"(?<=[\w.,;!?)])[─━┄┅┈┉═⸺⸻]+(?=\w)")
_PRODUCT = re.compile(r"(?:^|(?<=[-+]))([\w^]{1,4})\)\((?=-?\w)")  # (x + 1)(x - 1)
_DIFFERENCE = re.compile(r"(?<![^\W_]{2})(?<=[^\W_])-(?=[^\W_](?![^\W_]))")
_WORD_BREAKS = "\u200b\ufffc\ufffd"  # a space without a width, and the placeholders of pictures
_TO_TRANSLATE = re.compile("[" + "".join(_FOREIGN) + "]")
_SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+", strict=True))
_EXPONENT = re.compile("[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")


@dataclass(frozen=True)
class Place:
    """Where a token stands: quoted as code, at the head of a sentence, behind `previous`."""

    code: bool = False
    begins: bool = False
    previous: str = ""


def plain_pieces(piece: Piece, place: Place) -> list[Piece]:
    """Return the text of a token in pieces without spaces. An emoji or a mark alone has none."""
    if _EMOTICON.fullmatch(piece.text):
        return []
    if _PLAIN.fullmatch(piece.text):
        return [piece]
    piece = piece.replace(_ENTITY, lambda match: html.unescape(match[0])).replace(_AUTOLINK, _first)
    if "](" not in piece.text:
        piece = notes.spoken_indexes(piece, place.previous, code=place.code)
    if place.code:
        piece = piece.replace(_QUOTED_TAG, lambda match: f" {match[1]} ")
    else:
        # Tags that end a sentence or a part of it become marks, powers are kept, others vanish.
        piece = piece.replace(_NEXT_SENTENCE, ". ").replace(TOKEN, " ").replace(_RAISED, _raised)
        piece = piece.replace(_END_TAG, ". ").replace(_BREAK_TAG, ", ")
        piece = piece.replace(_BLOCK_TAG, " ").replace(_TAG, "")
        if place.previous != "#include":
            piece = tags.without_tags(piece, begins=place.begins)
        piece = tags.without_directions(piece, begins=place.begins)
        listed = piece.text.startswith("[") and notes.may_list(place.previous)
        piece = notes.without_notes(piece, listed=listed)
    piece = piece.replace(_ALTERED, _first).replace(_IMAGE, "").replace(_TARGET, "")
    piece = piece.replace(_REFERENCE, "")
    piece = piece.replace(_TRUNK, lambda match: f"{match[1]} ")
    if _COUNTRY.fullmatch(place.previous):
        piece = piece.replace(_TRUNK_APART, "")
    piece = piece.replace(_ESCAPE, _first)
    piece = piece.replace(_MASKS if _MASKS.fullmatch(piece.text) else _MASK, MASK)
    if piece.text not in ("*", "**"):
        piece = _without_emphasis(piece)
    piece = piece.replace(_DRAWN_LINE, "—").replace(_TO_TRANSLATE, lambda match: _FOREIGN[match[0]])
    piece = _sayable(piece)
    if _PRODUCT.search(piece.text):  # the sign between the brackets of (a - b)(a + b)
        piece = piece.replace(_PRODUCT, lambda match: f"{match[1]} × ").replace(_DIFFERENCE, " - ")
    return piece.split()


def _first(match: re.Match[str]) -> str:
    return match[1]


def _raised(match: re.Match[str]) -> str:
    """Return a raised number as text, a power or an ordinal's ending; that of a note is silent."""
    base, raised = match["base"], match["raised"].strip()
    if raised.startswith("[") or (_FIGURES.fullmatch(raised) and _NOTED.fullmatch(base)):
        return base
    is_power = _FIGURES.fullmatch(raised) or raised == "n"
    return f"{base}^{raised.lstrip('+')}" if is_power else base + raised


def _without_emphasis(piece: Piece) -> Piece:
    if "://" in piece.text or "@" in piece.text:
        return piece.replace(re.compile(r"^[*_`]+|[*_`]+$|(?<=[.,;:!?])[*_`]+"), "")
    piece = piece.replace(_RAISED_MARK, lambda match: f"^{match[1]}")
    piece = piece.replace(_LOWERED_MARK, _first).replace(_INSERTED, _first).replace(_INFIX, _first)
    piece = piece.replace(_HIGHLIGHT, "").replace(_SPOILER, "")
    piece = piece.replace(_POWER, "^").replace(_EMPHASIS, "").replace(_STAR, "")
    return piece.replace(_ATOMS, "").replace(_UNDERSCORE, " ")


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
    if category == "No" and (char in "❶❷❸❹❺❻❼❽❾❿" or "<circle>" in unicodedata.decomposition(char)):
        return f" {unicodedata.numeric(char):g} "
    if category == "Lm" and "<sub>" in unicodedata.decomposition(char):  # xₙ
        return "-" + unicodedata.normalize("NFKC", char)
    if category in ("No", "Nl") and char not in UNICODE_FRACTIONS:
        return unicodedata.normalize("NFKC", char).replace("⁄", "/")
    if char in _WORD_BREAKS or category in ("Cc", "Co", "Cn", "Cs", "Sk"):
        return " "
    if category in ("Cf", "Me") or "\ufe00" <= char <= "\ufe0f":
        return ""
    return char if category != "So" or char in "°℃℉" else " "
