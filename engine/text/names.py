"""Names that the person has taught: how they are written, and how they are said.

A line of their list has the written form, a tab, how it is said ("" = as the voices read it), and
perhaps a tab and a language. Other programs' lists with commas or semicolons can be read too.

Invariant: the words of a reply with said forms depend on the words that went in, never on when they
came. Only a word that may begin a name of several words waits, until the next words decide.
"""

import csv
import io
import re
import unicodedata
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Final

from engine.errors import InvalidInput
from engine.languages import ENGLISH, SPOKEN
from engine.text.pronunciation import respelling
from engine.text.pronunciation.respelling import said_words, split_phones
from engine.text.speakable import Speakable
from engine.text.word import PHONES, Word

MOST: Final = 5_000  # names
LONGEST_WRITTEN, LONGEST_SAID = 60, 120  # characters
_HEADER: Final = re.compile(r"(?i)(written|name|word)s?\b")
_LETTER: Final = re.compile(r"[^\W_]")
_EDGES: Final = re.compile(r"^(\W*)(.*?)(\W*)$", re.DOTALL)
_SIMPLE: Final = re.compile(r"[^\W\d_]+(?:[ '-][^\W\d_]+)*")
_ENDINGS: Final = ("'s", "s")


@dataclass(frozen=True)
class Name:
    """A name. `said`: a respelling, phones in slashes or ordinary words; "" = as it is read.
    `language`: the code of the only language in which it is said so, "" = all.
    """

    written: str
    said: str = ""
    language: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Names with the same key replace one another."""
        return self.written.casefold(), self.language


Names = tuple[Name, ...]
OnError = Callable[[int, InvalidInput], None]  # gets the number of a line, and its fault


def checked(name: Name) -> Name:
    """Return a name in its normal form. InvalidInput if it cannot be used."""
    written, said = plain(name.written), plain(name.said)
    language = name.language.strip().lower()
    if not _LETTER.search(written) or len(written) > LONGEST_WRITTEN:
        raise InvalidInput(
            "A name has letters or digits, and at most {most} characters.", most=LONGEST_WRITTEN
        )
    if len(said) > LONGEST_SAID or (said and not _LETTER.search(said)):
        raise InvalidInput(
            "The said form has letters, and at most {most} characters.",
            hint="Write it as in roo-BAH-toh, in other words, or as phones in slashes.",
            most=LONGEST_SAID,
        )
    if language and language not in SPOKEN:
        raise InvalidInput(
            "'{language}' is not a language of the voices.",
            hint="Give one of {languages}, or none.",
            language=language[:20],
            languages=", ".join(SPOKEN),
        )
    said_words(said, language)
    return Name(written, said, language)


def _refuse(line: int, error: InvalidInput) -> None:
    raise InvalidInput("Line {line}: {error}", hint=error.hint, line=line, error=error.message)


def read(text: str, on_error: OnError = _refuse) -> Names:
    """Return the names of a text. `on_error` gets each bad line; otherwise InvalidInput."""
    found: dict[tuple[str, str], Name] = {}
    first = next((line for line in text.splitlines() if line and not line.startswith("#")), "")
    mark = "\t" if "\t" in text else ";" if ";" in first else ","
    lines = io.StringIO(text.removeprefix("\ufeff"))
    rows = csv.reader(
        lines, delimiter=mark, quoting=csv.QUOTE_NONE if mark == "\t" else csv.QUOTE_MINIMAL
    )
    is_first = True
    try:
        for row in rows:
            if not "".join(row).strip() or row[0].startswith("#"):
                continue
            is_header = is_first and len(row) > 1 and _HEADER.match(row[0])
            is_first = False
            if is_header:
                continue
            try:
                name = _of_row(row)
            except InvalidInput as error:
                on_error(rows.line_num, error)
                continue
            found.pop(name.key, None)
            found[name.key] = name
    except csv.Error as error:
        on_error(rows.line_num, InvalidInput("It cannot be read: {error}.", error=error))
    if len(found) > MOST:
        on_error(MOST, InvalidInput("There are more than {most} names.", most=MOST))
    return tuple(found.values())[:MOST]


def _of_row(row: list[str]) -> Name:
    if len(row) > 3:
        raise InvalidInput("There are {count} columns instead of three at most.", count=len(row))
    return checked(Name(*row))


def written_out(names: Iterable[Name]) -> str:
    """Return names as the text of a file."""
    rows = ("\t".join((each.written, each.said, each.language)).rstrip("\t") for each in names)
    return "# written\tsaid\tlanguage\n" + "".join(f"{row}\n" for row in rows)


def plain(text: str) -> str:
    """Return a text in NFC on one line, without invisible signs, without the one before phones, and
    without "#" at its begin, which is a comment in a file.
    """
    text = unicodedata.normalize("NFC", text.replace("’", "'").replace(PHONES, " "))
    seen = "".join(sign if not unicodedata.category(sign).startswith("C") else " " for sign in text)
    return " ".join(seen.split()).lstrip("# ")


# ------------------------------------------------------- the names in the words of a reply


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
        core = self._held[0].core.casefold()
        keys = (core, *(core.removesuffix(each) for each in self._endings if core.endswith(each)))
        found = [name for key in keys for name in self._index.get(key, ())]
        for name in sorted(found, key=lambda name: -len(name.parts)):
            parts = list(islice(self._held, len(name.parts)))
            inner = zip(parts, name.parts[:-1], strict=False)
            tails = ("", ".") if name.expanded else ("",)
            if not all(part.tail in tails and _same(part.core, written) for part, written in inner):
                continue
            if len(parts) < len(name.parts):
                if not ended:
                    return None
                continue
            for ending in ("", *self._endings):
                last = parts[-1].core
                base = last[: len(last) - len(ending)]
                if last.casefold().endswith(ending) and _same(base, name.parts[-1]):
                    return name, ending
        return None, ""


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
    """Return whether a part of a text is one of a name. Abbreviations have their capitals; a name
    that is an ordinary word too needs one.
    """
    if core == written:
        return True
    if core.casefold() != written.casefold() or (len(written) > 1 and written.isupper()):
        return False
    return written.islower() or not core.islower() or core not in respelling.COMMON_WORDS


def _named(parts: Sequence[_Part], words: Sequence[str], ending: str) -> list[Word]:
    """Return the said words of a name in place of its parts."""
    said = []
    for word in words:
        letters, phones = split_phones(word)
        if phones and not letters.isascii():  # letters that can be read without the alphabet
            letters = parts[0].core.removesuffix(ending)
            word = letters + PHONES + word.partition(PHONES)[2]
        said.append(word)
    said[-1] = respelling.with_ending(said[-1], ending) + parts[-1].tail
    said[0] = parts[0].lead + said[0]
    if len(said) == len(parts):
        return [_spoken([part], text) for part, text in zip(parts, said, strict=True)]
    first, *others = said
    rest = [replace(_spoken(parts, text), pause_s=0.0) for text in others]
    return [_spoken(parts, first), *rest]


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
    """Return the parts that a name may have in a reply: C++ is read "C plus plus"."""
    is_simple = _SIMPLE.fullmatch(written) and (not written.isupper() or len(written) == 1)
    forms = {tuple(re.split("[ -]", written))} if is_simple else set[tuple[str, ...]]()
    if not is_simple or " " in written:
        speakable = Speakable(language)
        words = [*speakable.push(written), *speakable.end()]
        forms.add(tuple(part.core for word in words for part in _parts(word)))
    return forms - {()}
