"""What the voice costs: CPU time and memory, in a process that holds nothing else.

Invariant: no judge is loaded where memory is measured.
"""

import subprocess
import sys
from typing import Any, Final

import psutil

from engine.training.judge.performance import OWN_RATE, say
from engine.training.judge.talkers import loaded

_MEGABYTE: Final = 1024 * 1024


def speed(pack: str, texts: tuple[str, ...]) -> dict[str, Any]:
    """A part, for a fresh process: real-time factor and milliseconds to the first packet of each
    text (CPU time, one thread, the voice warm), and the resident megabytes at the end, with those
    of a process that has only imported torch.
    """
    model = loaded(pack)
    voice = model.voices()[0]
    model.warm(voice)
    sentences = [say(model, voice, text, (OWN_RATE,)) for text in texts]
    return {
        "factors": [each.cpu_seconds * each.sample_rate / len(each.pcm) for each in sentences],
        "first_ms": [each.first_ms for each in sentences],
        "megabytes": psutil.Process().memory_info().rss / _MEGABYTE,
        "torch_megabytes": torch_alone() / _MEGABYTE,
    }


def torch_alone() -> int:
    """Resident bytes of a process that has imported torch."""
    code = "import psutil, torch; print(psutil.Process().memory_info().rss)"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    return int(process.stdout)
