"""Addresses: web links, bare domains, e-mail, handles, file paths, network addresses; identifiers,
which are not said in full: UUIDs, hashes, keys, masked cards.

Invariant: only the host of a web link is said, never its path, query or fragment; of an identifier
the last four characters, of a network address all.
"""

import re

from engine.text.rules import groups, numbers
from engine.text.rules.context import Context, Reading, matching, say
from engine.text.tables import section, words

MASK = "•"
"""Stands for the hidden figures of a card (inline.py puts it there)."""

_SYMBOLS = {"-": "dash", "_": "underscore", ".": "dot", "+": "plus", "%": "percent", "/": "slash"}
_NO_PATHS = section("symbols", "names")
_PIECES = re.compile(r"[^\W\d_]+|\d+|[-_.+%/~]")

_UUID = re.compile(r"\{?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\}?", re.I)
_HASH = re.compile(r"(?=.*\d)(?=.*[a-f])[0-9a-f]{7,128}|(?=.*\d)(?=.*[A-F])[0-9A-F]{32,128}")
_NAMED_HASH = re.compile(r"(?=.*\d)(?=.*[A-Fa-f])[0-9A-Fa-f]{7,128}")
_RANDOM = re.compile(r"(?=.*\d)(?=.*[a-z])(?=.*[A-Z])[A-Za-z0-9]{24,}")
_MIXED = re.compile(r"[a-f]\d+[a-f]|\d[a-f]+\d+[a-f]")  # neither abc1234 nor 5e100000
_MIXED_HEX = re.compile(r"(?=.*\d)(?=.*[a-fA-F])")
_LONG = 32  # characters
_LABELLED = re.compile(
    r"(?i:(?P<name>md5|sha-?\d{1,3}|sha|crc32|blake2b):(?P<hash>[0-9a-f]{7,128}))"
    r"|(?P<base64>sha(?:256|384|512))-(?P<code>[A-Za-z0-9+/]{40,})={0,2}"
)
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
_CARDS, _NAMES = (words("identifiers", name) for name in ("cards", "names"))
_DETERMINERS = frozenset("the this that my your our their its his her".split())
_SHOWN = 4  # characters


@matching(
    r"(?:[a-z][a-z0-9+.-]*://(?:[^\s/@]*@)?|(?=www\.))([^\s/:?#]+|(?=/\w))(?::(\d+))?(?:[/?#].*)?",
    re.IGNORECASE,
)
def web(match: re.Match[str], context: Context) -> Reading:
    """Read a web link by its host: https://www.example.com/path is "link to example dot com"."""
    return say(f"link to {_host(match[1], match[2])}")


@matching(
    r"(localhost(?=:)|(?:[A-Za-z0-9][A-Za-z0-9-]*\.)+"
    r"(?:com|org|net|edu|gov|io|ai|dev|app|co|uk|de|fr|ca|au|jp|info|me|tv|us|eu|nl|ch|at))"
    r"(?::(\d{2,5}))?(?:[/?]\S*)?",
    re.IGNORECASE,
)
def domain(match: re.Match[str], context: Context) -> Reading:
    """Read tokens such as example.com, localhost:3000."""
    return say(_host(match[1], match[2]))


@matching(r"(?:mailto:)?([\w.%+-]+)@((?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,24})", re.IGNORECASE)
def email(match: re.Match[str], context: Context) -> Reading:
    """Read an e-mail address: "name at example dot com"."""
    return say(f"{_with_separators(match[1])} at {_host(match[2])}")


@matching(r"@(?P<name>\w[\w.-]*)|#(?P<topic>[A-Za-z]\w*)|#(?P<figure>\d[\d,]*)")
def sign(match: re.Match[str], context: Context) -> Reading:
    """Read tokens such as @name, #MachineLearning2024, #1."""
    if match["name"]:
        return say(f"at {_with_separators(match['name'])}")
    if match["figure"]:
        return groups.numbered(match["figure"])
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\dA-Za-z_]+", match["topic"])
    said = (numbers.number(part) if part.isdecimal() else part for part in parts)
    return say(f"hashtag {' '.join(said)}")


@matching(
    r"[ru]/\w+|(?:~|\.{1,2})?/(?:[\w.@+-]+/?)+|(?!\d+(?:st|nd|rd|th)/)(?:[\w.@+-]+/){2,}[\w.@+-]*"
    r"|[\w.@+-]+/[\w-]+\.[A-Za-z]\w{0,4}"
)
def path(match: re.Match[str], context: Context) -> Reading | None:
    """Read tokens such as /usr/local/bin, src/main.py."""
    if match[0].lower() in _NO_PATHS or not re.search(r"[A-Za-z]", match[0]):
        return None
    return say(_with_separators(match[0].replace("~", "home", 1)))


def _with_separators(name: str) -> str:
    """Return a name with its separators in words; runs of letters stay, figures are numbers."""
    return " ".join(
        numbers.number(part) if part.isdecimal() else _SYMBOLS.get(part, part)
        for part in _PIECES.findall(name)
    )


def _host(host: str, port: str | None = None) -> str:
    host = re.sub(r"^www\.", "", host, flags=re.IGNORECASE).strip(".")
    behind = f" port {numbers.digits(port)}" if port and len(port) < 6 else ""
    return (_with_separators(host) or "a page") + behind


# ------------------------------------------------------------------------- identifiers


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
    if labelled := _LABELLED.fullmatch(body):
        name = (labelled["name"] or labelled["base64"]).lower()
        name = re.sub(r"\d+", lambda figure: f"-{numbers.code(figure[0])}", name)
        end = spell((labelled["hash"] or labelled["code"])[-_SHOWN:])
        return say(f"{name.replace(' ', '-').replace('--', '-')} ending in {end}")
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
    parts = re.findall(r"::|[0-9a-fA-F]+", address)
    said = ("double colon" if part == "::" else spell(part) for part in parts)
    return say(", ".join(said) + (f" slash {numbers.number(length)}" if length else ""))


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
    """Read the figures of "a card ending in 8876" one by one, but not "a decade ending in 2019"."""
    if not _LAST_FIGURES.fullmatch(body) or not _is_ending(context):
        return None
    named = any(past.body.lower() in _CARDS for past in context.past[2:])
    is_year = _YEAR.fullmatch(body) or len(body) == 2
    return say(numbers.digits(body)) if named or not is_year else None


def spell(text: str) -> str:
    """Spell letters and figures one by one, with hyphens between adjacent letters."""
    return " ".join(
        numbers.digits(run) if run.isdecimal() else "eh" if run in "aA" else "-".join(run.upper())
        for run in re.findall(r"\d+|[A-Za-z]+", text)
    )


def _ending(name: str, text: str, context: Context) -> Reading:
    """Return the end of an identifier in words, with its name unless it is said before."""
    previous = context.previous.lower()
    lead = f"{'an' if name[0] in 'ai' else 'a'} {name}"
    if previous in _NAMES or previous.endswith("id"):
        lead = ""
    elif previous in _DETERMINERS:
        lead = name
    return say(f"{lead} ending in {spell(text[-_SHOWN:])}")


def _is_ending(context: Context) -> bool:
    words = [past.body.lower() for past in context.past[:3]] + [""] * 3
    if words[0] in ("is", "are", "were"):
        words = words[1:]
    if words[0] == "digits" or (words[0] in _ENDINGS and words[1] in _CARDS):
        return True
    return words[0] in ("in", "with") and words[1] in _ENDINGS


IDENTIFIERS = (
    own_name, hexadecimal, pattern, masked, last_figures, network, identifier,
)  # fmt: skip
RULES = (web, email, domain, sign, path)
