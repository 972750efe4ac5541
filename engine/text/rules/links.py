"""Addresses: web links, bare domains, e-mail, handles, file paths, network addresses.

Invariant: only the host of a web link is said, never its path, query or fragment.
"""

import re

from engine.text.rules import numbers
from engine.text.rules.context import Context, Reading, Rule, say

_URL = re.compile(
    r"[a-z][a-z0-9+.-]*://(?:[^\s/@]*@)?([^\s/:?#]+)(?::(\d+))?(?:[/?#].*)?", re.IGNORECASE
)
_WWW = re.compile(r"www\.([^\s/:?#]+)(?:[/?#].*)?", re.IGNORECASE)
_PORT = re.compile(r"(localhost|[\w-]+(?:\.[\w-]+)*\.[a-z]{2,6}):(\d{2,5})(?:/\S*)?")
_EMAIL = re.compile(r"(?:mailto:)?([\w.%+-]+)@((?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,24})", re.IGNORECASE)
_DOMAIN = re.compile(
    r"((?:[A-Za-z0-9][A-Za-z0-9-]*\.)+"
    r"(?:com|org|net|edu|gov|io|ai|dev|app|co|uk|de|fr|ca|au|jp|info|me|tv|us|eu|nl|ch|at))"
    r"(?:/\S*)?",
    re.IGNORECASE,
)
_HANDLE = re.compile(r"@(\w[\w.-]*)")
_HASHTAG = re.compile(r"#([A-Za-z]\w*)")
_NUMBER_SIGN = re.compile(r"#(\d[\d,]*)")
_PATH = re.compile(
    r"[ru]/\w+|(?:~|\.{1,2})?/(?:[\w.@+-]+/?)+|(?:[\w.@+-]+/){2,}[\w.@+-]*|[\w.@+-]+/[\w-]+\.[A-Za-z]\w{0,4}"
)
_SYMBOLS = {"-": "dash", "_": "underscore", ".": "dot", "+": "plus", "%": "percent", "/": "slash"}
_PIECES = re.compile(r"[^\W\d_]+|\d+|[-_.+%/~]")


def web(core: str, context: Context) -> Reading | None:
    """https://www.example.com/path -> link to example dot com"""
    match = _URL.fullmatch(core)
    if match:
        port = f" port {numbers.digits(match[2])}" if match[2] and len(match[2]) < 6 else ""
        return say(f"link to {_host(match[1])}{port}")
    match = _WWW.fullmatch(core)
    return say(f"link to {_host(match[1])}") if match else None


def port(core: str, context: Context) -> Reading | None:
    """localhost:3000"""
    match = _PORT.fullmatch(core)
    return say(f"{_host(match[1])} port {numbers.digits(match[2])}") if match else None


def domain(core: str, context: Context) -> Reading | None:
    """example.com"""
    match = _DOMAIN.fullmatch(core)
    return say(_host(match[1])) if match else None


def email(core: str, context: Context) -> Reading | None:
    """name at example dot com"""
    match = _EMAIL.fullmatch(core)
    return say(f"{spell(match[1])} at {_host(match[2])}") if match else None


def sign(core: str, context: Context) -> Reading | None:
    """@name, #topic, #1"""
    handle = _HANDLE.fullmatch(core)
    if handle:
        return say(f"at {spell(handle[1])}")
    hashtag = _HASHTAG.fullmatch(core)
    if hashtag:
        return say(f"hashtag {_spaced(hashtag[1])}")
    figure = _NUMBER_SIGN.fullmatch(core)
    return say(f"number {numbers.number(figure[1])}") if figure else None


def path(core: str, context: Context) -> Reading | None:
    """/usr/local/bin, src/main.py"""
    if not _PATH.fullmatch(core) or not re.search(r"[A-Za-z]", core):
        return None
    return say(spell(core.replace("~", "home", 1)))


def spell(name: str) -> str:
    """A name with its separators said; runs of letters stay words, figures become numbers."""
    words = []
    for part in _PIECES.findall(name):
        if part.isdecimal():
            words.append(numbers.number(part))
        else:
            words.append(_SYMBOLS.get(part, part))
    return " ".join(words)


def _host(host: str) -> str:
    host = re.sub(r"^www\.", "", host, flags=re.IGNORECASE).strip(".")
    return spell(host) or "a page"


def _spaced(tag: str) -> str:
    """Words of a hashtag: MachineLearning2024"""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\dA-Za-z_]+", tag)
    return " ".join(numbers.number(part) if part.isdecimal() else part for part in parts)


RULES: tuple[Rule, ...] = (web, email, port, domain, sign, path)
