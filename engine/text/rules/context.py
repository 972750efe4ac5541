"""The neighbours of a token as a rule may know them, and the reading that it returns.

Invariant: a rule that looks at the next token before it has arrived raises NeedNext, so a token is
held back exactly as long as its reading depends on the next one.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from engine.text.rules import numbers
from engine.text.tables import words

_NUMERIC = re.compile(
    r"(?:[-+~≈<>≤≥±–]|[<>]=|[a-zA-Z]+/)?(?:\d+[-–](?=\d+/))?[\d.,'½¼¾⅓⅔⅛]*[\d½¼¾⅓⅔⅛](?:[-–/±x×][\d.,]*\d|[eE][-+]?\d+|\^-?\d+)?"
)
_SENTENCE_MARKS = ".?!:;"

SCALES = ("hundred", "thousand", "million", "billion", "trillion", "lakh", "crore")

SENTENCE_STARTERS = words("context", "sentence_starters")
OPENERS = words("context", "openers")
_BY = ("x", "×", "by")
_NO_NOUNS = SENTENCE_STARTERS | words("context", "no_nouns")
_DETERMINERS, _ADJECTIVES, _COUNTED, _VERB_LIKE = (
    words("context", name) for name in ("determiners", "adjectives", "counted", "verb_like")
)


class NeedNext(Exception):
    """The reading depends on the next token, which has not arrived. Never leaves this package."""


@dataclass(frozen=True)
class Currency:
    """Names of a currency and of its hundredth ("" where it has none)."""

    one: str
    many: str
    cent: str = ""
    cents: str = ""


@dataclass(frozen=True)
class Reading:
    """Spoken words of one token. A word may end with a mark of its own inside the token.

    `mark` None: the token's own punctuation stays. `currency`: the number has been said, and its
    currency still has to be said after the next token. `is_code`: it is spelled or dialled.
    """

    words: tuple[str, ...]
    mark: str | None = None
    currency: Currency | None = None
    is_code: bool = False


@dataclass(frozen=True)
class PreviousToken:
    """A token that was read: its text without punctuation, and its mark."""

    body: str
    mark: str


@dataclass(frozen=True)
class Context:
    """The neighbourhood of one token. `punctuation` stands behind it, `opened` before it (quotes,
    brackets). `following`: the next token; None = not known yet, "" = nothing follows.
    """

    past: tuple[PreviousToken, ...] = ()  # newest first, at most five
    punctuation: str = ""
    opened: str = ""
    currency: Currency | None = None
    following: str | None = ""

    @property
    def after(self) -> str:
        """The next token without its punctuation; "" at the end of a block."""
        if self.following is None:
            raise NeedNext
        return self.following

    @property
    def previous(self) -> str:
        """The token before this one in the same sentence; "" if there is none."""
        return self._earlier(0)

    @property
    def before_previous(self) -> str:
        return self._earlier(1)

    @property
    def after_number(self) -> bool:
        """True if a number stands directly before, without punctuation in between."""
        return bool(self.past and not self.past[0].mark and _NUMERIC.fullmatch(self.past[0].body))

    @property
    def after_amount(self) -> bool:
        """True if a number or its scale stands before: "5", "5 million"."""
        scaled = bool(self.past) and not self.past[0].mark and self.past[0].body.lower() in SCALES
        return scaled or self.after_number

    @property
    def other_mark(self) -> str:
        """The first mark that is not an abbreviation's own dot."""
        return next((char for char in self.punctuation.removeprefix(".") if char in ".,?!;:"), "")

    def mark_behind_dot(self, *, any_name: bool) -> str | None:
        """Return the remaining mark when the first dot belongs to an abbreviation: another mark, or
        a full stop if a sentence follows (see sentence_follows). None = the token has no dot.
        """
        if not self.punctuation.startswith("."):
            return None
        if self.other_mark:
            return self.other_mark
        return "." if self.sentence_follows(any_name=any_name) else ""

    def is_adjective(self, article: str) -> bool:
        """Return whether an amount behind `article` describes a noun: "a 5 dollar bill"."""
        if article.lower() not in ("a", "an") or self.punctuation:
            return False
        named = self.after[:1].isalnum() and self.after.lower() not in _NO_NOUNS
        return named or self.after in ("×", "by")

    def describes(self, before: str) -> bool:
        """Return whether an amount behind this word describes a noun: "two $5 bills"."""
        if self.is_adjective(before):
            return True
        if self.punctuation or not (before.lower() in _DETERMINERS or before.isdecimal()):
            return False
        return self.after.isalpha() and self.after.islower() and not is_other_word(self.after)

    @property
    def article(self) -> str:
        """The token before this one, or before a plain adjective: "a small 40 cm gap"."""
        return self._article(0)

    @property
    def article_before_number(self) -> str:
        """The token before the number, or before a plain adjective in front of the number."""
        return self._article(1)

    def _article(self, depth: int) -> str:
        if self._earlier(depth) in _BY:  # a 6″ x 4″ card
            depth += 2 if self._earlier(depth + 1)[:1].isdigit() else 3
        nearest = self._earlier(depth)
        return self._earlier(depth + 1) if nearest in _ADJECTIVES else nearest

    def sentence_follows(self, *, any_name: bool) -> bool:
        """Return whether the next token begins a sentence: a capital on a word that does not look
        like a name, or on any word that is not all capitals if `any_name`.
        """
        after = self.after
        if not after[:1].isupper():
            return after == ""
        if after.lower() in SENTENCE_STARTERS or after.lower() in OPENERS:
            return True
        return any_name and not (len(after) > 1 and after.isupper())

    def _earlier(self, depth: int) -> str:
        for past in self.past[: depth + 1]:
            if past.mark and past.mark in _SENTENCE_MARKS:
                return ""
        return self.past[depth].body if depth < len(self.past) else ""


Rule = Callable[[str, Context], Reading | None]
"""(body, context) -> how it is said; None when another rule has to decide."""


def matching(
    pattern: str, flags: re.RegexFlag = re.NOFLAG
) -> Callable[[Callable[[re.Match[str], Context], Reading | None]], Rule]:
    """Return a decorator for a rule that reads the match of an entire token, not the token."""
    whole = re.compile(pattern, flags)

    def rule_of(read: Callable[[re.Match[str], Context], Reading | None]) -> Rule:
        def rule(body: str, context: Context) -> Reading | None:
            match = whole.fullmatch(body)
            return read(match, context) if match else None

        return rule

    return rule_of


class _Group(str):
    """A group of a match that a function of `numbers` reads: "{1:ordinal}"."""

    def __format__(self, function: str) -> str:
        by_value = function in ("ordinal", "year")
        value = int(self.replace(",", "")) if by_value else str(self)
        said: str = getattr(numbers, function)(value) if function else str(self)
        return said


def form(
    pattern: str,
    said: str,
    flags: re.RegexFlag = re.NOFLAG,
    *,
    when: Callable[[re.Match[str], Context], object] = lambda match, context: True,
) -> Rule:
    """Return a rule that says an entire token by its groups: "{1:number} out of {2:number}"."""

    def read(match: re.Match[str], context: Context) -> Reading | None:
        words = said.format(*map(_Group, (match[0], *match.groups(""))))
        return say(words) if when(match, context) else None

    return matching(pattern, flags)(read)


def say(words: str, mark: str | None = None) -> Reading:
    """Return a reading of words that are separated by spaces."""
    return Reading(tuple(words.split()), mark)


def is_name(word: str) -> bool:
    """Return whether a word has a capital, and not because it begins a sentence."""
    return word != word.lower() and word.lower() not in SENTENCE_STARTERS


def is_other_word(word: str) -> bool:
    """Return whether a word after an amount cannot be a noun that the amount describes."""
    lower = word.lower()
    return lower in _NO_NOUNS or lower in _VERB_LIKE or lower.endswith("ed")


def may_be_noun(word: str) -> bool:
    """Return whether a word after an amount may be a noun: bit, but not thick or yesterday."""
    return word.isalpha() and word.islower() and not (is_other_word(word) or word in _ADJECTIVES)


def is_counted(word: str) -> bool:
    """Return whether the word after a number looks like what is counted."""
    lower = word.lower()
    if lower in _COUNTED:
        return True
    plural = lower.endswith("s") and not lower.endswith("ss") and len(lower) > 3
    return plural and lower.isalpha() and lower not in _VERB_LIKE
