"""Addresses: web links, bare domains, e-mail, handles, file paths, network addresses.

Invariant: only the host of a web link is said, never its path, query or fragment.
"""

import re

from engine.text.rules import groups, numbers
from engine.text.rules.context import Context, Reading, Rule, matching, say
from engine.text.tables import section

_SYMBOLS = {"-": "dash", "_": "underscore", ".": "dot", "+": "plus", "%": "percent", "/": "slash"}
_NO_PATHS = section("symbols", "names")
_PIECES = re.compile(r"[^\W\d_]+|\d+|[-_.+%/~]")


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
    return say(f"{spell(match[1])} at {_host(match[2])}")


@matching(r"@(?P<name>\w[\w.-]*)|#(?P<topic>[A-Za-z]\w*)|#(?P<figure>\d[\d,]*)")
def sign(match: re.Match[str], context: Context) -> Reading:
    """Read tokens such as @name, #MachineLearning2024, #1."""
    if match["name"]:
        return say(f"at {spell(match['name'])}")
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
    if match[0].lower() in _NO_PATHS:
        return None
    said = match[0].replace("~", "home", 1)
    return say(spell(said)) if re.search(r"[A-Za-z]", match[0]) else None


def spell(name: str) -> str:
    """Return a name with its separators in words. Runs of letters stay words, figures become
    numbers.
    """
    words = []
    for part in _PIECES.findall(name):
        if part.isdecimal():
            words.append(numbers.number(part))
        else:
            words.append(_SYMBOLS.get(part, part))
    return " ".join(words)


def _host(host: str, port: str | None = None) -> str:
    host = re.sub(r"^www\.", "", host, flags=re.IGNORECASE).strip(".")
    behind = f" port {numbers.digits(port)}" if port and len(port) < 6 else ""
    return (spell(host) or "a page") + behind


RULES: tuple[Rule, ...] = (web, email, domain, sign, path)
