"""The synthesisers of the papers, but for VoXtream2: small packs of some come with the program, and
all can be trained on this machine.

The one table of them is `resources/systems.toml`: what stands there is known to settings, window,
`rubato models`, `doctor`, `bench` and `compare`; its code is one folder, `engine/tts/<name>`.
Invariant: imports nothing of the program but where its files lie.
"""

from dataclasses import dataclass
from typing import Final

from engine.resources import table


@dataclass(frozen=True)
class System:
    """`name` is that of the synthesiser, of its recipe in `engine/training/recipes` and of its
    pack's folder. `core_hours` is how long one core trains its networks (SpeakStream's and SMLLE's
    are estimates from the time of a step); the corpus, its codes and its vocoder take more.
    `headline` is the result its paper gives, `expected` what of it should also be seen here,
    `ours` what differs from the paper. `module` has the load() that reads its pack.
    """

    name: str
    title: str
    core_hours: float
    headline: str
    expected: str
    ours: str
    rate: str = ""  # how it follows the speaking rate; empty = it has no control of it
    other_module: str = ""  # than that of its folder

    @property
    def module(self) -> str:
        return self.other_module or f"engine.tts.{self.name}.synthesiser"

    @property
    def command(self) -> str:
        """The command that makes its pack and puts it where the program looks for it."""
        return command_of(self.name)


def command_of(recipe: str) -> str:
    """The command that trains a recipe of ours and puts the pack where the program looks for it."""
    return f"python -m engine.training all engine/training/recipes/{recipe}.toml --install"


SYSTEMS: Final = tuple(System(**each) for each in table("systems.toml")["system"])


def find(name: str) -> System | None:
    """The system of this name; None = there is none."""
    return next((system for system in SYSTEMS if system.name == name), None)
