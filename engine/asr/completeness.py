"""Estimate whether the words so far are a complete request.

Some endings are certain: a skill's sentence that can or cannot end here, a conjunction, the start
of a clause, a dictated number. For all others three features are weighed: the probability that an
English sentence ends after the last two words (the trigram model of pocketsphinx), the number of
words, and whether a skill has an answer. The weights are a logistic regression on 166 complete and
incomplete sentences of four synthetic voices, as transcribed by the built-in recogniser. On
held-out sentences the area under the curve is 0.87 (earlier rules: 0.66). Two more features were
dropped: the recogniser's confidence added nothing, and in synthetic voices the pitch falls equally
at a comma and at a full stop.
"""

import math
import re
from collections.abc import Callable, Sequence
from enum import Enum

from engine.asr.phrase_model import learn_phrases
from engine.asr.sphinx.english import trigrams

OPEN_BELOW = 0.5  # probability that the request is complete
WHOLE_ABOVE = 0.8  # one in thirty incomplete sentences is above it
MANY_WORDS = 8  # more words do not raise the probability further
LEAST_CHANCE = -6.0  # natural logarithm; lower values are treated as this one
# An answerable sentence may end in a number that other sentences continue, but not in "the".
OPEN_BELOW_UNDERSTOOD = -4.5
# words; longer sentences with "if", "when" or the like contain their main clause
LONGEST_CLAUSE = 7

FILLERS = frozenset(("um", "uh", "er", "erm", "uhm", "hm", "hmm", "mm"))
# Sentences do not end with these words, even where the trigram model lacks the context.
JOINERS = frozenset(("and", "but", "or", "because", "if", "the", "a", "an", "my", "your"))
# Complete alone, although the model of full sentences gives them a low probability.
ALONE = frozenset(("yes", "no", "stop", "wait", "hello", "hi", "thanks", "okay", "help", "louder"))
_OPENERS = frozenset(("if", "when", "because", "although", "while", "since", "unless", "before"))
_OPENERS_OF_PLACE = frozenset(("in", "on", "at", "by", "for", "with", "after", "and", "but", "so"))
_ASKED = frozenset(("is", "are", "was", "were", "do", "does", "did", "will", "can", "should"))
_PLEASE = "please"
# Complete answers, although the model expects more words.
_ANSWERS = (("yes", _PLEASE), ("no", "thanks"), ("no", "thank", "you"), ("that", "is", "all"))
# The request itself follows these: "could you please", "I would like to know".
_PREFACES = (
    *(("could", "you"), ("can", "you"), ("would", "you"), ("will", "you"), ("tell", "me")),
    *(("to", "know"), ("to", "ask"), ("you", "please"), ("rubato", "please"), ("me", "know")),
)
_MARKERS = frozenset(("so", "well", "now", "please", "hey", "and", "then", "actually"))
_QUESTIONS = frozenset(("what", "who", "how", "when", "where", "which", "why"))
_WORD = re.compile(r"[a-z']+")
# Announced text to repeat, or a dictated number: people pause between its groups.
_ANNOUNCED = re.compile(
    r"\b(?:after me|the following(?: (?:words?|text|sentence|phrase|numbers?))?)[\s.,:!\u2026-]*$",
    re.I,
)
_DICTATES = re.compile(r"\b(?:say|repeat|read|pronounce|dictate|after me|the following)\b", re.I)
_NUMBER_AT_END = re.compile(
    r"(?:\d|\b(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty"
    r"|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|point|double|triple"
    r"|dash|plus))[\s.,!?-]*$",
    re.IGNORECASE,
)


class Completeness(Enum):
    """Probability that more words follow, highest first."""

    OPEN = "open"  # more words must follow
    UNSURE = "unsure"
    WHOLE = "whole"  # complete, but more words may follow
    SETTLED = "settled"  # complete; no known request continues it


class Judge:
    """Completeness estimator for English text."""

    def __init__(
        self,
        phrases: Sequence[str],
        understands: Callable[[str], bool],
        chance_of_end: Callable[[Sequence[str]], float],
    ) -> None:
        """`phrases` are sentences for the skills; `understands` tests whether a skill answers a
        text. `chance_of_end`: the log probability that a sentence ends there.
        """
        self._phrases = learn_phrases(tuple(phrases))
        self._understands = understands
        self._chance_of_end = chance_of_end

    def judge(self, text: str) -> Completeness:
        """Return how complete a transcript is; UNSURE if it contains no words."""
        words = _WORD.findall(text.lower())
        if _ANNOUNCED.search(text) or (_DICTATES.search(text) and _NUMBER_AT_END.search(text)):
            return Completeness.OPEN
        if not words:
            return Completeness.UNSURE
        if words[-1] in FILLERS | JOINERS or text.rstrip().endswith(("...", "…", ",", "-")):
            return Completeness.OPEN
        if tuple(words) in _ANSWERS:
            return Completeness.WHOLE
        polite = words[-1] == _PLEASE and tuple(words[-2:]) not in _PREFACES
        if polite and self._understands(text):  # a skill's request: people stop after "please"
            return Completeness.SETTLED
        if _is_preface(words):
            return Completeness.OPEN
        if self._phrases.likely_start(words, unseen=0) < len(words):
            return self._of_other_words(text, words)
        if not self._understands(text):  # the beginning of a skill's sentence
            return Completeness.OPEN
        return Completeness.WHOLE if self._phrases.goes_on(words) else Completeness.SETTLED

    def _of_other_words(self, text: str, words: list[str]) -> Completeness:
        if len(words) == 1 and words[0] in ALONE:
            return Completeness.WHOLE
        if _opens_clause(words):
            return Completeness.OPEN
        chance = self._chance_of_end(words)
        understood = self._understands(text)
        # The probability that so long a sentence with this chance of its end is complete.
        length = math.log(min(len(words), MANY_WORDS))
        score = 0.65 * max(chance, LEAST_CHANCE) + 4.1 * length + 3.2 * understood
        whole = 1.0 / (1.0 + math.exp(5.8 - score))
        if whole >= WHOLE_ABOVE:
            return Completeness.WHOLE
        if whole >= OPEN_BELOW or (understood and chance >= OPEN_BELOW_UNDERSTOOD):
            return Completeness.UNSURE
        return Completeness.OPEN


def _is_preface(words: Sequence[str]) -> bool:
    """Return whether the request itself has not begun yet."""
    alone = len(words) == 1 and words[0] in _QUESTIONS
    only_begun = words[-1] in _MARKERS and all(word in _MARKERS | ALONE for word in words)
    return alone or only_begun or (len(words) <= LONGEST_CLAUSE and tuple(words[-2:]) in _PREFACES)


def _opens_clause(words: Sequence[str]) -> bool:
    """Return whether the main clause must still follow, as in "if I leave at five"."""
    if len(words) > LONGEST_CLAUSE:
        return False
    if words[0] in _OPENERS:
        return len(words) < 2 or words[1] not in _ASKED
    return words[0] in _OPENERS_OF_PLACE and len(words) <= 3


def chance_of_end() -> Callable[[Sequence[str]], float]:
    """Return a function for Judge; it loads the trigram model at its first call."""
    import pocketsphinx

    logarithms = pocketsphinx.LogMath()

    def chance(words: Sequence[str]) -> float:
        # The model expects the newest word first.
        newest = reversed(["<s>", *words][-2:])
        return float(logarithms.log_to_ln(trigrams().prob(["</s>", *newest])))

    return chance
