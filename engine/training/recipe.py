"""The common part of all recipes: corpus, schedules, stages, the pack.

A system adds its own sections and stages in the package of its name. Invariant: a recipe and its
seed decide every random choice of a run; properties of the machine (cores, device, folders) are not
part of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from engine.nn.transformer import TransformerConfig
from engine.tts.packs import Weights

STACK: Final = TransformerConfig(layers=4, width=256, heads=4, kv_heads=2, hidden=768)


@dataclass(frozen=True)
class Corpus:
    """The speech to synthesise. Rates are in syllables per second (SPS)."""

    hours: float
    shard_seconds: float = 600.0
    synthesisers: tuple[str, ...] = ("flite", "espeak")  # or "kokoro"
    speakers: int = 240  # virtual ones, over all synthesisers
    held_out_speakers: int = 24  # of them, never trained on
    lowest_rate: float = 1.0
    highest_rate: float = 7.5
    own_pace: float = 0.0  # share of utterances at the speaker's own pace
    grammar_share: float = 0.45  # the rest is prose found on the machine
    replies: float = 0.0  # share of utterances of one to three words
    rare_phone: int = 40  # phones with fewer examples are replaced by similar ones

    def __post_init__(self) -> None:
        """ValueError for values that do not fit each other."""
        if self.hours <= 0:
            raise ValueError("corpus.hours must be above 0")
        if not 0 < self.lowest_rate < self.highest_rate:
            raise ValueError("corpus.lowest_rate must be above 0 and below highest_rate")
        if self.held_out_speakers >= self.speakers:
            raise ValueError("corpus.held_out_speakers must be fewer than speakers")


@dataclass(frozen=True)
class Schedule:
    """The training of one network, which ends after its `steps` or its `seconds`."""

    steps: int
    batch: int
    learning_rate: float
    warmup: int = 200
    seconds: float = 0.0  # on the machine that trains, 0 = by steps alone
    decay_from: float = 0.3  # share of the schedule after which the rate falls to its end
    last_rate: float = 0.02  # share of the learning rate at the end
    weight_decay: float = 0.02
    clip: float = 1.0
    average: float = 0.999  # of the weights, per step; 0 = none
    checkpoint_every: int = 250
    validate_every: int = 500
    best: str = ""  # keep the weights with the lowest value of this loss; "" = those of the end
    bf16: bool = False  # multiply in bfloat16 where the machine can; the weights stay fp32


@dataclass(frozen=True)
class Sound:
    """A network that makes samples, and the critic that joins late."""

    schedule: Schedule
    window_frames: int = 32  # 2.56 s
    hours: float = 4.0  # of the corpus held in memory
    adversary_from: float = 1.0  # share of the schedule after which a critic joins
    critic_windows: int = 2  # of a batch that the critic judges
    critic_rate: float = 3.0  # factor on the schedule's learning rate


@dataclass(frozen=True)
class Export:
    """The pack to write."""

    name: str
    weights: Weights = Weights.FLOAT16  # on the disk
    voices: tuple[str, ...] = ("Ada", "Bruno", "Clara", "Dario", "Edda", "Felix")
    speakers: tuple[int, ...] = ()  # of these voices; () = the first ones
    # For the card alone: measured figures, and why figures miss their targets. Not in the repr, so
    # that another sentence does not repeat the stage (see Run.key).
    reached: tuple[str, ...] = field(default=(), repr=False)
    limits: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The sections that the recipes of all systems have."""

    name: str
    seed: int
    system: str = "voxtream2"
    corpus: Corpus
    export: Export


@dataclass(frozen=True)
class Stage:
    """A stage of a system's training. `function` names a module of this package and a function in
    it, which gets the Run. It does the work and returns facts for the manifest, or it returns a
    learner, which is then trained. Finished work is valid while the stages that it `reads` and
    these `sections` of the recipe stay the same.
    """

    function: str
    reads: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()


@dataclass(frozen=True)
class System:
    """A system that can be trained: its recipe and its stages. `card` describes a pack, up to the
    word "trained". `base` begins a sentence about the parts that are taken from the built-in voice.
    """

    card: str
    recipe: type[Recipe]
    stages: Mapping[str, Stage]
    base: str = "speaker encoder is"


CORPUS: Final = {"corpus": Stage("corpus.shards:make_corpus", sections=("corpus",))}
EXPORT: Final = ("export", "generation")  # the sections that a pack depends on
