"""Give the voice the said forms of the person's names, in the words of one reply.

Invariant: the words that come out depend on the words that went in, never on when they came. Only a
word that may begin a name of several words waits, until the next words decide.
"""

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Final

from engine.languages import ENGLISH
from engine.text.names.entries import Names
from engine.text.pronunciation.respelling import (
    is_common_word,
    said_words,
    split_phones,
    with_ending,
)
from engine.text.speakable import Speakable
from engine.text.word import PHONES, Word

_EDGES: Final = re.compile(r"^(\W*)(.*?)(\W*)$", re.DOTALL)
_SIMPLE: Final = re.compile(r"[^\W\d_]+(?:[ '-][^\W\d_]+)*")
_ENDINGS: Final = ("'s", "s")


@dataclass(frozen=True)
class _Part:
    """A part of a word between hyphens; `lead` and `tail` are the signs around it."""

    word: Word
    core: str
    lead: str = ""
    tail: str = ""
    is_first: bool = True
    is_last: bool = True


@dataclass(frozen=True)
class _SaidName:
    """The parts of a name as it is written, and the words for the voice. `expanded`: the parts are
    read otherwise than written, such as "Dr. No", whose full stop may look like the end of a
    sentence.
    """

    parts: tuple[str, ...]
    words: tuple[str, ...]
    expanded: bool = False


Index = Mapping[str, Sequence[_SaidName]]


class NamedWords:
    """Replaces the names in the words of one reply. `language`: of the reply."""

    def __init__(self, names: Names, language: str = ENGLISH) -> None:
        self._index = _index(names, language)
        self._endings: tuple[str, ...] = _ENDINGS if language == ENGLISH else ()
        self._held: deque[_Part] = deque()
        self._plain: list[_Part] = []  # of the word at the head, without a name so far

    def push(self, words: Iterable[Word]) -> list[Word]:
        """Return the words that are certain now."""
        if not self._index:
            return list(words)
        for word in words:
            self._held += _parts(word)
        return self._release(ended=False)

    def end(self) -> list[Word]:
        """Return the words that were held back."""
        return self._release(ended=True)

    def _release(self, *, ended: bool) -> list[Word]:
        released: list[Word] = []
        while self._held:
            found = self._longest_name(ended=ended)
            if found is None:
                break
            name, ending = found
            if name is None:
                self._plain.append(self._held.popleft())
                if self._plain[-1].is_last:
                    released += self._take_plain()
            else:
                released += self._take_plain()
                released += _named([self._held.popleft() for _ in name.parts], name.words, ending)
        return released

    def _take_plain(self) -> list[Word]:
        """Return the parts of the word at the head before a name, or behind one, as one word."""
        parts, self._plain = self._plain, []
        if not parts:
            return []
        if parts[0].is_first and parts[-1].is_last:
            return [parts[0].word]
        text = parts[0].lead + "-".join(part.core for part in parts) + parts[-1].tail
        return [_spoken(parts[:1], text)]

    def _longest_name(self, *, ended: bool) -> tuple[_SaidName | None, str] | None:
        """Return the longest name at the head and its ending; None if later words decide."""
        for name in self._candidates():
            parts = list(islice(self._held, len(name.parts)))
            inner = zip(parts, name.parts[:-1], strict=False)
            tails = ("", ".") if name.expanded else ("",)
            if not all(part.tail in tails and _same(part.core, written) for part, written in inner):
                continue
            if len(parts) == len(name.parts):
                ending = self._ending(parts[-1].core, name.parts[-1])
                if ending is not None:
                    return name, ending
            elif not ended:
                return None
        return None, ""

    def _candidates(self) -> Iterable[_SaidName]:
        """Return the names that may begin at the head, longer ones first."""
        core = self._held[0].core.casefold()
        keys = (core, *(core.removesuffix(each) for each in self._endings if core.endswith(each)))
        found = [name for key in keys for name in self._index.get(key, ())]
        return sorted(found, key=lambda name: -len(name.parts))

    def _ending(self, core: str, written: str) -> str | None:
        """Return the ending of a name's last part; None if the part is another word."""
        for ending in ("", *self._endings):
            if core.casefold().endswith(ending) and _same(core[: len(core) - len(ending)], written):
                return ending
        return None


def _parts(word: Word) -> list[_Part]:
    match = _EDGES.match(word.text.replace("’", "'"))
    assert match is not None, "the pattern matches any text"
    lead, core, tail = match.groups()
    cores = core.split("-")
    last = len(cores) - 1
    return [
        _Part(word, each, lead * (n == 0), tail * (n == last), n == 0, n == last)
        for n, each in enumerate(cores)
    ]


def _same(core: str, written: str) -> bool:
    """Return whether a part of a text is a part of a name. Abbreviations have their capitals; a
    name that is an ordinary word too needs one.
    """
    if core == written:
        return True
    if core.casefold() != written.casefold() or (len(written) > 1 and written.isupper()):
        return False
    return written.islower() or not core.islower() or not is_common_word(core)


def _named(parts: Sequence[_Part], words: Sequence[str], ending: str) -> list[Word]:
    """Return the said words of a name in place of its parts."""
    said = [_with_letters(word, parts[0].core.removesuffix(ending)) for word in words]
    said[-1] = with_ending(said[-1], ending) + parts[-1].tail
    said[0] = parts[0].lead + said[0]
    if len(said) == len(parts):
        return [_spoken([part], text) for part, text in zip(parts, said, strict=True)]
    first, *others = said
    rest = [replace(_spoken(parts, text), pause_s=0.0) for text in others]
    return [_spoken(parts, first), *rest]


def _with_letters(word: str, core: str) -> str:
    """Return a word whose letters can be read also without the phonetic alphabet."""
    letters, phones = split_phones(word)
    return word if letters.isascii() or not phones else core + PHONES + word.partition(PHONES)[2]


def _spoken(parts: Sequence[_Part], said: str) -> Word:
    """Return the word of these parts, said otherwise. A part behind a hyphen has no pause."""
    first, last = parts[0], parts[-1].word
    texts = dict.fromkeys(part.word.text for part in parts)
    pause_s = first.word.pause_s if first.is_first else 0.0
    return replace(first.word, text=" ".join(texts), end=last.end, said=said, pause_s=pause_s)


@lru_cache(maxsize=8)
def _index(names: Names, language: str) -> Index:
    """Return the names with a said form by their first part."""
    chosen = {
        name.written.casefold(): name
        for general in (True, False)
        for name in names
        if (not name.language if general else name.language == language)
    }
    found: dict[str, list[_SaidName]] = defaultdict(list)
    for name in chosen.values():
        for parts in _written_parts(name.written, language) if name.said else ():
            words = said_words(name.said, name.language)
            expanded = parts != tuple(re.split("[ -]", name.written))
            found[parts[0].casefold()].append(_SaidName(parts, words, expanded))
    return found


def _written_parts(written: str, language: str) -> set[tuple[str, ...]]:
    """Return the parts that a name may have among the words of a reply: C++ is read "C plus plus",
    and Mr T "Mister T".
    """
    is_simple = _SIMPLE.fullmatch(written) and (not written.isupper() or len(written) == 1)
    forms = {tuple(re.split("[ -]", written))} if is_simple else set[tuple[str, ...]]()
    if not is_simple or " " in written:
        speakable = Speakable(language)
        words = [*speakable.push(written), *speakable.end()]
        forms.add(tuple(part.core for word in words for part in _parts(word)))
    return forms - {()}
