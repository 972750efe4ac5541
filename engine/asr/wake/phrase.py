"""Whether a phrase will do as the assistant's name: long enough to be told from other talk, and
seldom said in it.

Invariant: a proposal passes the same examination.
"""

import re

from engine.asr.sphinx.english import log_chance
from engine.asr.wake.sounds import Sounds, sounds, syllables
from engine.errors import InvalidInput
from engine.translatable import Translatable

LEAST_SYLLABLES = 3
LEAST_PHONES = 6
MOST_WORDS = 5
MOST_LETTERS = 40
# Natural logarithm of a phrase's chance to begin at a word of other talk, by the language model of
# English. People say up to 9000 words an hour: this is once in forty days of talk.
COMMON = -16.0
CALLS = ("hey", "hello", "okay")
USUAL = "hey rubato"
_WORDS = re.compile(r"[a-z]+(?:'[a-z]+)*(?: [a-z]+(?:'[a-z]+)*)*")


def normal(phrase: str) -> str:
    """As phrases are compared: lower case, single spaces, no marks at the end of a word."""
    return " ".join(re.sub(r"[^\w' ]+", " ", phrase.lower()).split())


def examine(phrase: str) -> Sounds:
    """How the words of a normal phrase sound. InvalidInput says why it will not do, and what
    would; ModelError that a part of the recogniser is missing.
    """
    if not _WORDS.fullmatch(phrase) or len(phrase) > MOST_LETTERS:
        raise InvalidInput(
            "That cannot be a wake phrase: it needs one to five English words of letters.",
            hint="Try “{phrase}”.",
            phrase=USUAL,
        )
    words = phrase.split()
    if len(words) > MOST_WORDS:
        raise InvalidInput(
            "“{phrase}” is too long: nobody says it the same way twice.",
            hint=Translatable(
                "Use {count} words at most, for example “{phrase}”.", count=MOST_WORDS, phrase=USUAL
            ),
            phrase=phrase,
        )
    found = sounds(words)
    fault = _fault(phrase, found)
    if fault:
        raise InvalidInput(fault, hint="Try “{phrase}”.", phrase=_better(phrase))
    return found


def _fault(phrase: str, found: Sounds) -> str:
    """Why a phrase will not do; empty = it will."""
    spoken = " ".join(found[word] for word in phrase.split())
    length = syllables(spoken)
    if length < LEAST_SYLLABLES or len(spoken.split()) < LEAST_PHONES:
        return Translatable(
            "“{phrase}” is too short ({count} of at least {least} syllables): other "
            "words sound like it.",
            phrase=phrase,
            count=length,
            least=LEAST_SYLLABLES,
        )
    if log_chance(phrase.split()) > COMMON:
        return Translatable(
            "“{phrase}” is said too often in other talk: you would wake me all the time.",
            phrase=phrase,
        )
    return ""


def _better(phrase: str) -> str:
    """The phrase with a call before it, if that will do."""
    words = phrase.split()
    if len(words) < MOST_WORDS and words[0] not in CALLS:
        for call in CALLS:
            longer = f"{call} {phrase}"
            fits = len(longer) <= MOST_LETTERS
            if fits and not _fault(longer, sounds(longer.split())):
                return longer
    return USUAL
