"""A list of names, and its form as a text.

A line has the written form, a tab, how it is said ("" = as the voices read it), and perhaps a tab
and a language. Other programs' lists with commas or semicolons can be read too.
"""

import csv
import io
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from engine.errors import InvalidInput
from engine.languages import SPOKEN
from engine.text.pronunciation.respelling import said_words
from engine.text.word import PHONES

MOST: Final = 5_000  # names
LONGEST_WRITTEN, LONGEST_SAID = 60, 120  # characters
_HEADER: Final = re.compile(r"(?i)(written|name|word)s?\b")
_LETTER: Final = re.compile(r"[^\W_]")


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


def read(text: str, on_error: OnError | None = None) -> Names:
    """Return the names of a text. `on_error` gets each bad line; None: InvalidInput with the number
    of the first one.
    """
    on_error = on_error or _refuse
    found: dict[tuple[str, str], Name] = {}
    first = next((line for line in text.splitlines() if line and not line.startswith("#")), "")
    mark = "\t" if "\t" in text else ";" if ";" in first else ","
    lines = io.StringIO(text.removeprefix("\ufeff"))
    quoted = mark != "\t"
    rows = csv.reader(
        lines, delimiter=mark, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    )
    try:
        is_first = True
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
    written, said, language = (*row, "", "")[:3]
    return checked(Name(written, said, language))


def _refuse(line: int, error: InvalidInput) -> None:
    raise InvalidInput("Line {line}: {error}", hint=error.hint, line=line, error=error.message)


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
