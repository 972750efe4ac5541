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


def templates(kind: str) -> tuple[str, ...]:
    """Return the templates of one kind: "train" and "test" are sentences, "reply" (for training)
    and "short" (for testing) are replies of one to three words.
    """
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
