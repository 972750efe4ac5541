"""Telephone numbers, cards and other codes, said figure by figure in groups: in one token, or in
groups with spaces between, as thousands are written too.

Invariant: groups are one number only if numbers are written like that somewhere: in threes after a
first group, like a card number, or like the telephone numbers of a country (phonenumbers knows all
of them; the first run of groups loads it, which takes 25 ms once). Of single tokens only common
groupings, numbers with a plus, and those that the words before announce as a code are taken, so
that a sum or a range is never read as a telephone number.
"""

import re
from collections.abc import Sequence
from contextlib import suppress

from engine.text.rules import numbers
from engine.text.rules.context import Context, Reading, is_counted, is_name, matching, say
from engine.text.tables import words
from engine.text.unit_table import SIGNS

LONGEST = 9  # groups, as many as the longest bank account number has
_REGIONS = "US GB DE FR IN ES IT AU JP CH NZ BR CN NL PL SE".split()
"""Countries in which numbers without a country code are looked up; after a plus every country's are
known."""

_BEGIN = re.compile(r"[^\w\s]{0,3}(?:\d{1,7}\)?|\(\d{2,5}\)|\d\d?/\d\d?)|[A-Z]{2}\d\d", re.ASCII)
_DAYS = re.compile(r"\W*\d\d?/\d\d?(?: (?:to|through|until)(?: \d\d?/\d\d?\W*)?)?", re.ASCII)
_NEXT = re.compile(r"\(?\d[\d().,–-]*[^\w\s]*|[A-Z]{4}", re.ASCII)
_OPEN_END = re.compile(r".*[\w)]")
_LONG_GROUP = re.compile(r"\+|\d{3}")
_SMALL = re.compile(r"\(?\d\D*")
THOUSANDS = r"[1-9]\d{0,2}(?: \d{3})+(?!\d)(?:[.,]\d\d?(?!\d))?"
_GROUPED = re.compile(rf"[^\w\s]{{0,2}}{THOUSANDS}(?:[-–]{THOUSANDS})?[^\d\s]*")
_ROUND = re.compile(r".*\b000\D*")
_CARD = re.compile(r"[3-6]\d{3}(?: \d{4}){3}(?: \d{1,3})?|3\d{3} \d{6} \d{5}")
_ACCOUNT = re.compile(r"[A-Z]{2}\d\d(?: [A-Z]{4})?(?: \d{1,4}){2,8}")
_DIALLED = re.compile(r"\+?[\d() .-]+")
_NATIONAL = re.compile(r"(?=(?:\D*\d){7,15}\D*$)[\d() .-]+")
_TYPED = re.compile(r"(\d{3,4}) \d{3,4}|\d\d(?: \d\d){1,3}")  # a code of one use: 482 913
_TRUNK = re.compile(r"(?:\(0\d+\)|0\d{2,})[ -]")
_CUES = words("groups", "cues")
_LINKS = frozenset("is number no nr code at now".split())
_AMERICAN = re.compile(r"(?:\+?1[-.])?(?:(?:\(\d{3}\)|\d{3})[-.]?)?(\d{3})[-.](\d{4})", re.ASCII)
_CODE = re.compile(
    r"\+\d{1,3}(?:[-.]\d{2,5}){2,5}"  # abroad
    r"|1-[89]\d\d-(?=.*[A-Za-z])(?:(?:[A-Za-z]{2,12}|\d)-?)+(?<!-)|97[89]\d{10}"  # words, a book
    r"|\d{2,5}(?:-\d{2,5}){2,4}|\d{1,7}(?:-\d{1,7}){3,6}|(?=.*\d{6})\d+(?:-\d+){2}",
    re.ASCII,
)
_UNGROUPED = re.compile(r"\+\d{8,15}", re.ASCII)
_CARD_GLUED = re.compile(r"\d{16}", re.ASCII)
_ZIP = re.compile(r"\d{5}(?:-\d{4})?", re.ASCII)
_LABELS = {"tel": "telephone", "sms": "S-M-S", "fax": "fax"}
_LONG = 8  # figures
_LONGEST_COUNT = 9  # figures
_GLUED_AMERICAN = re.compile(r"(1?)([2-9]\d\d)([2-9]\d\d)(\d{4})", re.ASCII)
_LONG_ID = re.compile(r"(?=(?:[A-Z]*\d){8})[A-Z\d]{9,34}|[a-z]{1,4}\d{8,30}", re.ASCII)
_BEFORE_QUANTITY = words("groups", "before_quantity")
_COUNTING_VERBS = words("groups", "counting_verbs")
_AFTER_QUANTITY = words("groups", "after_quantity")
_TYPED_CODE = re.compile(r"\d{3,}|\d{3,4}-\d{3,4}|\d{5}-\d{4}", re.ASCII)


def cued(context: Context) -> bool:
    """Return whether the words before announce a dialled or typed number: "call", "PIN is"."""
    past = [past.body.lower() for past in context.past]
    return any(
        word in _CUES and all(link in _LINKS for link in past[:place])
        for place, word in enumerate(past)
    )


def begins(text: str) -> bool:
    """Return whether more groups of the same number may follow a token."""
    return bool(_BEGIN.fullmatch(text))


def continues(run: Sequence[str], text: str) -> bool:
    """Return whether `text` may be the next group; a single figure may be one only after a longer
    group. The days or fractions of a range are read together, too.
    """
    if "/" in run[0]:
        return is_range((*run, text))
    open_end = len(run) < LONGEST and begins(run[0]) and _OPEN_END.fullmatch(run[-1])
    if not open_end or not _NEXT.fullmatch(text):
        return False
    if text.isalpha():
        return len(run) == 1 and run[0][0].isalpha()
    return not _SMALL.fullmatch(text) or any(map(_LONG_GROUP.search, run))


def is_range(run: Sequence[str]) -> bool:
    """Return whether tokens are "3/4 to 3/11" or its beginning."""
    return bool(_DAYS.fullmatch(" ".join(run)))


def thousands(run: Sequence[str], context: Context) -> int:
    """Return how many tokens at the beginning of a run form one number in groups of three."""
    named = is_name(context.previous)
    for size in range(len(run), 1, -1):
        text = " ".join(run[:size])
        if _GROUPED.fullmatch(text) and (not named or _ROUND.fullmatch(text)):  # "iPhone 15 256 GB"
            return size
    return 0


def code(run: Sequence[str], *, cued: bool, entire: bool) -> int:
    """Return the number of tokens at the beginning of a run that are said figure by figure.
    `cued`: the words before announce such a number. `entire`: no token of the run has been read
    yet, so it may be a national number.
    """
    for size in range(len(run), 1, -1):
        text = re.sub(r"[^\w)]+$", "", " ".join(run[:size]))
        if _CARD.fullmatch(text) or _ACCOUNT.fullmatch(text) or _is_dialled(text, cued=cued):
            return size
    text = re.sub(r"[^\w)]+$", "", " ".join(run))
    if entire and cued and _TYPED.fullmatch(text):
        return len(run)
    # Does a country write its telephone numbers like this? Possible thousands do not count.
    national = entire and _NATIONAL.fullmatch(text) and not re.fullmatch(THOUSANDS, text)
    if not national:
        return 0
    import phonenumbers

    grouped = phonenumbers.Leniency.STRICT_GROUPING
    found = (phonenumbers.PhoneNumberMatcher(text, each, grouped) for each in _REGIONS)
    return len(run) if any(one.raw_string == text for each in found for one in each) else 0


def words_of(text: str) -> list[str]:
    """Return a code in words, with a pause after every group except the last."""
    said: list[str] = []
    bare = re.sub(r"[()]", "", text)
    for match in re.finditer(r"\+?\d+|[A-Za-z]+", bare):
        group = match[0]
        if re.fullmatch(r"[89]00", group):
            said += numbers.cardinal(int(group)).split()
        elif group.isalpha():
            said.append("-".join(group) if len(group) == 2 and group.isupper() else group)
        else:
            said += ["plus"] * (group[0] == "+") + numbers.digits(group).split()
        in_word = len(group) == 1 and bare[: match.start()][-1:].isalpha()  # Kars4Kids
        said[-1] += "" if group.isalpha() or in_word else ","
    return [*said[:-1], said[-1].rstrip(",")]


def international(text: str) -> str:
    """Return a number with its country code, in that country's groups; "" if it is invalid."""
    import phonenumbers

    with suppress(phonenumbers.NumberParseException):
        number = phonenumbers.parse(text, None)
        if phonenumbers.is_possible_number(number):
            style = phonenumbers.PhoneNumberFormat.INTERNATIONAL
            return phonenumbers.format_number(number, style)
    return ""


def _is_dialled(text: str, *, cued: bool) -> bool:
    figures = sum(char.isdigit() for char in text)
    if not _DIALLED.fullmatch(text) or not 7 <= figures <= 15:
        return False
    if text[0] == "+":
        return bool(international(text))
    return cued or bool(_TRUNK.match(text))


def dialled(body: str, context: Context) -> Reading | None:
    """Read tokens such as 555-1234, 1-800-555-1234, +44-20-7946-0958, 123-45-6789, CA 90210."""
    match = _AMERICAN.fullmatch(body)
    a_range = match and match[1].endswith("0") and match[2].endswith("00")  # 100-2000
    behind_state = len(context.previous) == 2 and context.previous.isupper()
    if (match and not a_range) or (behind_state and _ZIP.fullmatch(body)) or _CODE.fullmatch(body):
        return _reading(re.sub(r"\b[A-Z]{2}\b", lambda word: word[0].capitalize(), body))
    if _UNGROUPED.fullmatch(body) and (grouped := international(body)):
        return _reading(grouped)
    return _reading(" ".join(re.findall("....", body))) if _CARD_GLUED.fullmatch(body) else None


@matching(r"(?:(\+?\d{1,3})\()?(\d{2,5})\)([\d.-]{6,12})", re.ASCII)
def area_glued(match: re.Match[str], context: Context) -> Reading | None:
    """Read (415)555-0132 and +1(415)555-0132. The first bracket may have been peeled off."""
    if not (match[1] or "(" in context.opened):
        return None
    country, area, rest = match.groups()
    if re.fullmatch(r"\d{7}", rest) and re.fullmatch(r"[2-9]\d\d", area):  # in North America
        rest = f"{rest[:3]}-{rest[3:]}"
    return _reading(f"{country or ''} {area} {rest}".strip())


def label(body: str, context: Context) -> Reading | None:
    """Read the scheme of tel:+14155550132."""
    word = _LABELS.get(body.lower()) if body.islower() or body.isupper() else None
    if not word or context.punctuation != ":" or context.after[:1] not in tuple("+(0123456789"):
        return None
    return say(word, "")


def typed(body: str, context: Context) -> Reading | None:
    """Read the figures of "PIN 1234" and "dial 112" one by one, but not "call 100 people"."""
    if not _TYPED_CODE.fullmatch(body) or not cued(context):
        return None
    is_count = context.previous == "call" and not context.punctuation and is_counted(context.after)
    return None if is_count else _reading(_parted(body))


def long_number(body: str, context: Context) -> Reading | None:
    """Read 5551234567 and XI1234567812334 digit by digit, unless it is round or an amount."""
    if body.isdecimal() and body.isascii() and len(body) >= _LONG:
        return None if _is_quantity(body, context) else _reading(_parted(body))
    if not _LONG_ID.fullmatch(body):
        return None
    runs = re.findall(r"[A-Za-z]+|\d+", body)
    return _reading(" ".join(_parted(run) if run.isdecimal() else run.upper() for run in runs))


def numbered(figures: str) -> Reading:
    """Return the words of the figures behind a #; many figures are said one by one."""
    if len(figures) < _LONG or not figures.isdecimal():
        return say(f"number {numbers.number(figures)}")
    return Reading(("number", *words_of(_parted(figures))))


def _parted(figures: str) -> str:
    """Split a long run of figures as a North American number, or into threes and fours."""
    if len(figures) < _LONG:
        return figures
    match = _GLUED_AMERICAN.fullmatch(figures)
    if match:
        return " ".join(group for group in match.groups() if group)
    fours = len(figures) // 4 if len(figures) % 4 == 0 else len(figures) % 3
    threes = len(figures) - 4 * fours
    head = [figures[place : place + 3] for place in range(0, threes, 3)]
    return " ".join([*head, *re.findall("....", figures[threes:])])


def _is_quantity(body: str, context: Context) -> bool:
    one, two = context.previous.lower(), context.before_previous.lower()
    verb = one in _COUNTING_VERBS and len(body) <= _LONGEST_COUNT
    if body[0] != "0" and (verb or body.endswith("000")):
        return True
    if one in _BEFORE_QUANTITY or (one in ("is", "of") and two in _BEFORE_QUANTITY):
        return True
    after = "" if context.punctuation else context.after
    if after in _AFTER_QUANTITY or after.partition("/")[0] in SIGNS:
        return True
    return after != "or" and not _GLUED_AMERICAN.fullmatch(body) and is_counted(after)


def _reading(text: str) -> Reading:
    return Reading(tuple(words_of(text)))


RULES = (dialled, area_glued, label, typed, long_number)
