"""Virtual speakers: a few synthesised voices with changed pitch, vocal tract and spectral tilt.

Invariant: speaker number n of a recipe is always the same person.
"""

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from typing import Any, Final, Generic, TypeVar

from engine.errors import InvalidInput
from engine.training.recipe import Recipe
from engine.tts.kokoro.voices import ENGLISH_NAMES
from engine.tts.kokoro.voices import NAME as KOKORO

LOWEST_WARP: Final = -0.3  # octaves
VALIDATION_SHARE: Final = 0.02  # of a speaker's utterances
_Utterance = TypeVar("_Utterance", bound=Any)  # with a number `speaker`
People = dict[int, tuple[_Utterance, ...]]
"""Utterances by speaker."""


@dataclass(frozen=True)
class Base:
    """A synthesiser's own voice. `sps` is its unchanged rate in syllables a second. `follows_pitch`
    says whether it speaks at the requested pitch (measured: some voices ignore it).
    """

    synthesiser: str
    voice: str
    pitch_hz: float
    sps: float
    share: float  # of the virtual speakers
    highest_warp: float  # octaves
    follows_pitch: bool = False


# sps: syllables of 10 grammar sentences over the time from first to last sound, measured
# (Belinda and Arthur have the values of Clara and Alan). Recipes name the first four of Kokoro's.
BASES: Final = (
    Base("flite", "rms", 100.0, 4.3, 5.0, 0.38),
    Base("flite", "slt", 170.0, 4.7, 4.0, 0.25, follows_pitch=True),
    Base("flite", "awb", 130.0, 4.8, 3.0, 0.35, follows_pitch=True),
    Base("flite", "kal16", 110.0, 5.1, 0.5, 0.38, follows_pitch=True),
    Base("flite", "slt", 170.0, 4.7, 3.0, 0.25),  # again, with the pitch that Praat gives her
    Base("espeak", "Alan", 100.0, 4.9, 0.5, 0.2),
    Base("espeak", "Belinda", 185.0, 4.9, 0.5, 0.15),
    Base("espeak", "Clara", 190.0, 5.0, 0.4, 0.15),
    Base("espeak", "Arthur", 105.0, 4.9, 0.4, 0.2),
    *(
        Base(KOKORO, name, 0.0, 4.4, 1.0, 0.12, follows_pitch=True)
        for name in dict.fromkeys(("Heart", "Michael", "Kore", "Sarah", *ENGLISH_NAMES))
        if name != "Nicole"  # whispers
    ),
)


@dataclass(frozen=True)
class Speaker:
    """A virtual speaker. `warp` multiplies pitch and formants."""

    number: int
    base: Base
    warp: float
    pitch_hz: float
    tilt_db: float  # gain at 6 kHz relative to that at 300 Hz
    held_out: bool


@lru_cache(maxsize=4)
def virtual_speakers(recipe: Recipe) -> tuple[Speaker, ...]:
    """Return all speakers of a recipe, the synthesisers' own voices, unchanged, first."""
    corpus = recipe.corpus
    bases = [base for base in BASES if base.synthesiser in corpus.synthesisers]
    draw = random.Random(f"{recipe.seed} speakers")
    own = min(len(bases), corpus.speakers - corpus.held_out_speakers)
    held_out = set(draw.sample(range(own, corpus.speakers), corpus.held_out_speakers))
    people = [
        Speaker(n, base, 1.0, base.pitch_hz, 0.0, False) for n, base in enumerate(bases[:own])
    ]
    for number in range(own, corpus.speakers):
        base = draw.choices(bases, [base.share for base in bases])[0]
        warp = 2 ** draw.uniform(LOWEST_WARP, base.highest_warp)
        pitch, tilt = base.pitch_hz * 2 ** draw.uniform(-0.35, 0.4), draw.uniform(-5.0, 5.0)
        people.append(Speaker(number, base, warp, pitch, tilt, number in held_out))
    return tuple(people)


def draw_speaker(recipe: Recipe, draw: random.Random) -> Speaker:
    """Draw a speaker by the share of the voice. Unchanged ones are three times as likely."""
    people = virtual_speakers(recipe)
    counts = Counter(person.base for person in people)
    weights = [
        person.base.share / counts[person.base] * (3.0 if person.warp == 1.0 else 1.0)
        for person in people
    ]
    return draw.choices(people, weights)[0]


@dataclass(frozen=True)
class Sides(Generic[_Utterance]):
    """Utterances by speaker: to train on, to validate with, and of held-out speakers."""

    training: People[_Utterance]
    validation: People[_Utterance]
    held_out: People[_Utterance] = field(default_factory=dict)


def flat(people: People[_Utterance]) -> tuple[_Utterance, ...]:
    """Return the utterances of all speakers."""
    return tuple(chain.from_iterable(people.values()))


def split(recipe: Recipe, utterances: Iterable[_Utterance]) -> Sides[_Utterance]:
    """Split utterances into sides. Few utterances also validate. InvalidInput if there are none."""
    left_out = {person.number for person in virtual_speakers(recipe) if person.held_out}
    people: dict[int, list[_Utterance]] = {}
    for each in utterances:
        people.setdefault(each.speaker, []).append(each)
    sides = Sides[_Utterance]({}, {})
    for number, person in people.items():
        count = max(1, round(len(person) * VALIDATION_SHARE))
        if number in left_out:
            sides.held_out[number] = tuple(person)
        elif len(person) > count + 1:
            sides.validation[number] = tuple(person[:count])
            sides.training[number] = tuple(person[count:])
        else:
            sides.training[number] = tuple(person)
    if not sides.training:
        raise InvalidInput("Nothing of the corpus could be encoded.", hint="Make more of it.")
    return sides if sides.validation else replace(sides, validation=sides.training)
