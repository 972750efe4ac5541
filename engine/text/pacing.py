"""How fast each word of a reply is said, relative to the rest: figures, codes, names and quotations
slower, asides faster.

Invariant: a word's pace depends on the text alone, never on how it was cut into deltas, and no word
waits for it.

A careful word is slow from its first syllable; the words after it return to the normal rate within
two or three words, an inaudible delay.
"""

import re
from typing import Final

from engine.text.rules.context import SENTENCE_STARTERS
from engine.text.rules.dates import FULL_NAMES
from engine.text.rules.punctuation import DASHES, Peeled

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

_WRITTEN_OUT = re.compile(
    r"(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-\w+)?"
    r"|eleven|twelve|(?:hundred|thousand|million|billion|trillion)s?"
)
_LETTERED = re.compile(r"[^\W\d]\w*\d.*")  # B12, x86
_HOUSE = re.compile(r"\d{1,5}[A-Za-z]?")
_OPENING_QUOTES, _CLOSING_QUOTES = "“«„", "”»"
_PASSING = (("by", "the", "way"), ("incidentally",), ("as", "an", "aside"))
_NO_NAMES = (
    SENTENCE_STARTERS | {"i", "i'm", "i'll", "i've", "i'd"} | {name.lower() for name in FULL_NAMES}
)


class Pacing:
    """The pace of the tokens of one reply, in their order."""

    def __init__(self, *, english: bool = True) -> None:
        """`english` False: no English word means anything."""
        self._english = english
        self._eased = 1.0
        self._sentence_start = True
        self._clause: list[str] = []  # its words so far, in lower case
        self._names: set[str] = set()
        self._spelling = self._code = self._address = self._figure = self._title = False
        # Words that may still follow in an open quotation or aside; 0 = none is open.
        self._left = dict.fromkeys(_SURROUNDINGS, 0)

    def begin_line(self, *, heading: bool) -> None:
        self._title, self._sentence_start = heading, True
        self._clause.clear()

    def end_paragraph(self) -> None:
        self._left = dict.fromkeys(_SURROUNDINGS, 0)

    def end_sentence(self) -> None:
        self._clause.clear()
        self._sentence_start = True
        self._left["dashed"] = self._left["passing"] = 0
        self._address = self._figure = self._spelling = self._code = False

    def eased(self, own: float) -> float:
        """Return the factor on the rate for the next word. `own`: the pace of its token alone."""
        gap = own - self._eased
        self._eased = own if gap <= _CLOSE else self._eased + gap * _RETURN
        return round(self._eased, 3)

    def of_token(self, peeled: Peeled, *, is_code: bool) -> float:
        """Return a token's pace, from its content and the quotation or aside around it."""
        self.signs(peeled.opened)
        careful = self._careful(peeled, is_code=is_code)
        own = min(careful, QUOTED) if self._left["quotation"] else careful
        if own == 1.0 and any(self._left[aside] for aside in ("bracket", "dashed", "passing")):
            own = ASIDE
        self._left = {kind: max(0, left - 1) for kind, left in self._left.items()}
        self._sentence_start = False
        self._clause.append(peeled.body.lower())
        if self._english and tuple(self._clause) in _PASSING:
            self._left["passing"] = _LONGEST_DASHED
        elif peeled.punctuation.endswith((",", ";", ":")):
            self._clause.clear()
        self.signs(peeled.punctuation, closing=True)
        return own

    def signs(self, text: str, *, closing: bool = False) -> None:
        """Note the quotations and asides that signs begin or, `closing` behind a word, end."""
        for char in text:
            if char in "()":
                self._left["bracket"] = _LONGEST_BRACKET if char == "(" else 0
            elif char in _CLOSING_QUOTES or (char == '"' and self._left["quotation"]):
                self._left["quotation"] = 0
            elif char in _OPENING_QUOTES or (char == '"' and not closing):
                self._left["quotation"] = _LONGEST_QUOTATION
                self._sentence_start = True
        if not (text in DASHES or any(dash in text for dash in ("—", "―", "--"))):
            return
        if self._left["dashed"]:
            self._left["dashed"] = 0
        elif not (self._sentence_start or self._figure):  # between figures it is a range
            self._left["dashed"] = _LONGEST_DASHED

    def _careful(self, peeled: Peeled, *, is_code: bool) -> float:
        paces, body = [1.0], peeled.body
        self._spelling = self._is_spelled(peeled)
        is_code = is_code or self._spelling or bool(_LETTERED.fullmatch(body))
        self._code = is_code or (self._code and body.isdecimal())
        is_written_out = self._english and bool(_WRITTEN_OUT.fullmatch(body.lower()))
        figure = any(char.isdigit() for char in body) or is_written_out
        follows = self._address or self._figure
        self._address = body[:1].isupper() and follows and not self._sentence_start
        if self._code:
            paces.append(CODE)
        if figure or self._address:
            paces.append(FIGURE)
        if self._is_new_name(body):
            paces.append(NAME)
        self._figure = bool(_HOUSE.fullmatch(body)) and not peeled.punctuation
        return min(paces)

    def _is_spelled(self, peeled: Peeled) -> bool:
        """Return whether it is a letter and not a word: a spelling's first A or I has a comma."""
        if len(peeled.body) != 1 or not peeled.body.isupper():
            return False
        if not self._english:  # vowels are words: "E depois", "Y luego", "O homem"
            return peeled.body not in "AEOYIÀÈÉ"
        if peeled.body == "I":
            return self._spelling
        return peeled.body != "A" or self._spelling or peeled.punctuation.endswith((",", ";", "-"))

    def _is_new_name(self, body: str) -> bool:
        name = body.removesuffix("'s").casefold()
        if not body[:1].isupper() or len(body) < 2 or (self._english and name in _NO_NAMES):
            return False
        new = name not in self._names
        self._names.add(name)
        return new and not self._sentence_start and not self._title
