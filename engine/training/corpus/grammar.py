"""Texts to speak: sentences of an assistant, drawn from a small grammar of our own (grammar.toml),
and sentences of plain prose from the manuals and licences on a Debian machine.

Invariants: templates for testing are never drawn for training, whatever the seed. A sentence of
prose has only words of letters, apostrophes and hyphens, and punctuation that the voice knows, so
that all synthesisers and the phonemizer read the same words.
"""

import gzip
import random
import re
import tomllib
import zlib
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Final

_FILE: Final = Path(__file__).with_name("grammar.toml")
_SLOT: Final = re.compile(r"\{(\w+)\}")
FOLDERS: Final = [f"/usr/share/{name}" for name in ("info", "common-licenses", "doc", "perl")]
SUFFIXES: Final = (".gz", ".txt", ".rst", ".pod", ".md", "")
LARGEST_BYTES: Final = 4_000_000
SHORTEST, LONGEST = 4, 30  # words
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_PLAIN: Final = re.compile(r"[A-Z][a-z']*(?:,? (?:I|[a-z]+(?:['-][a-z]+)?))*[.!?]")
_ODD: Final = re.compile(r"(\w)\1\1|\b[b-hj-z]\b|\b[bcdfghjklmnpqrstvwxz]{3,}\b")


def templates(kind: str) -> tuple[str, ...]:
    """Return sentences ("train", "test") or replies ("reply" for training, "short" for tests)."""
    return tuple(_grammar()[kind])


def sentence(kind: str, draw: random.Random) -> str:
    """Draw a template of one kind, fill its slots, and capitalise its first letter."""
    text = str(draw.choice(templates(kind)))
    slots = _grammar()["slots"]
    while match := _SLOT.search(text):
        text = text[: match.start()] + draw.choice(slots[match[1]]) + text[match.end() :]
    return text[0].upper() + text[1:]


@lru_cache(maxsize=1)
def _grammar() -> dict[str, Any]:  # Any: lists of templates, and the table of slots
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


def prose(files: Iterable[Path] | None = None) -> list[str]:
    """Return distinct clean sentences of files (None = those that Debian installs), sorted."""
    if files is None:
        there = (file for folder in FOLDERS for file in sorted(Path(folder).rglob("*")))
        files = (file for file in there if file.suffix in SUFFIXES or ".info" in file.name)
    texts: set[str] = set()
    for paragraph in chain.from_iterable(map(_paragraphs, files)):
        texts.update(filter(_is_clean, _SENTENCE.split(" ".join(paragraph.split()))))
    return sorted(texts)


def _paragraphs(file: Path) -> list[str]:
    """Return the paragraphs of a file; none if it is too large or cannot be read."""
    try:
        if not file.is_file() or file.stat().st_size > LARGEST_BYTES:
            return []
        with (gzip.open if file.suffix == ".gz" else open)(file, "rb") as opened:
            text = opened.read(LARGEST_BYTES).decode("utf-8", "ignore")
    except (OSError, EOFError, zlib.error):
        return []
    return re.split(r"\n\s*\n", text)


def _is_clean(sentence: str) -> bool:
    words = sentence.count(" ") + 1
    fits = SHORTEST <= words <= LONGEST and len(sentence) < 8 * words
    return fits and _PLAIN.fullmatch(sentence) is not None and not _ODD.search(sentence)
