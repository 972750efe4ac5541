"""Choose between the hypotheses of the searches, and compute confidences.

The weights are logistic regressions on 348 skill sentences and 208 others of five synthetic voices
(clean, quiet, in a simulated room, in noise at 15 dB). On the same set the finished recogniser
turned 4 % of the other sentences into phrases (none of the clean ones) and decoded 4 % of the skill
sentences with the open model. Of the transcripts with a confidence up to 0.2, 0.4, 0.6, 0.8 and
1.0, 14, 36, 65, 74 and 93 % were right word for word. Invariant: confidence grows with every
posterior and falls with every transition between words that occurs in no phrase.
"""

import math
from dataclasses import dataclass

from engine.text.barge_in_words import HALTS, NODS

MOST_UNSEEN = 4  # unseen transitions; more of them do not lower the confidence further
MOST_MARGIN = 2.0  # likewise for the score margin
SURE = 0.4  # minimum probability to accept a phrase without decoding again
HALT = 0.3  # minimum probability of a halt: a wrong one costs only a short pause
NOD = 0.6  # minimum probability of a nod: a sentence mistaken for one is not answered
PHRASE = 0.6  # minimum probability of a phrase after the open model has decoded too


@dataclass(frozen=True)
class Hypothesis:
    """Result of one search.

    `posteriors` (0..1) belong to `words`. `unseen` counts transitions between words that occur in
    no phrase. `score` is the natural logarithm of the search's score per frame of 10 ms.
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
    """The accepted text and the probability, 0..1, that all of it is right; 0 for empty text."""

    text: str
    confidence: float


def sure(phrase: Hypothesis) -> Guess | None:
    """Return the phrase model's hypothesis if it needs no second opinion, otherwise None."""
    unseen = min(phrase.unseen, MOST_UNSEEN)
    right = _chance(-0.48, (3.83, phrase.least), (-0.71, unseen))
    if right < SURE or unseen == MOST_UNSEEN:
        return None
    return Guess(" ".join(phrase.words), right)


def overlapping(short: Hypothesis, phrase: Hypothesis) -> Guess | None:
    """Return a halt or a nod during a reply, or None for other speech. `short` is the hypothesis of
    the search that knows only halts and nods, `phrase` that of the phrase model.

    The weights come from four voices with 16 halts, 23 nods and 24 other short utterances in noise.
    Recognised: 52 of 64 halts and 68 of 92 nods. Mistaken for halts: 2 nods and 13 of 96 others;
    mistaken for nods: 1 halt and 9 others. With eight other voices: 54 of 64 halts, 44 of 76 nods;
    6 of 64 others taken for halts, 3 halts and 8 others for nods.
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
    """Return the likelier hypothesis of the phrase model (None: there is no such model) and the
    open model.
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
    """Return the logistic of constant + sum of weight * value."""
    return 1.0 / (1.0 + math.exp(-constant - sum(weight * value for weight, value in terms)))
