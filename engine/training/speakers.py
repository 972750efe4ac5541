"""Virtual speakers: a few synthesised voices, moved in pitch, vocal tract and colour.

Invariant: speaker number n of a recipe is always the same person.
"""

import random
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from engine.training.recipe import Recipe


@dataclass(frozen=True)
class Base:
    """A synthesiser's own voice. `sps` is how fast it speaks unstretched; `heeds` whether it speaks
    at the pitch it is asked for (some speak at their own, whatever they are told: measured).
    """

    synthesiser: str
    voice: str
    pitch_hz: float
    sps: float
    share: float  # of the virtual speakers
    highest_warp: float  # octaves
    heeds: bool = False


# sps: syllables of 10 grammar sentences over the time from first to last sound, measured
# (Belinda and Arthur: taken over from Clara and Alan).
BASES: Final = (
    Base("flite", "rms", 100.0, 4.3, 5.0, 0.38),
    Base("flite", "slt", 170.0, 4.7, 4.0, 0.25, heeds=True),
    Base("flite", "awb", 130.0, 4.8, 3.0, 0.35, heeds=True),
    Base("flite", "kal16", 110.0, 5.1, 0.5, 0.38, heeds=True),
    Base("festival", "slt", 170.0, 4.7, 3.0, 0.25),
    Base("espeak", "Alan", 100.0, 4.9, 0.5, 0.2),
    Base("espeak", "Belinda", 185.0, 4.9, 0.5, 0.15),
    Base("espeak", "Clara", 190.0, 5.0, 0.4, 0.15),
    Base("espeak", "Arthur", 105.0, 4.9, 0.4, 0.2),
)


@dataclass(frozen=True)
class Speaker:
    """One person. `warp` multiplies pitch and formants, `tilt_db` colours: gain at 6 kHz over
    that at 300 Hz.
    """

    number: int
    base: Base
    warp: float
    pitch_hz: float
    tilt_db: float
    held_out: bool


@lru_cache(maxsize=4)
def cast(recipe: Recipe) -> tuple[Speaker, ...]:
    """All speakers of a recipe; the first of each voice is the voice itself."""
    corpus = recipe.corpus
    bases = [base for base in BASES if base.synthesiser in corpus.synthesisers]
    draw = random.Random(f"{recipe.seed} speakers")
    own = min(len(bases), corpus.speakers - corpus.held_out_speakers)
    held_out = set(draw.sample(range(own, corpus.speakers), corpus.held_out_speakers))
    people = []
    for number in range(corpus.speakers):
        is_own = number < own
        base = bases[number] if is_own else draw.choices(bases, [b.share for b in bases])[0]
        warp = 1.0 if is_own else 2 ** draw.uniform(-0.3, base.highest_warp)
        pitch = base.pitch_hz * (1.0 if is_own else 2 ** draw.uniform(-0.35, 0.4))
        tilt = 0.0 if is_own else draw.uniform(-5.0, 5.0)
        people.append(Speaker(number, base, warp, pitch, tilt, number in held_out))
    return tuple(people)


def pick(recipe: Recipe, draw: random.Random) -> Speaker:
    """The next utterance's speaker: voices by their share, unmoved ones three times as often."""
    people = cast(recipe)
    counts = {base: sum(person.base == base for person in people) for base in BASES}
    weights = [
        person.base.share / counts[person.base] * (3.0 if person.warp == 1.0 else 1.0)
        for person in people
    ]
    return draw.choices(people, weights)[0]
