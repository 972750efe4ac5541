"""The number of syllables of an English word, so that rates in syllables per second are known
before there is any sound to measure.

Invariant: at least 1 for anything with a letter, 0 otherwise. Letters joined by hyphens ("A-M") and
capitals that are spelled out ("PDF", "GPU") count letter by letter.
"""

import re
from functools import lru_cache

from engine.text.pronunciation.initialisms import spelled
from engine.text.tables import words

_PART = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_VOWELS = "aeiouyàáâäæèéêëìíîïòóôöøùúûüœ"
_GROUP = re.compile(f"[{_VOWELS}]+")

_SILENT_E = re.compile(rf"(?<=[^{_VOWELS}])e$|(?<=[{_VOWELS}])[lrc]e$|(?<=[gq]u)e$")
_VOICED_LE = re.compile(rf"[^{_VOWELS}wl]l(?:e|es|ed)$")
_SILENT_ES = re.compile(rf"(?<=[^{_VOWELS}sxzcgl])es$|(?<=[{_VOWELS}][lr])es$|(?<=[^cs]h)es$")
_VOICED_ES = re.compile(r"(?:ch|sh)es$")
_SILENT_ED = re.compile(rf"(?<=[^{_VOWELS}dtl])ed$|(?<=[{_VOWELS}]l)ed$|(?<=ll)ed$")
_INNER_SILENT_E = re.compile(
    r"(?<=[aeiou][^aeiou])e(?=(?:ly|ment|ments|ful|less|ness|some|where)$)|a(?=lly$)(?<=ica)"
)
_APART = re.compile(
    r"(?<![tscgx])i(?=[aou])(?!ous?$)|(?<=[tscgr])ia(?=te|tion|nt)|(?<=[rnvdbl])i(?=ous$)"
    r"|[aeiouy](?=ing(?:s|ly)?$)|(?<![qg])u(?=[aeo][ltn])|e(?=o[nlg])|e(?=a(?:te|tor|tion))"
    r"|(?<=[aeo])y(?=[aeou])(?!e[ds]$)|i(?=e[rt](?:y|s)?$)(?<=[dnrv]i)|(?<=[^c])i(?=en[ct])"
)
_SYLLABIC_END = re.compile(r"[sht]ms?$|(?<=[bdfkpstvz])n't$")

_EXCEPTIONS = {word: number for number in range(1, 5) for word in words("syllables", str(number))}


@lru_cache(maxsize=4096)
def count(word: str) -> int:
    """Return the number of syllables of a word from Speakable, whatever its punctuation is."""
    return sum(_of_part(match[0]) for match in _PART.finditer(word))


def _of_part(part: str) -> int:
    """Return the number of syllables of a part between hyphens."""
    if letters := spelled(part.removesuffix("'s").removesuffix("s")) or (part == "W" and part):
        more = part.endswith("s") and letters[-1] in "HSX"
        return sum(3 if letter == "W" else 1 for letter in letters) + more
    lower = part.lower()
    entry = _EXCEPTIONS.get(lower) or _EXCEPTIONS.get(lower.removesuffix("'s"))
    return entry or max(1, _by_rule(lower.replace("'s", "s")))


def _by_rule(word: str) -> int:
    syllables = len(_GROUP.findall(word)) + len(_APART.findall(word))
    syllables += len(_SYLLABIC_END.findall(word))
    if not _VOICED_LE.search(word):
        syllables -= len(_SILENT_E.findall(word))
    if not _VOICED_ES.search(word) and not _VOICED_LE.search(word):
        syllables -= len(_SILENT_ES.findall(word))
    if not _VOICED_LE.search(word):
        syllables -= len(_SILENT_ED.findall(word))
    return syllables - len(_INNER_SILENT_E.findall(word))
