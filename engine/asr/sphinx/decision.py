"""Which of two hearings to believe, and how much: arithmetic on what the searches report.

The weights are logistic regressions on 348 skill sentences and 208 others, spoken by five synthetic
voices (clean, quiet, in a simulated room, in noise at 15 dB). On the same set the finished
recogniser pressed 4 % of the other sentences into phrases (none of the clean ones), gave 4 % of the
skill sentences to the open model, and of what had a confidence up to 0.2, 0.4, 0.6, 0.8 and 1.0
there were 14, 36, 65, 74 and 93 % right, word for word. Invariant: confidence grows with every
posterior and falls with every step from word to word that no phrase makes.
"""

import math
from dataclasses import dataclass

from engine.text.interaction import HALTS, NODS

MOST_UNSEEN = 4  # more such steps say no more
MOST_MARGIN = 2.0  # likewise
SURE = 0.4  # at least so likely right: not decoded again
HALT = 0.3  # at least so likely a halt, where nothing is lost by stopping for a moment too many
NOD = 0.6  # at least so likely a nod: a sentence taken for one would go unanswered
PHRASE = 0.6  # at least so likely a phrase, once the open model was heard too


@dataclass(frozen=True)
class Hypothesis:
    """What one search found.

    `posteriors` 0..1 go with `words`; `unseen` counts steps between words that no phrase makes;
    `score` is the natural logarithm of the search's score per frame of 10 ms.
    """

    words: tuple[str, ...] = ()
    posteriors: tuple[float, ...] = ()
    unseen: int = 0
    score: float = 0.0

    @property
    def least(self) -> float:
        """Posterior of the least likely word."""
        return min(1.0, *self.posteriors) if self.posteriors else 0.0

    @property
    def mean(self) -> float:
        return min(1.0, sum(self.posteriors) / len(self.posteriors)) if self.posteriors else 0.0


@dataclass(frozen=True)
class Guess:
    """The text to believe and how likely all of it is right, 0..1; nothing heard is 0."""

    text: str
    confidence: float


def sure(phrase: Hypothesis) -> Guess | None:
    """The phrase model's hearing if it needs no second opinion; None when it does."""
    unseen = min(phrase.unseen, MOST_UNSEEN)
    right = _chance(-0.48, (3.83, phrase.least), (-0.71, unseen))
    if right < SURE or unseen == MOST_UNSEEN:
        return None
    return Guess(" ".join(phrase.words), right)


def overlapping(short: Hypothesis, phrase: Hypothesis) -> Guess | None:
    """What was said into a reply if it was to halt it or to go along, by the hearing that knows
    those alone, against the phrase model's; None when it was something else. The weights are
    of four voices who said 16 halts, 23 nods and 24 other things in a few words, in noise: 52 of 64
    halts were taken for what they are and 68 of 92 nods; 2 nods and 13 of 96 others for halts, 1
    halt and 9 others for nods. With eight voices that had no part in it: 54 of 64 halts, 44 of 76
    nods; 6 of 64 others for halts, 3 halts and 8 others for nods.
    """
    text = " ".join(short.words)
    margin = max(-MOST_MARGIN, min(MOST_MARGIN, short.score - phrase.score))
    if text in HALTS:
        right, enough = _chance(3.50, (3.23, margin), (1.66, short.score)), HALT
    elif text in NODS:
        right, enough = _chance(8.52, (2.09, margin), (3.28, short.score)), NOD
    else:
        return None
    return Guess(text, right) if right >= enough else None


def choose(phrase: Hypothesis | None, free: Hypothesis) -> Guess:
    """The likelier of the phrase model's hearing (None when there is no such model) and the open
    model's.
    """
    if phrase is not None and free.words:
        unseen = min(phrase.unseen, MOST_UNSEEN)
        margin = max(-MOST_MARGIN, min(MOST_MARGIN, phrase.score - free.score))
        least = phrase.least
        if _chance(2.50, (2.04, least), (-0.97, unseen), (3.19, margin)) >= PHRASE:
            right = _chance(-1.63, (2.93, least), (-0.44, unseen), (1.84, margin))
            return Guess(" ".join(phrase.words), right)
    if not free.words:
        return Guess("", 0.0)
    return Guess(" ".join(free.words), _chance(-2.90, (3.50, free.mean), (1.30, free.least)))


def _chance(constant: float, *terms: tuple[float, float]) -> float:
    """Logistic of constant + sum of weight * value."""
    return 1.0 / (1.0 + math.exp(-constant - sum(weight * value for weight, value in terms)))
