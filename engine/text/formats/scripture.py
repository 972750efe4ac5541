"""Chapter and verse behind the name of a book: Genesis 1:1, 1 Corinthians 13:4, Quran 2:255.

Invariant: the colon is a ratio or a time unless a book stands before it.
"""

import re

from engine.text.rules import numbers
from engine.text.rules.context import Context, Reading, Rule, say

_NUMBERED = {
    name: full
    for full, names in {
        "Samuel": "Samuel Sam", "Kings": "Kings Kgs", "Chronicles": "Chronicles Chron Chr",
        "Corinthians": "Corinthians Cor", "Thessalonians": "Thessalonians Thess",
        "Timothy": "Timothy Tim", "Peter": "Peter Pet", "John": "John Jn",
        "Maccabees": "Maccabees Macc", "Esdras": "Esdras", "Nephi": "Nephi",
    }.items()
    for name in names.split()
}  # fmt: skip
_SHORT = {
    "Gen": "Genesis", "Ex": "Exodus", "Exod": "Exodus", "Lev": "Leviticus", "Num": "Numbers",
    "Deut": "Deuteronomy", "Josh": "Joshua", "Judg": "Judges", "Neh": "Nehemiah",
    "Esth": "Esther", "Ps": "Psalm", "Psa": "Psalm", "Pss": "Psalms", "Prov": "Proverbs",
    "Eccl": "Ecclesiastes", "Isa": "Isaiah", "Jer": "Jeremiah", "Lam": "Lamentations",
    "Ezek": "Ezekiel", "Dan": "Daniel", "Hos": "Hosea", "Obad": "Obadiah", "Mic": "Micah",
    "Nah": "Nahum", "Hab": "Habakkuk", "Zeph": "Zephaniah", "Hag": "Haggai",
    "Zech": "Zechariah", "Mal": "Malachi", "Matt": "Matthew", "Mt": "Matthew", "Mk": "Mark",
    "Lk": "Luke", "Rom": "Romans", "Gal": "Galatians", "Eph": "Ephesians",
    "Phil": "Philippians", "Col": "Colossians", "Heb": "Hebrews", "Jas": "James",
    "Philem": "Philemon", "Rev": "Revelation",
}  # fmt: skip
_BOOKS = frozenset(
    "Genesis Exodus Leviticus Numbers Deuteronomy Joshua Judges Ruth Ezra Nehemiah Esther Job "
    "Psalm Psalms Proverbs Ecclesiastes Song Songs Solomon Isaiah Jeremiah Lamentations Ezekiel "
    "Daniel Hosea Joel Amos Obadiah Jonah Micah Nahum Habakkuk Zephaniah Haggai Zechariah "
    "Malachi Matthew Mark Luke Acts Romans Galatians Ephesians Philippians Colossians Titus "
    "Philemon Hebrews James Jude Revelation Revelations Tobit Judith Wisdom Sirach Baruch Quran "
    "Koran Qur'an Surah Sura Gita Mormon Alma".split()
) | frozenset(_NUMBERED)
_PERSONS = frozenset(
    "Joshua Ruth Esther Job Daniel Joel Amos Micah Mark Luke John James Jude Matthew Peter Samuel "
    "Timothy Titus Ezra Judith Alma Wisdom Solomon".split()
)
"""Also names of people, who may meet at 3:30 p.m."""

_ORDINALS = {
    "1": "First",
    "2": "Second",
    "3": "Third",
    "I": "First",
    "II": "Second",
    "III": "Third",
}
_PLACE = re.compile(r"\d{1,3}:\d{1,3}\D?.*")
_VERSES = re.compile(
    r"(\d{1,3}):(\d{1,3})(?:[-–](\d{1,3})(?::(\d{1,3}))?)?((?:,\d{1,3}(?:[-–]\d{1,3})?)*)"
)
_HALF = re.compile(r"[ap]\.?m", re.IGNORECASE)


def book(core: str, context: Context) -> Reading | None:
    """Matt. 5:3, Gen 1:1; the "1" of 1 Corinthians"""
    if core in _ORDINALS and not context.tail:
        is_book = core.isdecimal() or len(core) > 1
        return say(_ORDINALS[core]) if is_book and context.after in _NUMBERED else None
    name = _SHORT.get(core) or (_NUMBERED.get(core) if core not in _BOOKS - {"Chr"} else None)
    if name is None or context.tail not in ("", ".") or not _PLACE.fullmatch(context.after):
        return None
    return say(name, "")


def verse(core: str, context: Context) -> Reading | None:
    """Genesis 1:1, John 3:16-18, Acts 2:38,40"""
    match = _VERSES.fullmatch(core)
    name = context.previous
    if not match or (name not in _BOOKS and name not in _SHORT and name not in _NUMBERED):
        return None
    if name in _PERSONS and int(match[2]) < 60 and _is_time(context):
        return None
    said = " ".join(numbers.cardinal(int(part)) for part in match.groups()[:2])
    if match[3]:
        said += f" to {numbers.cardinal(int(match[3]))}"
        said += f" {numbers.cardinal(int(match[4]))}" if match[4] else ""
    more = re.sub("[-–]", " to ", match[5])
    return say(said + re.sub(r"\d+", lambda part: f" {numbers.cardinal(int(part[0]))}", more))


def _is_time(context: Context) -> bool:
    return not context.tail and bool(_HALF.fullmatch(context.after))


RULES: tuple[Rule, ...] = (book, verse)
