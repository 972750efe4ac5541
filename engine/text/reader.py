"""Read each plain piece among its neighbours, and decide the mark of each word.

Invariant: between two calls at most one token is kept, either not yet read (its reading depends on
the next one) or read up to its last word (whose mark depends on the next token). Of figures in
groups ("020 7946 0958") all groups are kept until a token comes that is not one.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from engine.languages import ENGLISH
from engine.text.languages.readings import TableReadings
from engine.text.pacing import FIGURE, Pacing
from engine.text.pronunciation.scripts import is_foreign
from engine.text.rules import groups, punctuation, symbols
from engine.text.rules.context import Context, Currency, NeedNext, PreviousToken, Reading
from engine.text.rules.punctuation import DASHES, ELLIPSIS, Peeled
from engine.text.rules.readings import EnglishReadings
from engine.text.stream.elements import (
    LONGEST_S,
    TEXT,
    Block,
    Break,
    Element,
    Equation,
    Pause,
    Phrase,
)
from engine.text.stream.tokens import Ahead
from engine.text.word import Piece, Word

_PRIMES = {'"': "″", "'": "′"}
_LENGTH = re.compile(r"(?:[\d.]*['\"′″]?[x×])?[\d.'–/-]*[\d½¼¾⅛⅜⅝⅞]")
_YEAR = re.compile(r"(?:19|20)\d\d")
_ELIDED = re.compile(r"\d\ds?|tis|twas|til|em|cause|cos|n|round|bout", re.IGNORECASE)
_MARKS = ".,?!;:"
_DECIDES_MARK = frozenset("-/([{.,?!;:|)]}<")
_BETWEEN_TERMS = frozenset("+×<≤")
_NO_MARK = frozenset("“‘«€£¥₹¿¡°")

_REMEMBERED = 4  # tokens, besides the last one
_SHORT_LINE = 50  # characters; a longer line was probably wrapped, so its end means nothing
_SHORT_ITEM = 4  # words; shorter list items are read as one enumeration
_LONGEST_WORD = 64  # letters; longer ones are not words, and no synthesiser expects them


@dataclass(frozen=True)
class _Held:
    """A token that is read once the next one is known. `text`: without quotes before it."""

    piece: Piece
    peeled: Peeled

    @property
    def text(self) -> str:
        opened = "(" if "(" in self.peeled.opened else ""
        return opened + self.peeled.body + self.peeled.punctuation


class Reader:
    """Converts the elements of one reply to words."""

    def __init__(self, language: str) -> None:
        self._english = language == ENGLISH
        self._readings = EnglishReadings() if self._english else TableReadings(language)
        self._run: list[_Held] = []  # several only if they are groups of figures
        self._last: Word | None = None
        self._soft = ""  # what `_last` gets if no stronger mark comes
        self._past: tuple[PreviousToken, ...] = ()
        self._currency: Currency | None = None
        self._pause_s = 0.0  # in front of the next word
        self._started = False
        self._pacing = Pacing(english=self._english)
        self._quotes: set[str] = set()  # straight quotes that are open
        self._line_start = 0
        self._line_end = 0
        self._line_words = 0
        self._begins_line = self._is_heading = False

    def feed(self, element: Element) -> list[Word]:
        """Add an element; return the words that are certain now."""
        self._line_words += 1
        match element:
            case Pause():
                words = self._read_run("")
                self._soft, self._past = ",", ()
            case Break(mark, seconds):
                words = self._read_run("")
                self._attach(punctuation.peel(mark))
                self._pause_s = min(self._pause_s + seconds, LONGEST_S)
            case Phrase():
                words = self._read_run("") + self._release(".")
                self._past = ()
                words += self._give(element.words, element, 1.0)
            case Equation():
                words = self._read_run(element.written)
                if element.words:
                    pace = FIGURE if any(map(str.isdigit, element.written)) else 1.0
                    words += self._give(element.words, element, pace)
                    self._past = (PreviousToken(element.written, ""), *self._past[:_REMEMBERED])
                    self._soft, self._currency = "," if element.displayed else "", None
            case Piece():
                words = []
                for piece in punctuation.split(element):
                    words += self._on_piece(piece)
        return words

    def first_word(self) -> list[Word]:
        """Release the first word of a reply at the space after it, whatever follows. In another
        language its mark may stand behind that space: "Bonjour !".
        """
        return [] if self._started or not self._english else self._release("")

    def on_line(self, start: int, end: int, block: Block, *, new: bool) -> None:
        """Note a token of the current line; `new`: the first one."""
        self._is_heading = block is Block.HEADING
        if new:
            self._line_start, self._line_words, self._begins_line = start, 0, True
        self._line_end = end

    def ahead(self, ahead: Ahead, block: Block, *, is_item: bool) -> list[Word]:
        """Return the words that the beginning of the next token decides. `block`: the kind of the
        line before that token. `is_item`: the token may be the next item of a list.
        """
        char = ahead.char
        if not ahead.lines:
            # A dash, a bracket, bare punctuation, or an emoji or another script in front of a full
            # stop may give the word before it a mark.
            foreign = not char.isascii() and not char.isalnum() and char not in _NO_MARK
            may_give_mark = foreign or char in _DECIDES_MARK or is_foreign(char)
            return [] if may_give_mark else self._release("")
        mark = self._line_mark(ahead, block, is_item=is_item)
        if mark is None:
            return []
        words: list[Word] = []
        if block not in TEXT or ahead.lines > 1:
            words += self._read_run("")
            words += self._release(mark)
            self._past = ()
            self._quotes.clear()
            if ahead.lines > 1:
                self._pacing.end_paragraph()
        elif not self._run:
            words += self._release(mark)
        return words

    def end(self, block: Block) -> list[Word]:
        """Return the remaining words."""
        words = self._read_run("")
        self._soft = ""
        return words + self._release("" if block in TEXT else ".")

    def _on_piece(self, piece: Piece) -> list[Word]:
        peeled = punctuation.peel(piece.text)
        for quote, prime in _PRIMES.items() if self._english else ():
            peeled = self._length(peeled, quote, prime)
        if not peeled.body and self._is_series(peeled.punctuation):
            peeled = replace(peeled, body=ELLIPSIS, mark="," * peeled.punctuation.endswith(","))
        entry = _Held(piece.cut(len(peeled.opened)), peeled)
        texts = [earlier.text for earlier in self._run]
        if texts and self._line_words > 1 and groups.continues(texts, entry.text):
            self._run.append(entry)
            return []
        words = self._read_run("(" * ("(" in peeled.opened) + peeled.body)
        if not peeled.body:
            self._attach(peeled)
            return words
        reading = None
        if not groups.begins(entry.text):
            with suppress(NeedNext):
                reading = self._read(peeled, None)
        if reading is not None and not reading.words:
            if peeled.body in DASHES or peeled.body == "/":
                self._soft = ","
                self._pacing.signs(peeled.body)
                return words
            return words + self._take(entry, reading)
        words += self._release("," if self._readings.opens_pause(peeled, self._past) else "")
        if reading is None:
            self._run = [entry]
        else:
            words += self._take(entry, reading)
        return words

    def _is_series(self, dots: str) -> bool:
        """Return whether dots stand for more terms: 1 + 2 + … + n; x₁, x₂, …, xₙ."""
        before = self._run[-1].peeled if self._run else self._past[0] if self._past else None
        if before is None or dots.rstrip(",") not in ("…", "..."):
            return False
        return before.body in _BETWEEN_TERMS or (before.mark, dots[-1]) == (",", ",")

    def _length(self, peeled: Peeled, quote: str, prime: str) -> Peeled:
        """Straight quotes after a figure mean inches and feet, unless they close a quotation."""
        elided = _ELIDED.fullmatch(peeled.body) and quote not in peeled.punctuation
        if quote in peeled.opened and not elided:
            self._quotes.add(quote)
        if quote not in peeled.punctuation:
            return peeled
        year = quote == "'" and _YEAR.fullmatch(peeled.body)
        length = peeled.punctuation[0] == quote and _LENGTH.fullmatch(peeled.body) and not year
        if quote in self._quotes or not length:
            self._quotes.discard(quote)
            return peeled
        return replace(peeled, body=peeled.body + prime, punctuation=peeled.punctuation[1:])

    def _read_run(self, following: str) -> list[Word]:
        """Read the held tokens: a code group by group, thousands as one number, or one by one."""
        run, self._run = self._run, []
        words: list[Word] = []
        entire = len(run) > 1
        while run:
            texts = [entry.text for entry in run]
            context = Context(self._past)
            size = self._readings.code(texts, context, entire=entire)
            for place, entry in enumerate(run[:size], 1):
                said = tuple(self._readings.code_words(entry.text))
                mark = "," if place < size else None
                words += self._take(entry, Reading(said, mark, is_code=True))
            if not size:
                size = self._readings.thousands(texts, context) or 1
                entry = _joined(run[:size], self._readings.group_mark)
                after = run[size].peeled.body if size < len(run) else following
                if len(run) > 2 and groups.is_range(texts):
                    after = run[2].peeled.body  # shows whether both are days
                words += self._take(entry, self._read(entry.peeled, after))
            del run[:size]
            entire = False
        if self._begins_line:
            self._pacing.begin_line(heading=self._is_heading)
            self._begins_line = False
        return words

    def _read(self, peeled: Peeled, following: str | None) -> Reading:
        context = Context(self._past, peeled.punctuation, peeled.opened, self._currency, following)
        reading = self._readings.read(peeled.body, context)
        mark = peeled.mark if reading.mark is None else reading.mark
        if mark == ELLIPSIS:
            mark = "," if context.after[:1].islower() else "."
        return replace(reading, mark=mark)

    def _take(self, entry: _Held, reading: Reading) -> list[Word]:
        """Turn a reading into words and remember it for the tokens behind it."""
        piece, peeled = entry.piece, entry.peeled
        mark = peeled.mark if reading.mark is None else reading.mark
        soft = peeled.soft and mark == peeled.mark
        texts = [text for word in reading.words for text in _spoken(word)]
        opens_pause = self._readings.opens_pause(peeled, self._past)
        past = self._readings.past(peeled.body, peeled.punctuation, mark)
        self._past = (past, *self._past[:_REMEMBERED])
        self._currency = reading.currency
        if not texts:
            self._attach(peeled if reading.mark is None else replace(peeled, mark=reading.mark))
            return []
        if mark and not soft:
            texts[-1] = texts[-1].rstrip(_MARKS) + mark
        words = self._release("," if opens_pause else "")
        pace = self._pacing.of_token(peeled, is_code=reading.is_code)
        words += self._give(texts, piece, pace)
        self._soft = mark if soft else ""
        return words

    def _give(
        self, texts: Sequence[str], source: Piece | Phrase | Equation, pace: float
    ) -> list[Word]:
        """Return all words except a last one without a mark, because a mark may still follow it."""
        out = self._release("")
        start, end, eased = source.start, source.end, self._pacing.eased
        words = [Word(text, start, end, eased(pace)) for text in texts]
        words[0], self._pause_s = replace(words[0], pause_s=self._pause_s), 0.0
        if words[-1].text[-1] not in _MARKS:
            self._last = words.pop()
        elif words[-1].text[-1] in ".?!":
            self._pacing.end_sentence()
        self._started = self._started or bool(out or words)
        return out + words

    def _attach(self, peeled: Peeled) -> None:
        """Attach punctuation that stands alone to the word before it."""
        self._pacing.signs(peeled.opened + peeled.punctuation)
        mark = "." if peeled.mark == ELLIPSIS else peeled.mark
        if self._last is None or not mark or self._last.text[-1] in _MARKS:
            return
        if peeled.soft:
            self._soft = mark
        else:
            self._last = replace(self._last, text=self._last.text + mark)

    def _release(self, mark: str) -> list[Word]:
        """Release the last word, with `mark` or its soft mark unless it has its own."""
        last, self._last = self._last, None
        if last is None:
            return []
        self._started = True
        text = last.text + ("" if last.text[-1] in _MARKS else mark or self._soft)
        if text[-1] in ".?!":
            self._pacing.end_sentence()
        return [replace(last, text=text)]

    def _line_mark(self, ahead: Ahead, block: Block, *, is_item: bool) -> str | None:
        """Return the mark of a line's last word; None while the next line decides it."""
        if ahead.lines > 1 or block in (Block.HEADING, Block.ROW):
            return "."
        if not ahead.char:
            return None
        if ahead.char.islower():
            return "," if is_item and block is Block.ITEM else ""
        if block is Block.ITEM:
            item_follows = is_item or ahead.char in "-*+•‣◦▪–" or ahead.char.isdigit()
            return "," if item_follows and self._line_words <= _SHORT_ITEM else "."
        if ahead.char in "#>|~=" or (block is Block.BARRED and ahead.char in "-:"):
            return "."
        short = self._line_end - self._line_start < _SHORT_LINE
        return "," if short or ahead.char in "-+•‣◦▪" else ""


def _joined(run: list[_Held], mark: str) -> _Held:
    """Join the groups of one number to one token, with a mark between them."""
    if len(run) == 1:
        return run[0]
    first, *others = run
    text, places = first.piece.text, first.piece.places
    for entry in others:
        group = entry.piece.text
        if mark == ",":
            group = re.sub(r",(?=\d)", ".", group)  # a comma within is a decimal one
        text, places = text + mark + group, (*places, *places[-1:] * len(mark), *entry.piece.places)
    return _Held(Piece(text, places), replace(punctuation.peel(text), opened=first.peeled.opened))


def _spoken(word: str) -> list[str]:
    """The letters of a word with its mark, in parts of a manageable length, if it has letters."""
    body = word.rstrip(_MARKS)
    letters = symbols.speakable_letters(body)
    if not letters:
        return []
    parts = [letters[i : i + _LONGEST_WORD] for i in range(0, len(letters), _LONGEST_WORD)]
    parts = [part for part in map(symbols.speakable_letters, parts) if part]
    parts[-1] += word[len(body) :][:1]
    return parts
