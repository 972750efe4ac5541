"""Find the wake phrase with a small network that was trained on this machine (training.py).

Invariant: a stored head detects one phrase, that of its file name.
"""

from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors import numpy as safetensors

from engine.asr.base import KeywordSpotter
from engine.asr.wake.embedding import HOP, HOPS, WIDTH, Embedding, Windows
from engine.atomic_write import replace_file
from engine.audio.base import Pcm
from engine.errors import ModelError

Weights = npt.NDArray[np.float32]
TOGETHER = 12  # hops in which search and head must both find the phrase
_NEVER: Weights = np.array([-np.inf], np.float32)


@dataclass(frozen=True)
class Head:
    """Classifier of a window: two layers over normalised vectors. Shapes: `mean` and `spread`
    [WIDTH], `first` [HOPS * WIDTH, D], `first_bias`, `scale`, `shift` and `second` [D],
    `second_bias` [].
    """

    mean: Weights
    spread: Weights
    first: Weights
    first_bias: Weights
    scale: Weights
    shift: Weights
    second: Weights
    second_bias: Weights

    def scores(self, windows: Windows) -> Weights:
        """Return a score for each window [N]: above 0 the phrase has just ended."""
        flat = ((windows - self.mean) / self.spread).reshape(len(windows), HOPS * WIDTH)
        hidden = flat @ self.first + self.first_bias
        hidden = (hidden - hidden.mean(1, keepdims=True)) / hidden.std(1, keepdims=True)
        scores: Weights = np.maximum(hidden * self.scale + self.shift, 0) @ self.second
        return scores + self.second_bias

    def save(self, file: Path) -> None:
        """Write the head to a file. OSError if that fails."""
        file.parent.mkdir(parents=True, exist_ok=True)
        arrays = {name: np.ascontiguousarray(array) for name, array in asdict(self).items()}
        replace_file(file, safetensors.save(arrays))


def load(file: Path) -> Head:
    """Load a head. ModelError if the file is not a detector head."""
    try:
        return Head(**safetensors.load(file.read_bytes()))
    except (OSError, SafetensorError, TypeError) as error:
        raise ModelError(
            "The detector of the wake phrase cannot be read: {error}",
            hint="Teach the phrase again.",
            error=error,
        ) from error


class TrainedSpotter:
    """A KeywordSpotter: the head confirms the proposals of a lenient keyphrase search. Each alone
    would have to be strict, and miss calls that both together find.
    """

    def __init__(self, head: Head, embedding: Embedding, keyphrase: KeywordSpotter) -> None:
        self._head = head
        self._embedding = embedding
        self._keyphrase = keyphrase
        self._last = _NEVER  # score of the previous window
        self._proposed = TOGETHER * HOP  # samples since the end of the last proposal
        self._confirmed = TOGETHER  # hops since the head last confirmed

    def push(self, pcm: Pcm) -> int | None:
        for end in range(HOP, len(pcm) + HOP, HOP):
            ago = self._push(pcm[end - HOP : end])
            if ago is not None:
                return ago + max(0, len(pcm) - end)
        return None

    def _push(self, pcm: Pcm) -> int | None:
        """Search at most one hop."""
        scores = np.append(self._last, self._head.scores(self._embedding.push(pcm)))
        self._last = scores[-1:]
        # One hop is not enough: the mean of two must be above 0.
        over = np.flatnonzero(scores[1:] + scores[:-1] > 0)
        hops = len(scores) - 1
        self._confirmed = hops - 1 - int(over[-1]) if len(over) else self._confirmed + hops
        self._proposed += len(pcm)
        ago = self._keyphrase.push(pcm)
        if ago is not None:
            self._proposed = ago
        if self._proposed < TOGETHER * HOP and self._confirmed < TOGETHER:
            return self._proposed
        return None

    def reset(self) -> None:
        self._embedding.reset()
        self._keyphrase.reset()
        self._last, self._proposed, self._confirmed = _NEVER, TOGETHER * HOP, TOGETHER
