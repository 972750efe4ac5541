"""Reads plain pieces aloud: finds each one's reading among its neighbours and settles its mark.

Invariant: between two calls at most one token is kept, either not yet read (its reading depends on
the next one) or read up to its last word (whose mark depends on what follows).
"""

import re
from dataclasses import dataclass

from engine.text import (
    abbreviations,
    dates,
    figures,
    links,
    marks,
    money,
    numbers,
    roman,
    symbols,
    telephone,
    units,
)
from engine.text.context import Context, Currency, NeedNext, Past, Reading, Rule
from engine.text.markdown import Block, Part, Pause, Phrase
from engine.text.marks import DASHES, ELLIPSIS, Peeled
from engine.text.piece import Piece
from engine.text.word import Word
from engine.text.words import Ahead

_NARROW: tuple[Rule, ...] = (
    *links.RULES,
    *money.RULES,
    *telephone.RULES,
    *dates.RULES,
    *figures.RULES,
    *units.RULES,
    *roman.RULES,
    *abbreviations.RULES,
)
_WIDE: tuple[Rule, ...] = symbols.RULES
"""The first rule that answers wins; the last of the wide ones answers always."""

_COMPOUND = re.compile(r"(?=.*\d)(?=.*[^\W\d_])[\w.']+(?:[-–][\w.']+)+")
_PLURAL = re.compile(r"(\d{1,3})s")
_HYPHEN = re.compile("[-–]")
_MARKS = ".,?!;:"
_DECIDES_MARK = frozenset("-([{.,?!;:|)]}")
_NO_MARK = frozenset("“‘«€£¥₹¿¡°")

_SHORT_LINE = 50  # characters; a longer line was probably wrapped, so its end means nothing
_SHORT_ITEM = 4  # words; shorter list items are read as one enumeration
_LONGEST_WORD = 64  # letters; longer ones are no words, and no synthesiser expects them


@dataclass(frozen=True)
class _Held:
    """A token that is read when the next one is known."""

    piece: Piece
    peeled: Peeled


class Reader:
    """Parts in, words out; one per reply."""

    def __init__(self) -> None:
        self._held: _Held | None = None
        self._last: Word | None = None
        self._soft = ""  # what `_last` gets if no stronger mark comes
        self._past: tuple[Past, ...] = ()
        self._currency: Currency | None = None
        self._phone = False
        self._started = False
        self._line_start = 0
        self._line_end = 0
        self._line_words = 0

    def feed(self, part: Part) -> list[Word]:
        """The words that became certain by the next part."""
        self._line_words += 1
        match part:
            case Pause():
                words = self._read_held("")
                self._soft, self._past = ",", ()
            case Phrase():
                words = self._read_held("") + self._release(".")
                self._past = ()
                words += self._give([Word(text, part.start, part.end) for text in part.words])
            case Piece():
                words = []
                for piece in marks.split(part):
                    words += self._on_piece(piece)
        return words

    def first_word(self) -> list[Word]:
        """The first word of a reply goes out with the space behind it, whatever may follow."""
        return [] if self._started else self._release("")

    def on_line(self, start: int, end: int, *, new: bool) -> None:
        """A token of the current line was fed; `new`: it is the first one."""
        if new:
            self._line_start, self._line_words = start, 0
        self._line_end = end

    def ahead(self, ahead: Ahead, block: Block) -> list[Word]:
        """What the beginning of the next token decides; `block` is the line before it."""
        if not ahead.lines:
            return [] if _may_give_mark(ahead.char) else self._release("")
        mark = self._line_mark(ahead, block)
        if mark is None:
            return []
        words: list[Word] = []
        if block is not Block.PARAGRAPH or ahead.lines > 1:
            words += self._read_held("")
            words += self._release(mark)
            self._past = ()
        elif self._held is None:
            words += self._release(mark)
        return words

    def end(self, block: Block) -> list[Word]:
        """The rest."""
        words = self._read_held("")
        self._soft = ""
        return words + self._release("" if block is Block.PARAGRAPH else ".")

    def _on_piece(self, piece: Piece) -> list[Word]:
        peeled = marks.peel(piece.text)
        piece = piece.cut(len(peeled.opened))
        words = self._read_held(peeled.core)
        if not peeled.core:
            self._attach(peeled)
            return words
        reading = self._try(peeled)
        if reading is not None and not reading.words and peeled.core in DASHES:
            self._soft = ","
            return words
        words += self._release("," if marks.opens_pause(peeled) else "")
        if reading is None:
            self._held = _Held(piece, peeled)
        else:
            words += self._take(piece, peeled, reading)
        return words

    def _read_held(self, following: str) -> list[Word]:
        if self._held is None:
            return []
        held, self._held = self._held, None
        return self._take(held.piece, held.peeled, self._read(held.peeled, following))

    def _try(self, peeled: Peeled) -> Reading | None:
        """None if the next token is needed."""
        try:
            return self._read(peeled, None)
        except NeedNext:
            return None

    def _read(self, peeled: Peeled, following: str | None) -> Reading:
        context = Context(
            self._past, peeled.tail, peeled.opened, self._currency, self._phone, following
        )
        reading = _reading(peeled.core, context)
        mark = peeled.mark if reading.mark is None else reading.mark
        if mark == ELLIPSIS:
            mark = "," if context.after[:1].islower() else "."
        return Reading(reading.words, mark, reading.currency, reading.phone)

    def _take(self, piece: Piece, peeled: Peeled, reading: Reading) -> list[Word]:
        """Turn a reading into words and remember it for the tokens behind it."""
        mark = reading.mark or ""
        soft = peeled.soft and mark == peeled.mark
        texts = [text for word in reading.words for text in _spoken(word)]
        self._past = (Past(peeled.core, mark), *self._past[:1])
        self._currency, self._phone = reading.currency, reading.phone
        if not texts:
            return []
        if mark and not soft:
            texts[-1] = texts[-1].rstrip(_MARKS) + mark
        words = self._give([Word(text, piece.start, piece.end) for text in texts])
        self._soft = mark if soft else ""
        return words

    def _give(self, words: list[Word]) -> list[Word]:
        """All words but a last one without a mark, which something may still follow."""
        out = self._release("")
        if words[-1].text[-1] not in _MARKS:
            self._last = words.pop()
        self._started = self._started or bool(out or words)
        return out + words

    def _attach(self, peeled: Peeled) -> None:
        """Punctuation that stands alone belongs to the word before it."""
        mark = "." if peeled.mark == ELLIPSIS else peeled.mark
        if self._last is None or not mark:
            return
        if peeled.soft:
            self._soft = mark
        else:
            last = self._last
            self._last = Word(last.text + mark, last.start, last.end)

    def _release(self, mark: str) -> list[Word]:
        """Give out the last word, with `mark` or its soft one unless it has its own."""
        last, self._last = self._last, None
        if last is None:
            return []
        self._started = True
        if last.text[-1] in _MARKS:
            return [last]
        return [Word(last.text + (mark or self._soft), last.start, last.end)]

    def _line_mark(self, ahead: Ahead, block: Block) -> str | None:
        """The mark of a line's last word; None while the next line must be seen."""
        if ahead.lines > 1 or block in (Block.HEADING, Block.ROW):
            return "."
        if not ahead.char:
            return None
        if ahead.char.islower():
            return ""
        if block is Block.ITEM:
            item_follows = ahead.char in "-*+•‣◦▪" or ahead.char.isdigit()
            return "," if item_follows and self._line_words <= _SHORT_ITEM else "."
        if ahead.char in "#>|~=":
            return "."
        short = self._line_end - self._line_start < _SHORT_LINE
        return "," if short or ahead.char in "-+•‣◦▪" else ""


def _may_give_mark(char: str) -> bool:
    """Whether a token that begins so may give the word before it a mark: a dash, a bracket, bare
    punctuation, or an emoji that will be dropped from in front of a full stop.
    """
    foreign = not char.isascii() and not char.isalnum() and char not in _NO_MARK
    return foreign or char in _DECIDES_MARK


def _reading(core: str, context: Context) -> Reading:
    return (
        _first_answer(_NARROW, core, context)
        or _compound(core)
        or _first_answer(_WIDE, core, context)
        or Reading(())
    )


def _first_answer(rules: tuple[Rule, ...], core: str, context: Context) -> Reading | None:
    return next((said for rule in rules if (said := rule(core, context)) is not None), None)


def _compound(core: str) -> Reading | None:
    """mid-1990s, 19th-century, 20-year-old: figures joined to words are read part by part."""
    if not _COMPOUND.fullmatch(core):
        return None
    parts: list[str] = []
    for part in _HYPHEN.split(core):
        if parts and not _has_figure(part) and not _has_figure(parts[-1]):
            parts[-1] += "-" + part
        else:
            parts.append(part)
    return Reading(tuple(word for part in parts for word in _part(part)))


def _part(part: str) -> tuple[str, ...]:
    plural = _PLURAL.fullmatch(part)
    if plural:  # "F-16s" are no seconds
        return tuple(numbers.plural(numbers.code(plural[1])).split())
    return _reading(part, Context()).words


def _has_figure(text: str) -> bool:
    return any(char.isdigit() for char in text)


def _spoken(word: str) -> list[str]:
    """The letters of a word with its mark, in parts of a bearable length; none without letters."""
    body = word.rstrip(_MARKS)
    letters = symbols.speakable_letters(body)
    if not letters:
        return []
    parts = [letters[i : i + _LONGEST_WORD] for i in range(0, len(letters), _LONGEST_WORD)]
    parts = [part for part in map(symbols.speakable_letters, parts) if part]
    parts[-1] += word[len(body) :][:1]
    return parts
