"""What a talk is about: its title from its questions alone, and what a language model wrote as one.

Invariant: pure. A title from questions is a part of one, so nothing in it was not said; a model's
shares a telling word with the talk, or is none.
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
_MOST_WRITTEN = 8  # words of a model's title; more are a sentence
_SHORTEST = 3  # letters of a word that another one may begin with: "sky", "skyline"
_SAME = 4  # letters at the beginning of two forms of a word
# "Title:", "The subject of this conversation is:", "Titel:", "Sujet :"
_LABEL = re.compile(
    r"^[^:]{0,40}\b(?:titles?|subject|topic|name|titel|thema|betreff|titre|sujet|thème)\b[^:]{0,30}:\s*",
    re.IGNORECASE,
)
_LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
_TAG = re.compile(r"</?\w[^>]*>")
_EDGES = re.compile(r"^[^\w(]+|[^\w)?+#%]+$")  # "C#", "How to bake bread?"
_WITHOUT_SPACES = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f"  # a sign is a word
_TELLING = re.compile(rf"[{_WITHOUT_SPACES}]|[^\W_{_WITHOUT_SPACES}]+")


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


def written_title(text: str, talk: Iterable[str]) -> str:
    """The title in what a model wrote about a talk, without marks and labels; empty when that is
    too long, or about something else.
    """
    line = next(filter(None, map(_plain, text.splitlines())), "")
    if len(line) > MOST_CHARACTERS or len(line.split()) > _MOST_WRITTEN:
        return ""
    said = set().union(*map(_telling, talk))
    is_about_it = any(_is_same(word, each) for word in _telling(line) for each in said)
    return line[:1].upper() + line[1:] if is_about_it else ""


def _plain(line: str) -> str:
    """A line without markup and label; empty if it only announces another."""
    line = _TAG.sub(" ", _LINK.sub(r"\1", line))
    line = _LABEL.sub("", line.strip(" #*_"))
    if line.rstrip(" *_").endswith(":"):
        return ""
    line = "".join(each if each.isprintable() else " " for each in line)
    return _EDGES.sub("", " ".join(re.sub(r"__|[*`]", "", line).split()))


def _telling(text: str) -> set[str]:
    return {word.casefold() for word in _TELLING.findall(text)} - _empty_words()


def _is_same(word: str, other: str) -> bool:
    """Whether they are the same word, perhaps in other forms."""
    short, long = sorted((word, other), key=len)
    begins = long.startswith(short) and len(short) >= _SHORTEST
    return word == other or begins or (len(short) >= _SAME and long.startswith(short[:_SAME]))


@cache
def _empty_words() -> frozenset[str]:
    """Words that do not say what a talk is about, folded."""
    lists = table("text", "subjects.toml").values()
    return frozenset(word.casefold() for words in lists for word in words.split())
