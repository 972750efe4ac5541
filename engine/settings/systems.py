"""The names of all synthesisers, and those of the papers except VoXtream2: small packs of some come
with the program, and all can be trained on this machine.

`resources/systems.toml` is the only table of the papers' systems: they are known to settings,
window, `rubato models`, `doctor`, `bench` and `compare`; the code of each is one folder,
`engine/tts/<name>`. Invariant: imports nothing of the program except its files and texts.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from engine.resources import table
from engine.translatable import Translatable

KOKORO: Final = "kokoro"  # the synthesiser that speaks best on most computers
STARTER, ESPEAK = "starter", "espeak"  # both are built in
LLMVOX_PUBLISHED: Final = "llmvox-published"


@dataclass(frozen=True)
class System:
    """`name` is that of the synthesiser, of its recipe in `engine/training/recipes` and of its
    pack's folder. `core_hours`: the time one core needs to train its networks (SpeakStream's and
    SMLLE's are estimates from the time of a step); the corpus, its codes and its vocoder take more.
    `headline` is the result of its paper, `expected` the part of it that should also be seen here,
    `ours` the differences from the paper. `module` has the load() that reads its pack.
    """

    name: str
    title: str
    core_hours: float
    headline: str
    expected: str
    ours: str
    rate: str = ""  # how it follows the speaking rate; empty = it cannot
    other_module: str = ""  # instead of that of its folder

    @property
    def module(self) -> str:
        return self.other_module or f"engine.tts.{self.name}.synthesiser"

    @property
    def command(self) -> str:
        """The command that makes its pack and installs it."""
        return command_of(self.name)


def command_of(recipe: str) -> str:
    """Return the command that trains one of our recipes and installs the pack."""
    return f"python -m engine.training all engine/training/recipes/{recipe}.toml --install"


SYSTEMS: Final = tuple(System(**each) for each in table("systems.toml")["system"])
TITLES: Final[Mapping[str, str]] = {  # of all synthesisers, for people
    KOKORO: "Kokoro",
    STARTER: Translatable("Rubato's own"),
    ESPEAK: "eSpeak NG",
    "voxtream2-1": "VoXtream2.1",
    "voxtream2": "VoXtream2",
    LLMVOX_PUBLISHED: Translatable("LLMVoX, published weights"),
    **{system.name: system.title for system in SYSTEMS},
}


def find(name: str) -> System | None:
    """Return the system of this name; None = there is none."""
    return next((system for system in SYSTEMS if system.name == name), None)
