"""The allowed contents of an open slot. A sentence that only begins like a skill's is rejected
here.

Invariant: a name has no word of a clause and no pointing word ("that"). A task begins with a bare
verb and has no such words after it. Other fillings are left to a language model.
"""

import re
from itertools import pairwise

from engine.resources import table


def word_set(name: str) -> frozenset[str]:
    """The words of a list in resources/skills/words.toml."""
    return frozenset(table("skills", "words.toml")[name].split())


def alternatives(name: str) -> str:
    """Return a list in resources/skills/phrases.toml as alternatives of a pattern."""
    return "|".join(table("skills", "phrases.toml")[name])


_INFINITIVES = word_set("infinitives")
_FINITE = word_set("finite")
_SUBJECTS = word_set("subjects")
_JOINTS = word_set("joints")
_CLAUSE = _JOINTS | _FINITE | _INFINITIVES
_ASKING = frozenset(("what", "who", "whom", "whose", "which", "why", "how", "when", "where"))
_POINTING = word_set("pointing")
_ARTICLES = word_set("articles")
_PREPOSITIONS = word_set("prepositions")
_DANGLING = word_set("dangling")
_AFTERTHOUGHTS = word_set("afterthoughts")
_NO_WORDS = word_set("no_words")
_OTHERS = word_set("others")
_INTERJECTIONS = word_set("interjections")
_NO_CONTENT = _CLAUSE | _POINTING | _PREPOSITIONS | _ARTICLES | _AFTERTHOUGHTS
_REQUESTS = word_set("requests")
_REQUEST = re.compile(
    rf"\b(?:and|then|also) (?:(?:then|also|please|after that) )*(?:{'|'.join(_REQUESTS)})\b"
)
_NO_HOUR = re.compile(rf"\b(?:{alternatives('no_hours')})\b")
_SEVERAL_SENTENCES = re.compile(
    r"^(?:\S+\s+){2,}\S*(?<![ap]\.m)(?<!\b[dm]r)(?<!\bst)(?<!\bmrs)[.!?;]+[\"')]*\s+(?=\w)", re.I
)
_SENTENCE_MARK = re.compile(r"(?<!\b[dm]r)(?<!\bms)(?<!\bst)(?<!\bmrs)\. |[?!,] ", re.I)
_CAPITAL = re.compile(r"^[A-Z\u00c0-\u00de]")
# Endings of adjectives; "Alfred" and "Martin" are recognised by their capital.
_ADJECTIVE = re.compile(r"(?:ed|ous|ful|able|ible|ical|ish|less|ing|ive|ic|ist|ly)$")

LONGEST_NAME = 4  # words; a longer one means that the sentence was about something else
LONGEST_TASK = 14


def has_several_sentences(text: str) -> bool:
    """Return whether the text has words after its first sentence, in its original form."""
    return bool(_SEVERAL_SENTENCES.match(text))


def is_clause(said: str) -> bool:
    """Return whether a word makes the filling a clause."""
    return not _CLAUSE.isdisjoint(_plain(said))


def goes_on(said: str) -> bool:
    """Return whether the filling continues the clause: "repeat after me is a game"."""
    first = frozenset(_plain(said)[:1])
    return bool(first & (_FINITE | _PREPOSITIONS | _AFTERTHOUGHTS | _JOINTS - _SUBJECTS))


def starts_with_verb(said: str) -> bool:
    """Return whether the filling begins with a finite verb: "is late", "can't be"."""
    return not _FINITE.isdisjoint(re.findall(r"[a-z]+(?=n['\u2019]t|\b)", said.lower())[:1])


def is_question(said: str) -> bool:
    """Return whether the filling begins like a question: "is it late", "how are you"."""
    words = _plain(re.sub(r"(?<=\w)['\u2019]s\b", " is", said))[:3]
    if words[:1] and words[0] in _FINITE:
        return not (_SUBJECTS | _POINTING).isdisjoint(words[1:2])
    asks = words[:1] and words[0] in _ASKING
    return bool(asks) and not _FINITE.isdisjoint(words[1:]) and _SUBJECTS.isdisjoint(words[1:2])


def is_change_of_subject(said: str) -> bool:
    """Return whether no word of the filling could be a thing: "and thanks", "now what"."""
    outside = _CLAUSE | _POINTING | _AFTERTHOUGHTS | _INTERJECTIONS
    return not outside.isdisjoint(_plain(said))


def is_name(said: str, *, most: int = LONGEST_NAME) -> bool:
    """Return whether the filling can be a thing's name: "tea", "mac and cheese"."""
    words = _plain(said)
    if words and words[0] in _ARTICLES:
        words = words[1:]
    outside = (_NO_CONTENT - {"of"}) | _OTHERS
    return (
        0 < len(words) <= most
        and outside.isdisjoint(words[:-1])
        and words[-1] not in outside - {"a"}  # "episode A"
        and words[0] not in _REQUESTS
        and not _REQUEST.search(said)
    )


def is_word(said: str) -> bool:
    """Return whether the filling is any single word, or a name of a few words."""
    words, plain = said.split(), _plain(said)
    if len(plain) <= 1:
        return bool(plain) and plain[0] not in _AFTERTHOUGHTS | _NO_WORDS
    outside = _NO_CONTENT | {"and", "check"}
    most = LONGEST_NAME if all(map(_CAPITAL.match, words)) else 2
    return 0 < len(words) <= most and outside.isdisjoint(plain)


def is_person(said: str, *, has_capitals: bool) -> bool:
    """Return whether the filling can be a person's name. If the sentence has capitals elsewhere,
    the name needs them too. Otherwise any word can be a name, except an adjective.
    """
    words, plain = said.split(), _plain(said)
    outside = _NO_CONTENT | {"and", "or"}
    if not plain or len(words) > 3 or _SENTENCE_MARK.search(said) or re.search(r"\d", said):
        return False
    if has_capitals:
        return all(map(_CAPITAL.match, words)) and plain[0] not in outside
    if not outside.isdisjoint(plain):
        return False
    return not any(map(_ADJECTIVE.search, plain)) and plain[0] not in _REQUESTS


def is_task(said: str) -> bool:
    """Return whether the filling is a task: "call my mother", "be on time". A second request, or a
    time that no clock shows, is not part of a task.
    """
    words = _plain(said)
    if not 0 < len(words) <= LONGEST_TASK or _REQUEST.search(said) or _NO_HOUR.search(said):
        return False
    first, rest = words[0], words[1:]
    is_verb = first.isalpha() and first not in _NO_CONTENT | _INTERJECTIONS
    begins = first in _INFINITIVES or is_verb
    second = rest[0] if rest else ""
    asks = second == "me" or (first in _INFINITIVES and second in _SUBJECTS - {"it"})
    gap = _CLAUSE | _ARTICLES | _PREPOSITIONS  # after an article, a word is missing
    dangles = words[-1] in _DANGLING or any(
        word in {"a", "an", "the"} and after in gap for word, after in pairwise(words)
    )
    return begins and not asks and not dangles and (_CLAUSE - _INFINITIVES).isdisjoint(rest)


def _plain(said: str) -> list[str]:
    """The words in lower case without marks; "don't" and "isn't" are negations."""
    said = re.sub(r"\w+n['\u2019]t\b", "not", said.lower())
    said = re.sub(r"['\u2019](?:s|re|ll|d|m|ve)\b", "", said)
    return re.findall(r"[\w'\u2019.-]*\w", said)
