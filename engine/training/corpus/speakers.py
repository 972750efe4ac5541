"""Virtual speakers: a few synthesised voices with changed pitch, vocal tract and colour; or the
voices of a teacher and blends of two of them, changed less.

Invariant: speaker number n of a recipe is always the same person.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, TypeVar

from engine.assets.packages import KOKORO_VOICE_NAMES
from engine.errors import InvalidInput
from engine.training.recipe import Recipe

_Utterance = TypeVar("_Utterance")


@dataclass(frozen=True)
class Base:
    """A synthesiser's own voice. `sps` is how fast it speaks unstretched; `heeds` says whether it
    speaks at the requested pitch (measured: some always use their own).
    """

    synthesiser: str
    voice: str
    pitch_hz: float
    sps: float
    share: float  # of the virtual speakers
    highest_warp: float  # octaves
    heeds: bool = False


# sps: syllables of 10 grammar sentences over the time from first to last sound, measured
# (Belinda and Arthur have the values of Clara and Alan).
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
TEACHER: Final = Base("kokoro", "", 0.0, 0.0, 1.0, 0.12, heeds=True)
OWN_SPS: Final = 4.4  # of the teacher's voices
# The teacher's voices for the speakers that are held out; all others are for training.
_KEPT: Final = {
    "af_kore", "af_sarah", "am_echo", "am_fenrir", "bf_isabella", "bm_fable",
    "if_sara", "em_alex", "zf_xiaoyi", "hm_psi", "jf_nezumi", "pm_santa",
}  # fmt: skip
UNHEARD: Final = ("af_kore", "am_fenrir", "bf_isabella", "bm_fable")  # not trained on
_LEFT_OUT: Final = {"af_nicole"}  # whispers
_BLENDED: Final = 0.75  # of the speakers that are not an own voice; the others are a changed one
_MOVED: Final = 0.4  # of the blends


@dataclass(frozen=True)
class Speaker:
    """One person. `warp` multiplies pitch and formants; `tilt_db` is the gain at 6 kHz over that at
    300 Hz.
    """

    number: int
    base: Base
    warp: float
    pitch_hz: float
    tilt_db: float
    held_out: bool
    blend: tuple[tuple[str, float], ...] = ()  # the teacher's voices and their shares


@lru_cache(maxsize=4)
def cast(recipe: Recipe) -> tuple[Speaker, ...]:
    """All speakers of a recipe; the first of each voice is the voice itself."""
    corpus = recipe.corpus
    if corpus.teacher:
        return _taught(recipe)
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
    """The next utterance's speaker: voices by their share, unchanged ones three times as often."""
    people = cast(recipe)
    counts = Counter(person.base for person in people)
    weights = [
        person.base.share / counts[person.base] * (3.0 if person.warp == 1.0 else 1.0)
        for person in people
    ]
    return draw.choices(people, weights)[0]


def _taught(recipe: Recipe) -> tuple[Speaker, ...]:
    """The teacher's speakers, with those held out at the end: no voice is among both."""
    corpus = recipe.corpus
    draw = random.Random(f"{recipe.seed} teacher's speakers")
    people: list[Speaker] = []
    for held_out in (False, True):
        every = [name for name in KOKORO_VOICE_NAMES if name not in _LEFT_OUT]
        names = [name for name in every if (name in _KEPT) == held_out]
        english = [name for name in names if name[0] in "ab"]
        last = corpus.speakers if held_out else corpus.speakers - corpus.held_out_speakers
        own = [Speaker(0, TEACHER, 1.0, 0.0, 0.0, held_out, ((name, 1.0),)) for name in english]
        for number in range(len(people), last):
            person = own.pop(0) if own else _random_speaker(draw, english, names)
            people.append(replace(person, number=number, held_out=held_out))
    return tuple(people)


def _random_speaker(draw: random.Random, english: Sequence[str], names: Sequence[str]) -> Speaker:
    """A blend in which an English voice dominates, or a changed copy of such a voice."""
    first = draw.choice(english)
    blended = draw.random() < _BLENDED
    second = draw.choice([name for name in names if name != first])
    share = draw.uniform(0.4, 0.8)
    is_changed = not blended or draw.random() < _MOVED
    octaves = draw.uniform(0.04, TEACHER.highest_warp) * draw.choice((-1, 1))
    tilt = draw.uniform(-3.0, 3.0)
    return Speaker(
        number=0,
        base=TEACHER,
        warp=2**octaves if is_changed else 1.0,
        pitch_hz=0.0,
        tilt_db=tilt if is_changed else 0.0,
        held_out=False,
        blend=((first, share), (second, 1 - share)) if blended else ((first, 1.0),),
    )


def divided(
    recipe: Recipe, people: Mapping[int, Sequence[_Utterance]]
) -> tuple[dict[int, tuple[_Utterance, ...]], dict[int, tuple[_Utterance, ...]]]:
    """Utterances by speaker: those to train on and those to validate with, which are the same where
    there are too few. Without the held-out speakers. InvalidInput when none is left.
    """
    left_out = {person.number for person in cast(recipe) if person.held_out}
    training: dict[int, tuple[_Utterance, ...]] = {}
    validation: dict[int, tuple[_Utterance, ...]] = {}
    for number, person in people.items():
        if number in left_out:
            continue
        count = max(1, round(len(person) * recipe.corpus.validation_share))
        if len(person) > count + 1:
            validation[number] = tuple(person[:count])
            person = person[count:]
        training[number] = tuple(person)
    if not training:
        raise InvalidInput("Nothing of the corpus could be encoded.", hint="Make more of it.")
    return training, validation or training
