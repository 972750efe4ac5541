"""Abbreviations in their context: Dr. Smith and Mulholland Dr., St. Louis and Main St., e.g., U.S.

Invariant: the dot of an abbreviation is a full stop only if the token ends its block or a sentence
begins after it.
"""

import re

from engine.text.rules.context import SENTENCE_STARTERS, Context, Reading, Rule, say

_TITLES = {
    "Mr": "Mister", "Mrs": "Missus", "Ms": "Miz", "Messrs": "Messieurs", "Prof": "Professor",
    "Gen": "General", "Sen": "Senator", "Rep": "Representative", "Gov": "Governor",
    "Capt": "Captain", "Lt": "Lieutenant", "Col": "Colonel", "Sgt": "Sergeant",
    "Cpl": "Corporal", "Maj": "Major", "Adm": "Admiral", "Rev": "Reverend", "Hon": "Honorable",
    "Pres": "President", "Fr": "Father", "Mt": "Mount", "Ft": "Fort", "Mme": "Madame",
    "Drs": "Doctors",
}  # fmt: skip
"""Before a name; never the end of a sentence."""

_BARE_TITLES = frozenset({"Mr", "Mrs", "Ms", "Mt", "Prof"})  # also recognised without their dot

_WORDS = {
    "etc": "et cetera", "approx": "approximately", "dept": "department", "est": "estimated",
    "incl": "including", "misc": "miscellaneous", "vol": "volume", "fig": "figure",
    "eq": "equation", "ch": "chapter", "pp": "pages", "pg": "page", "ed": "edition",
    "eds": "editors",
    "al": "al", "vs": "versus", "govt": "government", "max": "maximum", "min": "minimum",
    "tel": "telephone", "temp": "temperature", "avg": "average", "assn": "association",
    "assoc": "association", "bros": "brothers", "dist": "district", "ext": "extension",
    "hwy": "highway", "inc": "incorporated", "ltd": "limited", "corp": "corporation",
    "co": "company", "intl": "international", "mfg": "manufacturing", "jr": "junior",
    "sr": "senior", "esq": "esquire", "apt": "apartment", "ave": "avenue", "blvd": "boulevard",
    "rd": "road", "ln": "lane", "sq": "square", "ca": "circa", "resp": "respectively",
    "univ": "university", "sec": "section", "para": "paragraph", "ref": "reference",
    "viz": "namely", "cf": "compare", "no": "number", "nos": "numbers", "nr": "number",
    "p": "page", "art": "article", "c": "circa", "b": "born", "d": "died", "ste": "suite",
    "rm": "room", "ea": "each", "bd": "boulevard", "av": "avenue", "fl": "floor",
    "bldg": "building",
}  # fmt: skip
"""Recognised with their dot only; capitals allowed."""

_BEFORE_FIGURE = frozenset("no nos nr vol fig eq ch pp pg sec p art c b d ste rm".split())
"""Read as abbreviations only with a figure after them: "No." is also an answer."""

_REAL_WORDS = frozenset("ea fl av ed al co temp max min sec sq ca ref para misc".split())
"""These are also words or names: their dot may simply end the sentence, so something must
follow."""

_OTHERS_IN_CAPITALS = frozenset("est ca co al fl sec ed ea av ch ref art temp sq p c d b".split())
"""In capitals these are something else: a time zone, a state, an institution, an initial."""

_DOTTED = {
    "e.g": "for example,", "i.e": "that is,", "a.k.a": "also known as", "w.r.t": "with respect to",
    "n.b": "note:", "p.s": "P-S,", "ph.d": "P-H-D", "m.d": "M-D", "b.a": "B-A", "m.a": "M-A",
    "b.sc": "B-S-C", "m.sc": "M-S-C", "d.d.s": "D-D-S", "r.i.p": "R-I-P", "v.s": "versus",
}  # fmt: skip

_BARE = {
    "vs": "versus", "etc": "et cetera", "eg": "for example,", "ie": "that is,", "w/": "with",
    "w/o": "without", "b/c": "because", "n/a": "not applicable", "N/A": "not applicable",
    "c/o": "care of", "a/c": "air conditioning", "A/C": "air conditioning",
    "approx": "approximately", "aka": "also known as", "PhD": "P-H-D", "LED": "L-E-D",
    "LEDs": "L-E-Ds", "NYC": "N-Y-C",
    "WWI": "World War one", "WWII": "World War two", "WW1": "World War one", "WW2": "World War two",
    "TL;DR": "in short", "TLDR": "in short", "Blvd": "Boulevard", "Ave": "Avenue",
    "Hwy": "Highway", "Apt": "Apartment",
}  # fmt: skip
"""Read this way without any dot. The last rows are capitals that a synthesiser would read as a
word."""

_INITIALISM = re.compile(r"(?:[A-Za-z]\.){1,6}[A-Za-z]")
_MAY_END = frozenset("etc jr sr inc ltd co corp esq bros al".split())


def dotted(core: str, context: Context) -> Reading | None:
    """e.g., i.e., Ph.D., U.S., J.R.R."""
    if not _INITIALISM.fullmatch(core) and core.lower() not in _DOTTED:
        return None
    expansion = _DOTTED.get(core.lower())
    if expansion:
        return _with_own_comma(expansion, context)
    if not (core.isupper() or context.tail.startswith(".")):
        return None  # "a.b" is a name with a dot in it
    letters = core.replace(".", "")
    spelling = letters if letters.isupper() else "-".join(letters.upper())
    return say(spelling, context.mark_behind_dot(any_name=False))


def titled(core: str, context: Context) -> Reading | None:
    """Mr. Smith, Mt. Everest"""
    title = _TITLES.get(core)
    if title is None:
        return None
    if context.tail.startswith("."):
        is_title = core in _BARE_TITLES or context.after in ("and", "&")
        return say(title, context.other_mark) if is_title or _names_something(context) else None
    if core in _BARE_TITLES and not context.tail and context.after[:1].isupper():
        return say(title)
    return None


def street_or_person(core: str, context: Context) -> Reading | None:
    """Dr. and St. on either side of a name."""
    if core not in ("Dr", "St"):
        return None
    before, behind = {"Dr": ("Doctor", "Drive"), "St": ("Saint", "Street")}[core]
    closes = bool(context.tail.strip(".")) or not _names_something(context)
    if not closes and _in_address(context):
        return say(behind, "")
    if not closes:
        return say(before, "")
    named = context.previous[:1].isupper() or context.previous[:1].isdigit()
    if not named and core == "Dr":
        return say(before, context.mark_behind_dot(any_name=False))
    return say(behind, context.mark_behind_dot(any_name=False))


def shortened(core: str, context: Context) -> Reading | None:
    """approx., etc., No. 5"""
    lower = core.lower()
    if not context.tail.startswith(".") or lower not in _WORDS:
        return None
    figure = context.after[:1].isdigit() or (core == "No" and context.after == "of")
    if lower in _BEFORE_FIGURE and not figure:
        return None
    if lower in _OTHERS_IN_CAPITALS and core.isupper() and not figure:
        return None
    if lower == "al" and context.previous != "et":
        return None
    mark = context.mark_behind_dot(any_name=lower in _MAY_END or lower in _REAL_WORDS)
    ends_sentence = mark is not None and "." in mark
    if ends_sentence and lower in _REAL_WORDS - _BEFORE_FIGURE - {"al"}:
        return None
    dated = lower == "est" and re.fullmatch(r"\d{4}", context.after)
    word = "established" if dated else _WORDS[lower]
    return say(word.capitalize() if core[0].isupper() and lower != "etc" else word, mark)


def bare(core: str, context: Context) -> Reading | None:
    """vs, w/, N/A, LED"""
    expansion = _BARE.get(core)
    if expansion is None:
        return None
    if context.tail.startswith(".") and expansion != "P-H-D":
        return None
    return _with_own_comma(expansion, context) if expansion.endswith(",") else say(expansion)


def initial(core: str, context: Context) -> Reading | None:
    """George W. Bush: no pause after the letter."""
    single = len(core) == 1 and core.isupper() and core.isascii() and context.tail == "."
    if not single or core == "I" or not context.after:
        return None
    if context.after[0].islower():
        return say(core, "")
    if not context.after[0].isupper():
        return None
    if context.after.lower() in SENTENCE_STARTERS and len(context.after) > 1:
        return None
    previous = context.previous
    beside_name = not previous or previous[0].isupper() or previous in SENTENCE_STARTERS
    return say(core, "") if beside_name or len(context.after) == 1 else None


def letter_a(core: str, context: Context) -> Reading | None:
    """The letter in "N, A, M, E": voices read a bare A as the article, and "ay" as an eye."""
    return say("eh") if core == "A" and context.tail[:1] in tuple(",.;:!?") else None


def _with_own_comma(expansion: str, context: Context) -> Reading:
    """A reading that ends with a mark of its own keeps it unless the text has one."""
    words = expansion.rstrip(",:")
    own = expansion[len(words) :]
    if own:
        return say(words, context.other_mark or own)
    return say(
        words, context.mark_behind_dot(any_name=False) if context.tail.startswith(".") else None
    )


def _names_something(context: Context) -> bool:
    """Whether a name follows: a capital that does not begin a sentence."""
    after = context.after
    if after in ("Who", "Will"):
        return True
    return after[:1].isupper() and after.lower() not in SENTENCE_STARTERS


def _in_address(context: Context) -> bool:
    """ "12 Oak Dr. Springfield": a name with a figure before it."""
    return context.previous[:1].isupper() and context.before_previous[:1].isdigit()


RULES: tuple[Rule, ...] = (
    dotted, titled, street_or_person, shortened, bare, initial, letter_a,
)  # fmt: skip
