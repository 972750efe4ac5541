"""Sentences an assistant says, drawn from a small grammar of our own (grammar.toml).

Invariant: templates marked for testing are never drawn for training, whatever the seed.
"""

import random
import re
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

_FILE: Final = Path(__file__).with_name("grammar.toml")
_SLOT: Final = re.compile(r"\{(\w+)\}")


def sentence(draw: random.Random) -> str:
    """Draw a sentence for training."""
    return _random_sentence("train", draw)


def test_sentence(draw: random.Random) -> str:
    """Draw a sentence for testing, from templates that training never uses."""
    return _random_sentence("test", draw)


def reply(draw: random.Random) -> str:
    """Draw a reply of one to three words, for training."""
    return _random_sentence("reply", draw)


def short_reply(draw: random.Random) -> str:
    """Draw a reply of one to three words, for testing."""
    return _random_sentence("short", draw)


def templates(kind: str) -> tuple[str, ...]:
    """Return the templates of one kind: "train", "reply", "test" or "short"."""
    return tuple(_grammar()[kind])


@lru_cache(maxsize=1)
def _grammar() -> dict[str, Any]:  # Any: lists of templates, and the table of slots
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


def _random_sentence(kind: str, draw: random.Random) -> str:
    """Draw a template, fill its slots, and capitalise its first letter."""
    text = str(draw.choice(templates(kind)))
    slots = _grammar()["slots"]
    while match := _SLOT.search(text):
        text = text[: match.start()] + draw.choice(slots[match[1]]) + text[match.end() :]
    return text[0].upper() + text[1:]
