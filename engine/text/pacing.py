"""How fast each word of a reply is said, relative to the rest: figures, codes, names and quotations
slower, asides faster.

Invariant: a word's pace depends only on the text up to its end, so it is the same however the text
was cut into deltas, and no word waits for a later one.

A careful word is slow from its first syllable; the words after it return to the normal rate within
two or three words, an inaudible delay.
"""

import re
from typing import Final

from engine.text.rules.context import SENTENCE_STARTERS
from engine.text.rules.dates import FULL_NAMES
from engine.text.word import Word

# Factors on the rate. Listeners notice a change of tempo from about 5 % on (Quene 2007, Journal of
# Phonetics 35): each of these is beyond that, and none is so large that it sounds like another
# speaker.
CODE: Final = 0.75  # telephone numbers, spelled letters, serial numbers, web addresses
FIGURE: Final = 0.85  # other numbers, house numbers and the street behind them
NAME: Final = 0.9  # at its first mention
QUOTED: Final = 0.92
ASIDE: Final = 1.12

_RETURN: Final = 0.6  # share of the way back to the normal rate that each word goes
_CLOSE: Final = 0.03  # an inaudible difference

# Limits, in words, for marks that are opened and never closed.
_LONGEST_BRACKET: Final = 30
_LONGEST_DASHED: Final = 12
_LONGEST_QUOTATION: Final = 60

_SURROUNDINGS = ("bracket", "dashed", "passing", "quotation")

_EDGES = "\"'“”‘’«»‹›()[]{}*_`~.,;:!?…—–-"
_WRITTEN_OUT = re.compile(
    r"(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-\w+)?"
    r"|eleven|twelve|(?:hundred|thousand|million|billion|trillion)s?"
)
_CODE = re.compile(
    r"[^\W\d]\w*\d.*"  # B12, x86
    r"|\+\d.*|\d{5,}|\(?\d{3}\)"  # +44, 90210, (555)
    r"|[\d().+]*\d-\d{3,}(?:-\d+)*|\d+(?:-\d+){2,}"  # 555-1234, 123-45-6789
    r"|\d+(?:\.\d+){2,}"  # 192.168.1.1
    r"|\S+@\S+\.\w+|\S+://\S+|www\.\S+|[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|gov|edu)(?:/\S*)?"
)
_HOUSE = re.compile(r"\d{1,5}[A-Za-z]?")
_SPACED_DASH = re.compile(r"(?<=\s)(?:-|–|--|---)(?=\s)")
_DASH = re.compile(r"[—―]|(?<=\w)--+(?=\w|$)")
_EMOTICON_EYES = ":;=8-]"
_OPENING_QUOTES, _CLOSING_QUOTES = "“«„", "”»"
_PASSING = (("by", "the", "way"), ("incidentally",), ("as", "an", "aside"))
_NO_NAMES = (
    SENTENCE_STARTERS | {"i", "i'm", "i'll", "i've", "i'd"} | {name.lower() for name in FULL_NAMES}
)


class Pacing:
    """One per reply: feed it the text as it grows, and ask for the pace of each word in order."""

    def __init__(self) -> None:
        # From `_start` on; text that was judged is dropped. The text begins like a new line.
        self._text, self._start = "\n", -1
        self._span: tuple[int, int] | None = None  # of the word before; None = there is none
        self._own = 1.0  # that word's pace by its content alone, before smoothing
        self._eased = 1.0
        self._sentence_start = True
        self._clause: list[str] = []  # its words so far, in lower case
        self._names: set[str] = set()
        self._spelling = self._code = self._address = self._figure = self._title = False
        # Words that may still follow in an open quotation or aside; 0 = none is open.
        self._left = dict.fromkeys(_SURROUNDINGS, 0)

    def grow(self, text: str) -> None:
        """Take more text."""
        self._text += text

    def pace(self, word: Word) -> float:
        """The factor on the rate for the next word."""
        span = (word.start, word.end)
        if span != self._span:
            self._span = span
            self._own = self._judge(word)
        if word.text[-1] in ".?!":
            self._end_sentence()
        gap = self._own - self._eased
        self._eased = self._own if gap <= _CLOSE else self._eased + gap * _RETURN
        return round(self._eased, 3)

    def _judge(self, word: Word) -> float:
        """The pace of the token a word comes from, by its content and by the quotation or aside
        around it."""
        before = self._passed(word.start)
        token = self._passed(word.end)
        self._open(before)
        body = token.strip(_EDGES)
        careful = self._careful(body, token, before)
        own = min((careful, QUOTED)) if self._left["quotation"] else careful
        if own == 1.0 and any(self._left[aside] for aside in ("bracket", "dashed", "passing")):
            own = ASIDE
        self._left = {kind: max(0, left - 1) for kind, left in self._left.items()}
        self._close(token[len(token.rstrip(_EDGES)) :])
        self._note(body, token)
        return own

    def _passed(self, place: int) -> str:
        """Remove and return the text up to a place."""
        length = max(0, place - self._start)
        text, self._text = self._text[:length], self._text[length:]
        self._start += length
        return text

    # ----------------------------------------------------------------- what is careful

    def _careful(self, body: str, token: str, before: str) -> float:
        paces = [1.0]
        self._code = self._is_code(body, token, before)
        figure = any(char.isdigit() for char in body) or bool(_WRITTEN_OUT.fullmatch(body.lower()))
        capital = body[:1].isupper()
        self._address = capital and (self._address or self._figure) and not self._sentence_start
        if self._code:
            paces.append(CODE)
        if figure or self._address:
            paces.append(FIGURE)
        if self._is_new_name(body):
            paces.append(NAME)
        self._figure = bool(_HOUSE.fullmatch(body)) and token.endswith(body)
        return min(paces)

    def _is_code(self, body: str, token: str, before: str) -> bool:
        self._spelling = self._is_spelled(body, token)
        if self._spelling or _CODE.fullmatch(body):
            return True
        if self._code and body.isdecimal():  # the next group of a telephone number
            return True
        return before.endswith("(") and len(body) == 3 and body.isdecimal() and ")" in token

    def _is_spelled(self, body: str, token: str) -> bool:
        """Whether it is a single letter that is not a word: the first A or I of a spelling has a
        comma."""
        if len(body) != 1 or not body.isupper():
            return False
        if body == "I":
            return self._spelling
        return body != "A" or self._spelling or token[-1] in ",;-"

    def _is_new_name(self, body: str) -> bool:
        name = body.removesuffix("'s").removesuffix("’s").casefold()
        if not body[:1].isupper() or len(body) < 2 or name in _NO_NAMES:
            return False
        new = name not in self._names
        self._names.add(name)
        return new and not self._sentence_start and not self._title

    # ------------------------------------------------------- what is open around a word

    def _open(self, before: str) -> None:
        """Note the quotations and asides that begin or end between the last word and this one."""
        line = before.rpartition("\n")[2]
        if "\n" in before:
            self._title = line.lstrip().startswith("#")
            self._clause.clear()
            self._sentence_start = True
        if before.count("\n") > 1:
            self._left = dict.fromkeys(_SURROUNDINGS, 0)
        self._dash(line if "\n" in before else before, at_line_start="\n" in before)
        for place, char in enumerate(before):
            if char == "(" and before[place - 1 : place] not in tuple(_EMOTICON_EYES):
                self._left["bracket"] = _LONGEST_BRACKET
            elif char == ")":
                self._left["bracket"] = 0
            else:
                self._quote(char)

    def _close(self, tail: str) -> None:
        """Note what the punctuation after a word ends, and a dash in it that may begin an aside."""
        for char in tail:
            if char == ")":
                self._left["bracket"] = 0
            elif char in _CLOSING_QUOTES or (char == '"' and self._left["quotation"]):
                self._left["quotation"] = 0
        self._dash(tail, at_line_start=False)

    def _quote(self, char: str) -> None:
        if char in _CLOSING_QUOTES or (char == '"' and self._left["quotation"]):
            self._left["quotation"] = 0
        elif char in _OPENING_QUOTES or char == '"':
            self._left["quotation"] = _LONGEST_QUOTATION
            self._sentence_start = True

    def _dash(self, text: str, *, at_line_start: bool) -> None:
        """A dash begins an aside or ends one; between figures and before a line it does neither."""
        if not (_DASH.search(text) or _SPACED_DASH.search(f" {text.lstrip()}")):
            return
        if self._left["dashed"]:
            self._left["dashed"] = 0
        elif not (at_line_start or self._sentence_start or self._figure):
            self._left["dashed"] = _LONGEST_DASHED

    def _note(self, body: str, token: str) -> None:
        """Remember what the next words are judged by."""
        self._sentence_start = False
        self._clause.append(body.lower())
        if tuple(self._clause) in _PASSING:
            self._left["passing"] = _LONGEST_DASHED
        elif token[-1:] in ",;:":
            self._clause.clear()

    def _end_sentence(self) -> None:
        self._clause.clear()
        self._sentence_start = True
        self._left["dashed"] = self._left["passing"] = 0
        self._address = self._figure = self._spelling = self._code = False
