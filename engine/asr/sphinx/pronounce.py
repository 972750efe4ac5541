"""Pronounce words that the dictionary lacks: units, British spellings, the name of the product.

A word is split into parts that the dictionary has (kilo + joules, nano + meters). Any other word is
read letter by letter, which is right for regular words only. Invariant: every phone is one of the
acoustic model's 39 (CMU set).
"""

from collections.abc import Callable, Mapping

Lookup = Callable[[str], str | None]
"""A word to its phones, separated by spaces; None if the dictionary lacks it."""

KNOWN = {
    "rubato": "R UW B AA T OW",
    "spelt": "S P EH L T",
    # Interjections during a reply (engine/text/barge_in_words.py).
    "mhm": "M HH M",
    "hm": "HH M",
    "hum": "HH AH M",
    "uhuh": "AH HH AH",
    "eh": "EH",
    "aha": "AA HH AA",
    "yep": "Y EH P",
    "yup": "Y AH P",
}
PREFIXES = {
    "centi": "S EH N T IH",
    "deci": "D EH S IH",
    "giga": "G IH G AH",
    "gibi": "G IH B IH",
    "kilo": "K IH L AH",
    "mega": "M EH G AH",
    "mebi": "M EH B IH",
    "micro": "M AY K R OW",
    "milli": "M IH L AH",
    "nano": "N AE N OW",
    "tera": "T EH R AH",
    "un": "AH N",
    "re": "R IY",
}
RESPELT = (("tre", "ter"), ("tres", "ters"), ("gramme", "gram"), ("grammes", "grams"),
           ("iser", "izer"), ("ise", "ize"), ("our", "or"))  # fmt: skip
LEAST_PART = 3  # letters; shorter matches are accidental
HISSING = {"S", "Z", "SH", "ZH", "CH", "JH"}
VOICELESS = {"P", "T", "K", "F", "TH"}
LETTERS = {
    "tion": "SH AH N", "igh": "AY", "tch": "CH", "ch": "CH", "sh": "SH", "th": "TH", "ph": "F",
    "ck": "K", "qu": "K W", "ng": "NG", "wh": "W", "kn": "N", "wr": "R", "ee": "IY", "ea": "IY",
    "oo": "UW", "ou": "AW", "ow": "OW", "oa": "OW", "oi": "OY", "oy": "OY", "ai": "EY", "ay": "EY",
    "au": "AO", "aw": "AO", "er": "ER", "ir": "ER", "ur": "ER", "ar": "AA R", "or": "AO R",
    "a": "AE", "b": "B", "c": "K", "d": "D", "e": "EH", "f": "F", "g": "G", "h": "HH", "i": "IH",
    "j": "JH", "k": "K", "l": "L", "m": "M", "n": "N", "o": "AA", "p": "P", "q": "K", "r": "R",
    "s": "S", "t": "T", "u": "AH", "v": "V", "w": "W", "x": "K S", "y": "IY", "z": "Z",
}  # fmt: skip


def pronounce(word: str, lookup: Lookup) -> str | None:
    """Return the phones of a lower-case word; None if no letter can be read."""
    return _composed(word, lookup) or in_pieces(word, LETTERS) or None


def _composed(word: str, lookup: Lookup) -> str | None:
    """Return phones from the dictionary: of the word, respelt, as a plural or in two parts."""
    return (
        KNOWN.get(word)
        or lookup(word)
        or _respelt(word, lookup)
        or _plural(word, lookup)
        or _in_parts(word, lookup)
    )


def _respelt(word: str, lookup: Lookup) -> str | None:
    for british, american in RESPELT:
        if word.endswith(british):
            return _composed(word.removesuffix(british) + american, lookup)
    return None


def _plural(word: str, lookup: Lookup) -> str | None:
    if not word.endswith("s") or len(word) <= LEAST_PART:
        return None
    phones = _composed(word[:-1], lookup)
    if phones is None:
        return None
    last = phones.split()[-1]
    ending = "IH Z" if last in HISSING else "S" if last in VOICELESS else "Z"
    return f"{phones} {ending}"


def _in_parts(word: str, lookup: Lookup) -> str | None:
    """Split off the longest head that the dictionary (or PREFIXES) has, if it has the tail too."""
    for cut in range(len(word) - LEAST_PART, 1, -1):
        head = PREFIXES.get(word[:cut]) or (lookup(word[:cut]) if cut >= LEAST_PART else None)
        tail = lookup(word[cut:])
        if head and tail:
            return f"{head} {tail}"
    return None


def in_pieces(text: str, table: Mapping[str, str]) -> str:
    """Translate a text with a table, longest keys first; skip characters that have no key."""
    found: list[str] = []
    place, longest = 0, max(map(len, table))
    while place < len(text):
        sizes = range(longest, 0, -1)
        size = next((n for n in sizes if text[place : place + n] in table), 0)
        if size:
            found.append(table[text[place : place + size]])
        place += max(1, size)
    return " ".join(found)
