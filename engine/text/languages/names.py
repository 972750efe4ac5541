"""Short forms and names: abbreviations, initialisms, Roman numerals, addresses."""

import re

from engine.text.languages.vocabulary import Vocabulary
from engine.text.rules.abbreviations import value_of
from engine.text.rules.context import Context, Reading, say

_WEB = re.compile(
    r"(?:[a-z][a-z0-9+.-]*://(?:[^\s/@]*@)?|(?=www\.))([^\s/:?#]+)(?::\d+)?(?:[/?#].*)?", re.I
)
_EMAIL = re.compile(r"(?:mailto:)?([\w.%+-]+)@((?:[\w-]+\.)+[a-z]{2,24})", re.I)
_DOMAIN = re.compile(
    r"((?:[a-z0-9-]+\.)+(?:com|org|net|edu|gov|io|ai|dev|app|es|it|fr|br|pt|mx|ar|cl|co|eu|uk|de))"
    r"(?:/\S*)?",
    re.I,
)
_HANDLE = re.compile(r"([@#])([^\W\d]\w*)")
_ADDRESS_PART = re.compile(r"[^\W\d_]+|\d+|[-_.+]")
_SEPARATORS = {".": "dot", "+": "plus", "-": "-", "_": "_"}
_CAPITALS = re.compile(r"[^\W\d_]{2,6}")
_VOWELS = "AEIOUÁÉÍÓÚÀÈÌÒÙÂÊÎÔÛÃÕY"
_SYLLABLE = rf"(?:[BCDFGPT][RL]|QU|CH|[B-DF-HJ-NP-TV-Z])?[{_VOWELS}]{{1,2}}"
_SAYABLE = re.compile(rf"(?:{_SYLLABLE}[LMNRSX]?)*{_SYLLABLE}[LMNRSXZDBTPCF]?")
_ROMAN = re.compile(r"(?=[IVX])(X{0,3})(IX|IV|V?I{0,3})(?P<suffix>er|re|ère|e|ème|è)?")
_ARTICLE = re.compile(r"[ei]l|l[aeo]|\w+l(?:la)?|[dn]?[ao]|ao|à")
_NUMBERED = re.compile(r"[nN]\.?[º°](\d+)")


def is_short(body: str, n: Vocabulary) -> bool:
    """Return whether a word may be a short form or a Roman numeral."""
    known = {body, body.capitalize(), body.lower()} & (n.short_forms | {"am", "pm"})
    return bool(known) or bool(_ROMAN.fullmatch(body))


def abbreviation(body: str, context: Context, n: Vocabulary) -> Reading | None:
    """Read Sr., EE. UU., p. ej., n.º, etc."""
    if n.unit(body) and context.after_number:
        return None
    if phrase := _phrase(body, context, n):
        return phrase
    if numbered := _NUMBERED.fullmatch(body):
        return say(f"{n.say('number')} {n.number(numbered[1])}")
    head, hyphen, name = body.partition("-")
    if hyphen and name[:1].isupper() and head in n.section("titles"):  # St-Malo
        return say(f"{n.section('titles')[head]}-{name}")
    for section in ("names", "titles", "abbreviations"):
        table = n.section(section)
        known = len(body) == 1 or body in n.short_forms
        said = table.get(body if known else body.capitalize())
        if not said:
            continue
        dotted = context.punctuation.startswith(".")
        undotted = body in n.listed("dotless") or "." in body
        if section == "names" or (not dotted and undotted):
            return say(said)
        lettered = len(body) == 1 and context.previous.lower() in n.listed("lettered")
        may_end = section == "titles" or body in n.listed("also_words")
        if dotted and not lettered and not (may_end and _ends(body, context, n)):
            return say(said, _mark(context, ends=section == "abbreviations"))
    is_initial = len(body) == 1 and body.isupper() and context.punctuation == "."
    if context.previous.lower() in n.listed("lettered"):
        return None
    king = _ROMAN.fullmatch(body) and len(context.previous) > 2
    if is_initial and not king:
        return Reading((body,), "" if context.after[:1].isupper() else None)
    return None


def _phrase(body: str, context: Context, n: Vocabulary) -> Reading | None:
    """Read one of the two tokens of "p. ej.": the first says the first word."""
    phrases = n.section("phrases")
    dotted = context.punctuation.startswith(".")
    if not dotted or not any(body in phrase.split(" ") for phrase in phrases):
        return None
    before = context.previous.removesuffix(".")
    if before != context.previous and (said := phrases.get(f"{before} {body}")):
        return say(said.partition(" ")[2], _mark(context, ends=body[:1].isupper()))
    if said := phrases.get(f"{body} {context.after}"):
        return say(said.partition(" ")[0], "")
    return None


def _mark(context: Context, *, ends: bool) -> str:
    """Return the mark behind an abbreviation. `ends`: a capital may begin a sentence there."""
    if context.other_mark:
        return context.other_mark
    begins = context.after[:1].isupper() and not _ROMAN.fullmatch(context.after)
    return "." if ends and (begins or context.after == "") else ""


def _ends(body: str, context: Context, n: Vocabulary) -> bool:
    """Return whether the dot of a short form rather ends a sentence: "meu ex.", "vitamina D."."""
    if len(body) == 1 and body.isupper():
        return context.after == ""
    is_word = body in n.listed("also_words") or len(body) == 1
    return (
        is_word
        and not context.other_mark
        and not context.after[:1].islower()
        and not (context.after[:1].isdecimal() or _ROMAN.fullmatch(context.after))
    )


def initialism(body: str, context: Context, n: Vocabulary) -> Reading | None:
    """Spell what cannot be said as a word: DNI, but not ONU."""
    capitals = body.removesuffix("s") if body[:-1].isupper() else body
    if not (_CAPITALS.fullmatch(capitals) and capitals.isupper()):
        return None
    is_word = len(capitals) > n.spelled_up_to and _SAYABLE.fullmatch(capitals)
    said = capitals in n.listed("said_initialisms") or capitals.lower() in n.listed("short_words")
    if said or (is_word and capitals not in n.listed("spelled_initialisms")):
        return None
    return Reading((spelled(capitals, n),))


def spelled(capitals: str, n: Vocabulary) -> str:
    letters = n.section("letters")
    return "-".join(letters.get(letter, letter) for letter in capitals)


def roman(body: str, context: Context, n: Vocabulary) -> Reading | None:
    """Read the numerals of kings, centuries and chapters."""
    match = _ROMAN.fullmatch(body)
    if not match:
        return None
    value, previous = value_of(match[1] + match[2]), context.previous
    if match["suffix"]:
        gender = "f" if match["suffix"] in ("re", "ère") else "m"
        return say(n.ordinal(value, gender)) if n.num2words == "fr" else None
    is_name = previous.istitle() and previous.lower() not in n.listed("small")
    named = is_name and not context.past[0].mark
    cued = previous.lower() in n.listed("roman_cues")
    if not named and not cued:
        return _before_noun(body, value, context, n)
    if value > n.roman_ordinals:
        return say(n.cardinal(value))
    names = n.listed("feminine_names")
    feminine = (named and previous[-1] == "a") or previous.lower() in names
    if cued:
        feminine = n.gender(previous.lower()) == "f"
    return say(n.ordinal(value, "f" if feminine else "m"))


def _before_noun(body: str, value: int, context: Context, n: Vocabulary) -> Reading | None:
    """Read the numeral of "II Guerra Mundial"; a single letter is one only behind an article."""
    if len(body) == 1 and not _ARTICLE.fullmatch(context.previous.lower()):
        return None
    gender = "" if context.punctuation else n.gender(context.after.lower())
    if gender and n.num2words != "fr":
        return say(n.ordinal(value, "f" if gender == "f" else "short"))
    return say(n.cardinal(value)) if len(body) > 1 else None


def link(body: str, context: Context, n: Vocabulary) -> Reading | None:
    """Read web and mail addresses, @name and #topic; of a web link only the host is said."""
    if web := _WEB.fullmatch(body):
        host = re.sub(r"^www\.", "", web[1], flags=re.IGNORECASE)
        return say(f"{n.say('link')} {_address(host, n) or n.say('page')}")
    if mail := _EMAIL.fullmatch(body):
        return say(f"{_address(mail[1], n)} {n.say('at')} {_address(mail[2], n)}")
    if domain := _DOMAIN.fullmatch(body):
        return say(_address(domain[1], n))
    if handle := _HANDLE.fullmatch(body):
        lead = n.say("at" if handle[1] == "@" else "hashtag")
        return say(f"{lead} {_address(handle[2], n)}")
    return None


def _address(text: str, n: Vocabulary) -> str:
    said = []
    for part in _ADDRESS_PART.findall(text):
        if part.isdecimal():
            said.append(n.number(part))
        elif part in _SEPARATORS:
            said.append(n.say(_SEPARATORS[part]))
        else:  # letters, perhaps with a sign such as ½
            vowels = _VOWELS + _VOWELS.lower()
            sayable = any(letter in vowels for letter in part)
            said.append(part if sayable or len(part) > 3 else spelled(part.upper(), n))
    return " ".join(said)
