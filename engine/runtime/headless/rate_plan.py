"""Rates over the time of an utterance, in the notation "0:2,3:6".

Invariant: a plan covers the first sample; its times rise.
"""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from engine.errors import InvalidInput
from engine.settings import FAST_LIMIT, SLOWEST

_MOST_STEPS: Final = 1_000
_HINT: Final = (
    "Write seconds:rate pairs with rates from 1 to 13 or 'own', for example 0:2,3:6,8:own."
)


@dataclass(frozen=True)
class RateStep:
    """From `at_s` seconds of produced speech, aim at `rate` SPS; None = the voice's own pace."""

    at_s: float
    rate: float | None


@dataclass(frozen=True)
class RatePlan:
    steps: tuple[RateStep, ...] = (RateStep(0.0, None),)

    def at(self, seconds: float) -> float | None:
        """Return the target at this second of produced speech."""
        target = None
        for step in self.steps:
            if step.at_s <= seconds:
                target = step.rate
        return target


def constant(rate: float | None) -> RatePlan:
    """Return a plan with one rate from beginning to end."""
    return RatePlan((RateStep(0.0, rate),))


def parse(text: str) -> RatePlan:
    """Parse "0:2,3:6". Before the first time the voice has its own pace. InvalidInput names the
    wrong pair.
    """
    pairs = text.split(",")
    if len(pairs) > _MOST_STEPS:
        raise InvalidInput("The rate plan has {count} steps.", hint=_HINT, count=len(pairs))
    steps = tuple(_step(pair.strip()) for pair in pairs)
    for earlier, later in pairwise(steps):
        if later.at_s <= earlier.at_s:
            raise InvalidInput(
                "The times of the rate plan '{text}' do not rise.", hint=_HINT, text=text[:80]
            )
    return RatePlan(steps)


def _step(pair: str) -> RateStep:
    seconds, colon, rate = pair.partition(":")
    if not colon:
        raise InvalidInput("Not a step of a rate plan: '{pair}'.", hint=_HINT, pair=pair[:40])
    at_s = _number(seconds, pair)
    if at_s < 0:
        raise InvalidInput(
            "A rate plan cannot begin before zero: '{pair}'.", hint=_HINT, pair=pair[:40]
        )
    if rate.strip() == "own":
        return RateStep(at_s, None)
    value = _number(rate, pair)
    if not SLOWEST <= value <= FAST_LIMIT:
        raise InvalidInput(
            "The rate in '{pair}' must be from 1 to 13 syllables per second, not {value}.",
            hint=_HINT,
            pair=pair[:40],
            value=f"{value:g}",
        )
    return RateStep(at_s, value)


def _number(text: str, pair: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InvalidInput("Not a step of a rate plan: '{pair}'.", hint=_HINT, pair=pair[:40])
    return value
