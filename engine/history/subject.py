"""What a talk is about, from its questions alone: a title without a language model.

Invariant: pure; a title is a part of a question, so nothing in it was not said.
"""

import re
from collections.abc import Iterable
from functools import cache

from engine.history.folding import shortened
from engine.resources import table

MOST_WORDS = 7
MOST_CHARACTERS = 60
_READ = 1000  # characters of a question: a pasted text says early what it is about
_SENTENCE_END = re.compile(r"(?<!\b\w)[.!?…]+\s+|\n")  # not after one letter: "U.S. law"
_WORD = re.compile(r"\w+")


def subject(questions: Iterable[str]) -> str:
    """The first subject of the questions; empty when none has one ("hello", "slower, please")."""
    sentences = (each for said in questions for each in _SENTENCE_END.split(said[:_READ]))
    return next(filter(None, map(_of_sentence, sentences)), "")


def _of_sentence(sentence: str) -> str:
    """The sentence without the words at both ends that do not say what it is about."""
    words = list(_WORD.finditer(sentence))
    telling = [at for at, word in enumerate(words) if word[0].casefold() not in _empty_words()]
    telling = [at for at in telling if at < telling[0] + MOST_WORDS]
    part = sentence[words[telling[0]].start() : words[telling[-1]].end()] if telling else ""
    if not any(map(str.isalpha, part)):
        return ""
    return shortened(part[:1].upper() + part[1:], MOST_CHARACTERS)


@cache
def _empty_words() -> frozenset[str]:
    """Words that do not say what a talk is about, folded."""
    lists = table("text", "subjects.toml").values()
    return frozenset(word.casefold() for words in lists for word in words.split())
