"""Repeat the user's words, the last answer, or a word letter by letter. Do not answer sounds that
are not words: "hmm", "uh-huh".

A grammar finds the words that a request asks to say: "could you read this out loud: …", 'say "…"
please'. A mark, such as a colon or a quotation mark, sets the words apart: a request before it
consists of words of three lists only (before a verb, verbs, after it), and the words may be
anything. Without a mark, the words themselves decide whether they are to be said.

Invariant: the words come back exactly as they were typed or heard; nothing is added. Letters are
answered as capitals with commas between, so that nothing downstream can read the letter "A" as the
article. After a question, a sound that may mean yes or no is left to a language model.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from engine.llm.base import ChangeRate, Role, StopSpeaking
from engine.llm.skills.control import STEP
from engine.llm.skills.matching.canonical import without_courtesy, without_courtesy_before
from engine.llm.skills.matching.fillings import (
    alternatives,
    goes_on,
    is_change_of_subject,
    is_clause,
    is_question,
    is_word,
    starts_with_verb,
    word_set,
)
from engine.llm.skills.matching.intent import Answer, SkillContext, Slots, last_answer, sentence

_LETTERS = re.compile(r"[a-z]+")
NOTHING_SAID = "I haven't said anything yet."
LONGEST_HUM = 40  # characters of an utterance of such sounds

_BETWEEN = re.compile(r"[\s,.!?\u2026\u2014-]+")
_SOUND = re.compile(r"h*m+(?:h+m+)?|u+[hm]+|uhm+|erm*|uhuh")
_ECHO = re.compile(r"h+u+[hm]+")  # only after another sound: "huh?" is a question
_YES_OR_NO = re.compile(r"\b(?:m+(?:h+m+)?|uhuh|u+[hm]+ (?:u+h+|h+u+[hm]+|h+m+))\b")


def repeat(slots: Slots, context: SkillContext) -> Answer | None:
    """Repeat the words of a request: of a certain one, or `perhaps` also of one that a language
    model might understand better.
    """
    found = exact_words(sentence(context) or slots["request"])
    return Answer(found.text) if found and (found.sure or "perhaps" in slots) else None


def say_again(_slots: Slots, context: SkillContext) -> Answer:
    """Repeat the heard part of the assistant's last answer."""
    for message in reversed(context.history):
        if message.role is Role.ASSISTANT and message.text.strip():
            return Answer(message.text, private=message.private)
    return Answer(NOTHING_SAID)


def say_missed(slots: Slots, context: SkillContext) -> Answer | None:
    """Repeat it slower, for "huh?"; not for "uh-huh"."""
    hums = _is_hum(" ".join(_LETTERS.findall(sentence(context).lower())))
    return None if hums else say_again_at_pace({**slots, "way": "slower"}, context)


def say_again_at_pace(slots: Slots, context: SkillContext) -> Answer:
    """Repeat it at another pace; `way`: "slower" or "faster"."""
    again = say_again(slots, context)
    if again.text == NOTHING_SAID:
        return again
    return replace(again, actions=(ChangeRate(by=STEP if slots["way"] == "faster" else -STEP),))


def stay_silent(slots: Slots, context: SkillContext) -> Answer | None:
    said = (sentence(context) or slots["sound"]).strip().lower()
    sounds = _BETWEEN.sub(" ", said[: LONGEST_HUM + 1]).strip()
    if len(said) > LONGEST_HUM or not _is_hum(sounds):
        return None
    asked = last_answer(context).rstrip().endswith("?") and "question" not in slots
    return None if asked and _YES_OR_NO.search(sounds) else Answer(actions=(StopSpeaking(),))


def _is_hum(sounds: str) -> bool:
    """Return whether these lower-case words are only such sounds."""
    first, *rest = sounds.split(" ")
    echoes = all(_SOUND.fullmatch(each) or _ECHO.fullmatch(each) for each in rest)
    return bool(_SOUND.fullmatch(first)) and echoes


MAX_REQUEST_CHARS = 160  # before the words to be said, or after them

_VERBS = word_set("say_verbs")
_BEFORE = word_set("say_before")
_AFTER = word_set("say_after")
_CONTENTS = word_set("say_contents")
_NO_WORDS = word_set("say_no_words")
_AFTER_QUOTE = _NO_WORDS | {"thank", "thanks", "you"}
_SPEAKERS = frozenset(("i", "i'd", "i'm", "we", "we'd"))
_LET = frozenset(("let", "let's"))
_ASK_YOU = frozenset(("can", "could", "would", "will", "hear"))
# Words may follow these verbs at once; after the others, without a mark, only a clause may.
_TAKES_WORDS = frozenset(
    ("say", "saying", "repeat", "repeating", "pronounce", "pronouncing", "echo", "utter")
)
_TAKES_MARKED = frozenset(
    ("read", "reading", "speak", "speaking", "quote", "tell", "telling", "hear")
)

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_OTHER_VERBS = re.compile(rf"^(?:{alternatives('other_say_verbs')})\b", re.IGNORECASE)
_STRONG = re.compile(
    r"(?<!\d):|:(?!\d)|;\s|\n|\s[-\u2013=>]\s|\u2014|(?:\.\.\.|\u2026)\s|[-=]>"
    r"|(?:(?<=\s)|(?<=^))(?=[\"'`*\u201c\u2018\u00ab\u201e]\S)"
)
_WEAK = re.compile(r"[,.!?]\s")
_ANNOUNCED = re.compile(rf"\b(?:{alternatives('say_announced')})\b")
_NOT_HEARD = re.compile(r"i (?:did not|didn't|could not|couldn't|missed|can't|cannot)\b", re.I)
_CLOSING = {'"': '"', "'": "'", "`": "`", "*": "*", "\u201c": '\u201d"', "\u2018": "\u2019'"} | {
    "\u00ab": "\u00bb",
    "\u201e": "\u201c\u201d",
}
_EDGES = " \t\n,:>="
_TAIL = re.compile(
    r"[\s,]+(?:please|for me|out loud|aloud|if you (?:can|could|would|don't mind))(?=[\s.!?]*$)",
    re.IGNORECASE,
)
_OBJECT = re.compile(rf"(?:(?:{alternatives('say_objects')})(?=[\s,])[\s,]*)+", re.IGNORECASE)
_MANNER = re.compile(rf"\b(?:{alternatives('say_manners')})[\s.!?]*$", re.IGNORECASE)
_ELSEWHERE = re.compile(rf"(?:{alternatives('say_elsewhere')})\b", re.IGNORECASE)
_DETERMINER = re.compile(rf"(?:{alternatives('say_determiners')})\b", re.IGNORECASE)
_OTHER = re.compile(rf"\w+ (?:first|{'|'.join(word_set('others'))})\b", re.IGNORECASE)
_AGAIN = re.compile(r"\b(?:again|once more|one more time|to me)[\s.!?]*$", re.IGNORECASE)
_PREPOSITION = re.compile(r"\b(?:in|on|at|for|with|to)\b", re.IGNORECASE)
_THAT = re.compile(r"that\s+(?!(?:one|last|first)\b)(?=\S+\s+\S)", re.IGNORECASE)
_SUBJECT = re.compile(
    r"(?:it|that|this|these|those|there)(?:['\u2019]s|\s+\w+n['\u2019]t)?\s", re.I
)
_PRONOUNCED = re.compile(rf"(?:{alternatives('pronounced')})[\s.!?]*$", re.IGNORECASE)
_ADVICE = re.compile(r"\bto (?:my|a|the|her|him|them|someone)\b|\w{3}ly$", re.IGNORECASE)
_KIND = re.compile(r"(?:the )?(?:word|name|phrase|term)s? +(?=\S)", re.IGNORECASE)


@dataclass(frozen=True)
class ExactWords:
    """Words to say. `sure`: the request has no other meaning."""

    text: str
    sure: bool = True


def exact_words(said: str) -> ExactWords | None:
    """Return the words that a request asks to say; None for another request."""
    said = _OTHER_VERBS.sub("say after me", said.strip()).replace("\u00a0", " ")
    found = next(chain(_marked(said, _STRONG), _marked(said, _WEAK)), None)
    return found or _quoted_before(said) or _pronounced(said) or _unmarked(said)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower().replace("\u2019", "'"))


def _marked(said: str, marks: re.Pattern[str]) -> Iterator[ExactWords]:
    """Yield the texts after a mark that ends a request."""
    for mark in marks.finditer(said, 0, MAX_REQUEST_CHARS):
        request, rest = _words(said[: mark.start()]), said[mark.end() :].strip(_EDGES)
        text = _unquoted(rest)
        is_quote_only = mark.start() == mark.end() and text == rest
        if not text or is_quote_only or not _is_request(request):
            continue
        if marks is _WEAK and not _announces(request, text):
            continue
        if "tell" not in request:
            yield ExactWords(text)
        elif not (_ELSEWHERE.match(text) or text.endswith("?") or _asks_for_contents(text)):
            yield ExactWords(text, sure=False)


def _is_request(words: Sequence[str]) -> bool:
    """Return whether these words alone ask to say something."""
    verbs = (at for at, word in enumerate(words) if word in _VERBS)
    return any(
        _comes_before(words[:at], words[at]) and _AFTER.issuperset(words[at + 1 :]) for at in verbs
    )


def _comes_before(words: Sequence[str], verb: str) -> bool:
    """Return whether a request may begin so: "could you", "here is what I want you to", not "I"."""
    if not _BEFORE.issuperset(words):
        return False
    last, speaks = words[-1:], not _SPEAKERS.isdisjoint(words)
    if last in (["my"], ["your"], ["the"], ["a"]):  # a noun: "your voice is nice"
        return False
    if verb != "hear" and (
        (not _LET.isdisjoint(words) and "hear" not in words) or speaks > ("you" in words)
    ):
        return False
    if "what" in words and not speaks and last[0] not in {"should", "must", "to"}:
        return False
    return last != ["you"] or not _ASK_YOU.isdisjoint(words[-2:-1])


def _announces(request: Sequence[str], text: str) -> bool:
    """Return whether the request announces words; "repeat this, I didn't hear it" does not."""
    if _ANNOUNCED.search(" ".join(request)) is None or _AFTER.issuperset(_words(text)):
        return False
    return "after" in request or not _NOT_HEARD.match(text)


def _unquoted(text: str) -> str:
    """Return the text without quotation marks around it, and without "please" after them."""
    closing = _CLOSING.get(text[:1], "")
    for at in range(max(1, len(text) - MAX_REQUEST_CHARS), len(text)):
        if text[at] in closing and _AFTER_QUOTE.issuperset(_words(text[at + 1 :])):
            return text[1:at].strip()
    return text


def _quoted_before(said: str) -> ExactWords | None:
    """ "… ", say that: the words come first."""
    at = max(map(said.rfind, _CLOSING.get(said[:1], "\0")))
    asks = at > 1 and _is_request(_words(said[at:]))
    return ExactWords(said[1:at].strip(_EDGES)) if asks else None


def _pronounced(said: str) -> ExactWords | None:
    """ "How do you pronounce Goethe?" """
    match = _PRONOUNCED.match(without_courtesy_before(said[: MAX_REQUEST_CHARS + 1]))
    if match is None or len(said) > MAX_REQUEST_CHARS:
        return None
    text = _unquoted(_KIND.sub("", next(filter(None, match.groups()))))
    if (
        _ADVICE.search(text)
        or _MANNER.search(text)
        or _ELSEWHERE.match(text)
        or _asks_for_contents(text)
    ):
        return None
    return ExactWords(text, sure=False)


def _unmarked(said: str) -> ExactWords | None:
    """Return the words after a verb and its object, without a mark between."""
    for match in _WORD.finditer(said, 0, MAX_REQUEST_CHARS):
        verb, before = match[0].lower(), _words(said[: match.start()])
        if verb in _VERBS and _comes_before(before, verb) and said[match.end() :][:1].isspace():
            asks_opinion = before[-2:] == ["would", "you"] and verb == "say"
            found = None if asks_opinion else _after(verb, before, said[match.end() :].strip())
            if found is not None:
                return found
        if verb not in _BEFORE:
            return None
    return None


def _after(verb: str, before: Sequence[str], rest: str) -> ExactWords | None:
    while tail := _TAIL.search(rest, max(0, len(rest) - MAX_REQUEST_CHARS)):
        rest = rest[: tail.start()]
    if before[-1:] == ["you"] and not is_question(rest):
        rest = rest.rstrip("?")
    object_ = None if _is_own_subject(rest) else _OBJECT.match(rest)
    text = rest[object_.end() :] if object_ else rest
    if _NO_WORDS.issuperset(_words(text)) and (object_ or text.lower() != "please"):
        return None
    if object_ and "after me" in object_[0].lower():
        return _repeated(text)
    if object_ is None and _THAT.match(text) and not _is_own_subject(text):
        text = _THAT.sub("", text, count=1)
        return None if goes_on(text) or _AGAIN.search(text) else _said(verb, text, announced=True)
    return _said(verb, text, announced=object_ is not None)


def _repeated(text: str) -> ExactWords | None:
    """Return the text after "repeat after me", unless it only continues that clause."""
    if not goes_on(text) or is_question(text):
        return ExactWords(text)
    return None if _MANNER.match(text) or ":" in text else ExactWords(text, sure=False)


def _said(verb: str, text: str, *, announced: bool) -> ExactWords | None:
    if _MANNER.search(text, max(0, len(text) - MAX_REQUEST_CHARS)):
        return None
    fits = _is_own_subject(text) or is_question(text) or _can_be_said(verb, text)
    if announced:
        fits = is_question(text) or (fits and not goes_on(text))
    if verb not in _TAKES_WORDS:
        fits = fits and is_clause(text) and (announced or verb not in _TAKES_MARKED)
    return ExactWords(text, sure=verb.startswith("pronounc")) if fits else None


def _can_be_said(verb: str, text: str) -> bool:
    """Return whether the words are to be said ("hello"), not described ("the alphabet")."""
    if _ELSEWHERE.match(text) or _asks_for_contents(text):
        return False
    determined = _DETERMINER.match(text)
    if verb not in {"repeat", "repeating"}:
        return not (determined and _AGAIN.search(text))
    return not goes_on(text) and not (determined and (_OTHER.match(text) or not is_clause(text)))


def _asks_for_contents(text: str) -> bool:
    """Return whether this describes words instead: "the alphabet", "a joke"."""
    if not _DETERMINER.match(text) or is_clause(text):
        return False
    return not _CONTENTS.isdisjoint(_words(_PREPOSITION.split(text, 1)[0]))


def _is_own_subject(text: str) -> bool:
    """Return whether a pronoun belongs to the words: "it is late", "this is a test"."""
    pronoun = _SUBJECT.match(text + " ")
    return pronoun is not None and ("'" in pronoun[0] or starts_with_verb(text[pronoun.end() :]))


MAX_WORDS = 4  # more are hard to follow letter by letter

_MARKS = r"[\s\"'\u201c\u201d\u2018\u2019:,.!?-]+"
_AROUND_WORD = re.compile(f"^{_MARKS}|{_MARKS}$")
_ENUMERATED = re.compile(r",?\s+and\s+|,\s*")
_NAMED = {"'": "apostrophe", "\u2019": "apostrophe", "-": "hyphen", ".": "dot", "_": "underscore"}


def spell(slots: Slots, _context: SkillContext) -> Slots:
    words = [word for each in _enumerated(slots["word"]) for word in each.split()]
    letters = ((_NAMED.get(letter, letter.upper()) for letter in word) for word in words)
    return {"spelled": "; ".join(map(", ".join, letters))}


def another_word(_before: Slots, now: Slots, _context: SkillContext) -> Slots | None:
    return None if is_change_of_subject(_bare(now["word"])) else now


def is_spelled(said: str) -> bool:
    words = _enumerated(said)
    return 0 < len(words) <= MAX_WORDS and all(map(is_word, words))


def _enumerated(said: str) -> list[str]:
    bare = _bare(said)
    return _ENUMERATED.split(bare) if "," in bare else [bare]


def _bare(word: str) -> str:
    return _AROUND_WORD.sub("", without_courtesy(_AROUND_WORD.sub("", word)))
