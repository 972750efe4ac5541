"""The title of a conversation, from its questions alone or from a language model's text.

Invariant: pure. A title from questions is a part of one question, so it contains only words that
were said. A title from a model shares a content word with the conversation, or is rejected.
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
_MOST_WRITTEN = 8  # words in a model's title; a longer line is a sentence
_SHORTEST = 3  # letters of a word that may begin a longer one: "sky", "skyline"
_SAME = 4  # common first letters of two forms of a word
# "Title:", "The subject of this conversation is:", "Titel:", "Sujet :"
_LABEL = re.compile(
    r"^[^:]{0,40}\b(?:titles?|subject|topic|name|titel|thema|betreff|titre|sujet|thème)\b[^:]{0,30}:\s*",
    re.IGNORECASE,
)
_LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
_TAG = re.compile(r"</?\w[^>]*>")
_EDGES = re.compile(r"^[^\w(]+|[^\w)?+#%]+$")  # "C#", "How to bake bread?"
_WITHOUT_SPACES = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f"  # one character is a word
_CONTENT = re.compile(rf"[{_WITHOUT_SPACES}]|[^\W_{_WITHOUT_SPACES}]+")


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


def written_title(text: str, talk: Iterable[str]) -> str:
    """Return the title in a model's text, without markup and label; "" if it is too long or shares
    no content word with the talk.
    """
    line = next(filter(None, map(_plain, text.splitlines())), "")
    if len(line) > MOST_CHARACTERS or len(line.split()) > _MOST_WRITTEN:
        return ""
    said = set().union(*map(_content_words, talk))
    is_about_it = any(_is_same(word, each) for word in _content_words(line) for each in said)
    return line[:1].upper() + line[1:] if is_about_it else ""


def _plain(line: str) -> str:
    """Return a line without markup and label. "" for a line that ends with a colon and only
    introduces the next one.
    """
    line = _TAG.sub(" ", _LINK.sub(r"\1", line))
    line = _LABEL.sub("", line.strip(" #*_"))
    if line.rstrip(" *_").endswith(":"):
        return ""
    line = "".join(each if each.isprintable() else " " for each in line)
    return _EDGES.sub("", " ".join(re.sub(r"__|[*`]", "", line).split()))


def _content_words(text: str) -> set[str]:
    return {word.casefold() for word in _CONTENT.findall(text)} - _empty_words()


def _is_same(word: str, other: str) -> bool:
    """Return whether two words are forms of one word."""
    short, long = sorted((word, other), key=len)
    begins = long.startswith(short) and len(short) >= _SHORTEST
    return word == other or begins or (len(short) >= _SAME and long.startswith(short[:_SAME]))


@cache
def _empty_words() -> frozenset[str]:
    """Return words that carry no subject, folded."""
    lists = table("text", "subjects.toml").values()
    return frozenset(word.casefold() for words in lists for word in words.split())


def shorten(text: str, most: int) -> str:
    """Return the beginning of a text on one line, at most `most` characters."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"
