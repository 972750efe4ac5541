"""Identifiers, which are not said in full: UUIDs, hashes, keys, masked cards; network addresses.

Invariant: of an identifier the last four characters are said; of a network address all.
"""

import re

from engine.text.rules import numbers
from engine.text.rules.context import Context, Reading, Rule, matching, say
from engine.text.tables import words

MASK = "•"
"""Stands for the hidden figures of a card (inline.py puts it there)."""

_UUID = re.compile(r"\{?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\}?", re.I)
_HASH = re.compile(r"(?=.*\d)(?=.*[a-f])[0-9a-f]{7,128}|(?=.*\d)(?=.*[A-F])[0-9A-F]{32,128}")
_NAMED_HASH = re.compile(r"(?=.*\d)(?=.*[A-Fa-f])[0-9A-Fa-f]{7,128}")
_RANDOM = re.compile(r"(?=.*\d)(?=.*[a-z])(?=.*[A-Z])[A-Za-z0-9]{24,}")
_MIXED = re.compile(r"[a-f]\d+[a-f]|\d[a-f]+\d+[a-f]")  # neither abc1234 nor 5e100000
_MIXED_HEX = re.compile(r"(?=.*\d)(?=.*[a-fA-F])")
_LONG = 32  # characters
_LABELLED = re.compile(r"(md5|sha-?\d{1,3}|sha|crc32|blake2b):([0-9a-fA-F]{7,128})", re.I)
_BASE64 = re.compile(r"(?P<name>sha(?P<size>256|384|512))-[A-Za-z0-9+/]{40,}={0,2}")
_KEY = re.compile(
    r"(?:[sprk]k|pk|rk|ghp|gho|github_pat|glpat|hf|xox[abp]|AKIA|AIza)[-_]?(?=\S*\d)[\w-]{16,}"
)
_MAC = re.compile(r"[0-9a-f]{2}(?:([:-])[0-9a-f]{2})(?:\1[0-9a-f]{2}){4}", re.I)
_IPV6 = re.compile(
    r"(?=.*:.*:)(?=.*(?:[0-9a-f]{3}|::))(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?:/\d{1,3})?", re.I
)
_MASKED = re.compile(rf"#?{MASK}(\d{{3,6}})")
_LAST_FIGURES = re.compile(r"\d{2,6}")
_YEAR = re.compile(r"(?:19|20)\d\d")
_ENDINGS = frozenset("ending ends end ended".split())
_CARDS = words("identifiers", "cards")
_NAMES = words("identifiers", "names")
_DETERMINERS = frozenset("the this that my your our their its his her".split())
_SHOWN = 4  # characters


def own_name(body: str, context: Context) -> Reading | None:
    """Read the "id" before an identifier at the head of a sentence as "an id ending in"."""
    if body.lower() not in ("id", "uuid", "guid") or context.punctuation or context.previous:
        return None
    article = "an" if body[0] in "iI" else "a"
    return say(f"{article} {body}") if _UUID.fullmatch(context.after) else None


def identifier(body: str, context: Context) -> Reading | None:
    """Read tokens such as 550e8400-e29b-41d4-a716-446655440000, 3f2a9bc, sha256:..., an API key."""
    bare = body.strip("{}")
    if _UUID.fullmatch(bare):
        return _ending("id", bare, context)
    labelled = _LABELLED.fullmatch(body) or _BASE64.fullmatch(body)
    if labelled:
        name = re.sub(r"\d+", lambda figure: f"-{numbers.code(figure[0])}", labelled[1].lower())
        end = labelled[2] if labelled.re is _LABELLED else body.rstrip("=")
        return say(f"{name.replace(' ', '-').replace('--', '-')} ending in {_spelled(end)}")
    if _KEY.fullmatch(body) or _RANDOM.fullmatch(body):
        return _ending("key", body, context)
    named = context.previous.lower() in _NAMES and _NAMED_HASH.fullmatch(body)
    if named or (_HASH.fullmatch(body) and (len(body) >= _LONG or _MIXED.search(body))):
        return _ending("hash", body, context)
    return None


def network(body: str, context: Context) -> Reading | None:
    """Read tokens such as 00:1A:2B:3C:4D:5E, 2001:db8::1, fe80::1/64."""
    if _MAC.fullmatch(body):
        return say(" ".join(spell(pair) for pair in re.split("[:-]", body)))
    if not _IPV6.fullmatch(body):
        return None
    address, _, length = body.partition("/")
    groups = [
        "double colon" if part == "::" else spell(part)
        for part in re.findall(r"::|[0-9a-fA-F]+", address)
    ]
    return say(", ".join(groups) + (f" slash {numbers.number(length)}" if length else ""))


@matching(r"(0[xX]|#)([0-9a-fA-F]{2,16})")
def hexadecimal(match: re.Match[str], context: Context) -> Reading | None:
    """Read tokens such as 0xFF, #ff8800."""
    if match[1] == "#":
        is_colour = len(match[2]) in (3, 6, 8) and _MIXED_HEX.match(match[2])
        return say(f"hash {spell(match[2])}") if is_colour else None
    return say(f"zero X {spell(match[2])}")


@matching(r"(?=.*(?:\\[bdswBDSW](?![A-Za-z])|\w-\w\]))(?=.*[+*?^${}|]).{3,}")
def pattern(match: re.Match[str], context: Context) -> Reading:
    r"""Do not read a regular expression: ^\d{3}-\d{4}$."""
    named = context.previous.lower() in ("regex", "regexp", "pattern", "expression")
    return Reading(()) if named else say("a pattern")


def masked(body: str, context: Context) -> Reading | None:
    """Read tokens such as ****8876, **** **** **** 8876."""
    if body == MASK:
        return Reading(())
    match = _MASKED.fullmatch(body)
    behind = context.previous == MASK and _LAST_FIGURES.fullmatch(body)
    if not match and not behind:
        return None
    lead = "" if _is_ending(context) else "ending in "
    return say(lead + numbers.digits(match[1] if match else body))


def last_figures(body: str, context: Context) -> Reading | None:
    """Read the figures of "a card ending in 8876" one by one, but not those of "a decade ending in
    2019".
    """
    if not _LAST_FIGURES.fullmatch(body) or not _is_ending(context):
        return None
    named = any(past.body.lower() in _CARDS for past in context.past[2:])
    if (_YEAR.fullmatch(body) or len(body) == 2) and not named:
        return None
    return say(numbers.digits(body))


def spell(text: str) -> str:
    """Spell letters and figures one by one, with hyphens between adjacent letters."""
    return " ".join(
        numbers.digits(run) if run.isdecimal() else "eh" if run in "aA" else "-".join(run.upper())
        for run in re.findall(r"\d+|[A-Za-z]+", text)
    )


def _spelled(text: str) -> str:
    return spell(text[-_SHOWN:])


def _ending(name: str, text: str, context: Context) -> Reading:
    """Return the end of an identifier in words, with the identifier's name unless the words before
    it contain one.
    """
    previous = context.previous.lower()
    if previous in _NAMES or previous.endswith("id"):
        lead = ""
    elif previous in _DETERMINERS:
        lead = name
    else:
        lead = f"{'an' if name[0] in 'ai' else 'a'} {name}"
    return say(f"{lead} ending in {_spelled(text)}")


def _is_ending(context: Context) -> bool:
    words = [past.body.lower() for past in context.past[:3]] + [""] * 3
    if words[0] in ("is", "are", "were"):
        words = words[1:]
    if words[0] == "digits" or (words[0] in _ENDINGS and words[1] in _CARDS):
        return True
    return words[0] in ("in", "with") and words[1] in _ENDINGS


RULES: tuple[Rule, ...] = (
    own_name, hexadecimal, pattern, masked, last_figures, network, identifier,
)  # fmt: skip
