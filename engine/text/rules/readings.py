"""The reading of a token among its neighbours: the rules in their order, and the compound tokens.

Invariant: every token has a reading. The parts of a compound token are read by the same rules as
complete tokens.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from engine.text.rules import (
    abbreviations,
    dates,
    figures,
    groups,
    links,
    money,
    numbers,
    punctuation,
    symbols,
    units,
)
from engine.text.rules.context import Context, PreviousToken, Reading, Rule
from engine.text.rules.punctuation import Peeled
from engine.text.tables import section

_NARROW: tuple[Rule, ...] = (
    *links.IDENTIFIERS, *dates.NAMED, money.code_per, *units.RATES, *links.RULES, *money.RULES,
    *dates.RULES, *groups.RULES, *figures.RULES, *units.RULES, *abbreviations.RULES,
)  # fmt: skip
"""The first rule that returns a reading wins; the last one always returns one."""
_CODES = frozenset((*links.IDENTIFIERS, *links.RULES, *groups.RULES, figures.network))

_LEADS = section("symbols", "leads")
_LED = re.compile(rf"({'|'.join(sorted(_LEADS, key=len, reverse=True))})([-+]?[\d.$€£¥₹½¼¾].*)")
_MORE = re.compile(r"(.*\d.*)\+")
_SPREAD = re.compile(r"(-?(?!#[A-Za-z])[^-–~]+)(?<!\^)(?:[-–~]|\.\.)([-–]?[^-–.~][^-–~]*)")
_HALF = re.compile(r"\d{0,2}[ap]m[-–](?:noon|midnight)$", re.IGNORECASE)  # 10 am-noon
_PAIR = re.compile(r"([^/]+)/([^/]+)")
_PLAIN = re.compile(r"\d+")
_COMPOUND = re.compile(r"(?![a-z]-\d+$)(?=.*\d)(?=.*[^\W\d_])[\w.'/]+(?:[-–][\w.']+)+")
_MIXED = re.compile(rf"({numbers.FRACTION})-([a-z]{{2,}}.*)")
_PLURAL = re.compile(r"(\d{1,3})s")
_CODE = re.compile(r"\d{3}")  # uranium-235
_PAGES = frozenset(("page", "pages", "p", "pp"))
_HYPHEN = re.compile("[-–]")
_LAST_PART = re.compile(r"(?<=\w)[-–](?=\w)(?!(?<!/\d.)\d\d?/\d)")  # "10-15 km": the 15 counts


def read(body: str, context: Context) -> Reading:
    """Return the reading of a token without its punctuation; no words if the token is silent."""
    enclosed = set(context.opened) & set("([{") and set(context.punctuation) & set(")]}")
    if not enclosed and not figures.listed(body, context):  # (3,4) is a pair
        body = numbers.american(body)
    return (
        _narrow(body, context)
        or _prefixed(body, context)
        or _range_of(body, context)
        or _pair(body, context)
        or _compound(body, context)
        or _narrow(body, context, symbols.RULES)
        or Reading(())
    )


def _narrow(body: str, context: Context, rules: tuple[Rule, ...] = _NARROW) -> Reading | None:
    for rule in rules:
        if (answer := rule(body, context)) is not None:
            return replace(answer, is_code=True) if rule in _CODES else answer
    return None


def _prefixed(body: str, context: Context) -> Reading | None:
    """Read tokens such as ~50, <$5, ≤5; 5+, $5+."""
    match = _LED.fullmatch(body)
    answer = (_narrow(match[2], context) or _range_of(match[2], context)) if match else None
    if match and answer:
        return replace(answer, words=(*_LEADS[match[1]].split(), *answer.words))
    match = _MORE.fullmatch(body)
    answer = _narrow(match[1], context) if match else None
    return replace(answer, words=(*answer.words, "plus")) if answer else None


def _range_of(body: str, context: Context) -> Reading | None:
    """Read 10-15, 5-10%, 9am-5pm, 10-15km, Mon-Fri, 30–June. A shared ending is said once."""
    match = _SPREAD.fullmatch(body)
    if not match or not (_has_figure(body) or dates.full_name(match[1]) or _HALF.match(body)):
        return None
    if _PLAIN.fullmatch(match[1]) and _PLAIN.fullmatch(match[2]):
        model = _model(match[1], match[2], context)
        if model:
            return model
    low = _side(match[1], replace(context, punctuation="", following=match[2]), body)
    if low is None:
        return None
    past = (PreviousToken(match[1], ""), *context.past[:1])
    if dates.full_name(match[1]) and not context.punctuation and dates.full_name(context.after):
        past = ()  # the day of the month behind it, as in "1 Jan-31 Mar"
    high = _side(match[2], replace(context, past=past, opened=""), body)
    if high is None:
        return None
    first_words = low.words
    if not match[1][-1].isdigit():  # "five percent" before "ten percent" is "five"
        ends = zip(low.words[:0:-1], reversed(high.words), strict=False)
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], ends))
        first_words = low.words[: len(low.words) - shared]
    return replace(high, words=(*first_words, "to", *high.words))


def _side(text: str, context: Context, whole: str) -> Reading | None:
    """One side of a range. With an en dash, which is used for nothing else, it may be any word."""
    if name := dates.full_name(text):
        return Reading((name,), context.mark_behind_dot(any_name=False))
    named = "–" in whole or _HALF.match(whole)
    return _narrow(text, context) or (read(text, context) if named else None)


def _model(first: str, second: str, context: Context) -> Reading | None:
    """Read the figures of a name: 747-400, Boeing 737-800."""
    falls = len(first) == 3 and int(first) > int(second) and len(second) in (1, 3)
    named = context.previous[:1].isupper() and len(first) == 3
    if (
        context.previous.lower() in _PAGES
        or not (falls or named)
        or not (second.endswith("00") or len(second) == 1)
    ):
        return None
    return Reading((*numbers.code(first).split(), *numbers.code(second).split()))


def _pair(body: str, context: Context) -> Reading | None:
    """Read two values of one quantity: 180°C/350°F, 100g/3.5oz, 5 pm ET/2 pm PT."""
    match = _PAIR.fullmatch(body)
    if not match or not _has_figure(match[2]):
        return None
    before = replace(context, punctuation="", following=match[2])
    one = _narrow(match[1], before, (dates.zone, figures.decade, *units.RULES, *money.RULES))
    other = one and _narrow(match[2], replace(context, past=(PreviousToken(match[1], ""),)))
    if not one or not other or not one.words:
        return None
    return replace(other, words=(*one.words[:-1], one.words[-1] + ",", *other.words))


def _compound(body: str, context: Context) -> Reading | None:
    """Read figures with hyphens and words part by part: mid-1990s, 20-year-old, 1-1/2-inch."""
    if mixed := _MIXED.fullmatch(body):
        amount = figures.continued(mixed[1], context) or numbers.amount(mixed[1])
        return Reading((*amount.split(), *read(mixed[2], Context()).words))
    if not _COMPOUND.fullmatch(body):
        return None
    parts: list[str] = []
    for part in _HYPHEN.split(body):
        if parts and not _has_figure(part) and not _has_figure(parts[-1]):
            parts[-1] += "-" + part
        else:
            parts.append(part)
    words: list[str] = []
    for place, part in enumerate(parts):
        if plural := _PLURAL.fullmatch(part):  # "F-16s" are not seconds
            words += numbers.plural(numbers.code(plural[1])).split()
        elif place and _CODE.fullmatch(part):
            words += numbers.code(part).split()
        else:
            words += read(part, Context()).words
    return Reading(tuple(words))


def _has_figure(text: str) -> bool:
    return any(char.isdigit() for char in text)


class EnglishReadings:
    """See TableReadings."""

    group_mark = ","
    read = staticmethod(read)
    thousands = staticmethod(groups.thousands)
    code_words = staticmethod(groups.words_of)

    def code(self, run: Sequence[str], context: Context, *, entire: bool) -> int:
        return groups.code(run, cued=groups.cued(context), entire=entire)

    def opens_pause(self, peeled: Peeled, past: tuple[PreviousToken, ...]) -> bool:
        return punctuation.opens_pause(peeled)

    def past(self, body: str, punctuation: str, mark: str) -> PreviousToken:
        return PreviousToken(numbers.american(_LAST_PART.split(body)[-1]), mark)
