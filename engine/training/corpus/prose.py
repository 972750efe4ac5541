"""Sentences of plain prose from the manuals and licences on a Debian machine.

Invariant: a sentence has only words of letters, apostrophes and hyphens, and punctuation that the
voice knows, so that all synthesisers and the phonemizer read the same words.
"""

import gzip
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

FOLDERS: Final = (
    "/usr/share/info",
    "/usr/share/common-licenses",
    "/usr/share/doc",
    "/usr/share/perl",
)
SUFFIXES: Final = (".gz", ".txt", ".rst", ".pod", ".md", "")
LARGEST_BYTES: Final = 4_000_000
SHORTEST, LONGEST = 4, 30  # words
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_PLAIN: Final = re.compile(r"[A-Z][a-z']*(?:,? (?:I|[a-z]+(?:['-][a-z]+)?))*[.!?]")
_ODD: Final = re.compile(r"(\w)\1\1|\b[b-hj-z]\b|\b[bcdfghjklmnpqrstvwxz]{3,}\b")


def sentences(files: Iterable[Path] | None = None) -> list[str]:
    """Return distinct clean sentences, sorted, so that a machine always gives the same list.

    `files` = None reads the files that Debian installs.
    """
    texts: set[str] = set()
    for text in _texts(_machine_files() if files is None else files):
        for paragraph in re.split(r"\n\s*\n", text):
            joined = " ".join(paragraph.split())
            texts.update(filter(_is_clean, _SENTENCE.split(joined)))
    return sorted(texts)


def _is_clean(sentence: str) -> bool:
    words = sentence.count(" ") + 1
    fits = SHORTEST <= words <= LONGEST and len(sentence) < 8 * words
    return fits and _PLAIN.fullmatch(sentence) is not None and not _ODD.search(sentence)


def _machine_files() -> Iterator[Path]:
    for folder in FOLDERS:
        for file in sorted(Path(folder).rglob("*")):
            if file.suffix in SUFFIXES or ".info" in file.name:
                yield file


def _texts(files: Iterable[Path]) -> Iterator[str]:
    """Yield the text of each readable file; other files are skipped."""
    for file in files:
        try:
            if not file.is_file() or file.stat().st_size > LARGEST_BYTES:
                continue
            with (gzip.open if file.suffix == ".gz" else open)(file, "rb") as opened:
                content = opened.read(LARGEST_BYTES)
        except (OSError, EOFError, zlib.error):
            continue
        yield content.decode("utf-8", "ignore")
