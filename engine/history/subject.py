"""The title of a conversation, from its questions.

Invariant: pure. A title is a part of one question, so it contains only words that were said.
"""

import re
from collections.abc import Iterable
from functools import cache

from engine.resources import table

MOST_WORDS = 7
MOST_CHARACTERS = 60
_READ = 1000  # characters of a question: a pasted text names its subject early
_SENTENCE_END = re.compile(r"(?<!\b\w)[.!?…]+\s+|\n")  # not after one letter: "U.S. law"
_WORD = re.compile(r"\w+")


def subject(questions: Iterable[str]) -> str:
    """Return the first subject of the questions; "" if none has one ("hello", "slower, please")."""
    sentences = (each for said in questions for each in _SENTENCE_END.split(said[:_READ]))
    return next(filter(None, map(_sentence_subject, sentences)), "")


def _sentence_subject(sentence: str) -> str:
    """Return the sentence without words at both ends that carry no subject."""
    words = list(_WORD.finditer(sentence))
    content = [at for at, word in enumerate(words) if word[0].casefold() not in _empty_words()]
    content = [at for at in content if at < content[0] + MOST_WORDS]
    part = sentence[words[content[0]].start() : words[content[-1]].end()] if content else ""
    if not any(map(str.isalpha, part)):
        return ""
    return shorten(part[:1].upper() + part[1:], MOST_CHARACTERS)


@cache
def _empty_words() -> frozenset[str]:
    """Return words that carry no subject, folded."""
    lists = table("text", "subjects.toml").values()
    return frozenset(word.casefold() for words in lists for word in words.split())


def shorten(text: str, most: int) -> str:
    """Return the beginning of a text on one line, at most `most` characters."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"
