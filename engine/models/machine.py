"""What this machine has, and about what a model takes of it.

Invariant: these are estimates to choose by, told as such; what a model really takes is seen when it
is loaded.
"""

from dataclasses import dataclass

import psutil

# Megabytes: share of the files that stays in memory, and what works beside it. Whisper base took
# 200 with its library; 4096 tokens of context of Qwen 3 take 470 to 600, by its layers; the voice
# by its parts.
_NEEDS = {
    "recogniser": (0.6, 110),
    "language model": (1.0, 650),
    "voice": (1.2, 500),
}
SYSTEM_SHARE = 0.25  # of the memory, for the system and what else runs
OWN_MB = 1_000  # the window and the parts that are always there
# A core reads so much of a language model in the time that a spoken word takes, about: more would
# answer more slowly than it speaks.
MEGABYTES_A_CORE = 650


@dataclass(frozen=True)
class Machine:
    """Memory in megabytes (of 10**6 bytes), and physical cores."""

    memory_mb: int
    cores: int

    def __str__(self) -> str:
        return f"{self.memory_mb / 1000:.0f} GB of memory, {self.cores} cores"

    def has_memory_for(self, memory_mb: int) -> bool:
        """Whether this fits beside what is always there."""
        return memory_mb + OWN_MB <= self.memory_mb * (1 - SYSTEM_SHARE)

    def thinks_fast_with(self, megabytes: int) -> bool:
        """Whether a language model of this size should write as fast as it is spoken."""
        return megabytes <= MEGABYTES_A_CORE * self.cores


def this_machine() -> Machine:
    """As the operating system tells."""
    cores = psutil.cpu_count(logical=False) or psutil.cpu_count() or 1
    return Machine(int(psutil.virtual_memory().total) // 1_000_000, cores)


def need_mb(kind: str, megabytes: int) -> int:
    """About what a model with files of this size takes while it runs; 0 where nobody knows."""
    if kind not in _NEEDS or not megabytes:
        return 0
    share, beside = _NEEDS[kind]
    return round(share * megabytes) + beside
