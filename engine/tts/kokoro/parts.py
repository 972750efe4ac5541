"""The networks of Kokoro on one thread: text encoder, frame features, decoder; and the decoder's
excitation, the spectrum of a sum of harmonics of the pitch.

The published file is cut into these networks at the first start; later starts use the cut, which
lies beside it. A cut depends on the processor too (graph/published.py), so a cut of another
processor is made again, as is a damaged one. Invariants: a cut is complete or missing (made under a
temporary name, synced, then renamed), its name holds the hash of the published file and of the code
that made it, and onnx reads only a file with the publisher's hash.

The phase of the excitation runs through the entire sentence, so that windows join. The published
graph begins every call at phase zero: the same window, cut elsewhere, then correlates at -0.2 with
the sentence.
"""

import hashlib
import json
import logging
import os
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from filelock import FileLock
from safetensors.numpy import load_file

from engine.errors import ModelError
from engine.translatable import Translatable

Floats = npt.NDArray[np.float32]

SAMPLE_RATE: Final = 24_000
FRAME: Final = 600  # samples, 25 ms: the unit of durations
STEP: Final = 300  # samples of one value of the pitch
FINE_ROWS: Final = 120  # spectra of a frame
BINS: Final = 11  # of a spectrum: 20 samples, every 5
EDGE: Final = 5  # samples at each end of a window that its first or last row gives only in part
_WIDTH, _HOP = 20, 5  # samples of a spectrum, and between two
_HARMONICS: Final = 9
_LOUDNESS: Final = 0.1
_VOICED_HZ: Final = 10.0

log = logging.getLogger(__name__)

VoiceInputs = dict[str, npt.NDArray[np.generic]]  # inputs of the decoder by name

SHA256: Final = "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb"
REFETCH: Final = Translatable(
    "Fetch it again: {command}, then {other}",
    command="rubato models remove kokoro",
    other="rubato models get kokoro",
)
_CODE: Final = ("published.py", "decoder.py", "cutting.py")
_CUT: Final = "cut-"
_PLANNED: Final = 16  # texts of plans


@dataclass(frozen=True)
class Source:
    """Published weights: of the harmonics [9] and their bias, and of the convolutions over pitch
    and energy [2, 3] with their biases [2].
    """

    harmonics: Floats
    bias: float
    taps: Floats
    tap_bias: Floats

    def curves(self, pitch: Floats, energy: Floats) -> Floats:
        """Convert pitch and energy, [2 T] each, to the decoder's input [T, 2]."""
        columns = []
        for values, taps, bias in zip((pitch, energy), self.taps, self.tap_bias, strict=True):
            padded = np.pad(values, 1)
            three = np.stack([padded[:-2:2], padded[1:-1:2], padded[2::2]])
            columns.append(taps @ three + bias)
        return np.stack(columns, axis=1).astype(np.float32)

    def turns(self, pitch: Floats) -> npt.NDArray[np.float64]:
        """Return the phase of each harmonic in revolutions, at the middle of each pitch value [2 T,
        9], counted from the sentence's start.
        """
        each = pitch.astype(np.float64)[:, None] * np.arange(1, _HARMONICS + 1) / SAMPLE_RATE
        return STEP * np.cumsum(each - np.floor(each), axis=0)

    def spectrum(
        self, pitch: Floats, turns: npt.NDArray[np.float64], first: int, last: int
    ) -> Floats:
        """Return magnitudes and angles of the frames from `first` to `last`, a row every 5 samples,
        [120 (last - first) + 1, 22].
        """
        wave = self._wave(pitch, turns, first, last)
        pieces = np.lib.stride_tricks.sliding_window_view(wave, _WIDTH)[::_HOP]
        parts = pieces @ _TRANSFORM
        real, imaginary = parts[:, :BINS], parts[:, BINS:]
        return np.concatenate([np.hypot(real, imaginary), np.arctan2(imaginary, real)], axis=1)

    def _wave(self, pitch: Floats, turns: npt.NDArray[np.float64], first: int, last: int) -> Floats:
        """Return the samples of the frames and of half a window on both sides."""
        total = STEP * len(pitch)
        places = np.abs(np.arange(FRAME * first - _WIDTH // 2, FRAME * last + _WIDTH // 2))
        places = np.where(places >= total, 2 * total - 2 - places, places)  # reflected at the ends
        at = (places + 0.5) / STEP - 0.5
        before = np.floor(at).astype(np.int64)
        share = (at - before)[:, None]
        low, high = (np.clip(before + n, 0, len(pitch) - 1) for n in (0, 1))
        phase = turns[low] * (1 - share) + turns[high] * share
        phase -= np.floor(phase)
        voiced = pitch[places // STEP] > _VOICED_HZ
        waves = np.sin(np.float32(2 * np.pi) * phase.astype(np.float32)) * voiced[:, None]
        wave: Floats = np.tanh(np.float32(_LOUDNESS) * (waves @ self.harmonics) + self.bias)
        return wave.astype(np.float32)


def _transform() -> Floats:
    """Return the Fourier transform of windows of _WIDTH samples, Hann window included, as a matrix
    [20, 22], real parts first.
    """
    places = np.arange(_WIDTH)
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * places / _WIDTH)
    angles = 2 * np.pi * places[:, None] * np.arange(BINS) / _WIDTH
    parts = np.concatenate([np.cos(angles), -np.sin(angles)], axis=1) * hann[:, None]
    return parts.astype(np.float32)


_TRANSFORM: Final = _transform()


@dataclass(frozen=True)
class EncodedText:
    """The encoded text of a sentence. `natural` [symbols + 2]: the frames that Kokoro itself would
    give each symbol and both edges.
    """

    tokens: npt.NDArray[np.int64]
    natural: npt.NDArray[np.float64]
    states: Floats


class Parts:
    """The three networks of a cut, loaded for one thread."""

    def __init__(self, folder: Path, published: Path) -> None:
        """Load the networks that were cut out of the `published` file, in about half a second.
        ModelError when a file is damaged.
        """
        try:
            self.layout: dict[str, Any] = json.loads((folder / "layout.json").read_text("utf-8"))
            self.tables = load_file(str(folder / "tables.safetensors"))
            self._text, self._frames, self._decoder = (
                _session(folder / f"{name}.onnx") for name in ("text", "frames", "decoder")
            )
            exact = sums_exactly(_session(folder / "probe.onnx"))
            self.fits_processor: bool = self.layout["signs are exact"] == exact
        except Exception as error:
            raise ModelError(
                "{file} cannot be used: {error}.", hint=REFETCH, file=folder, error=error
            ) from error
        self.published = published
        self._encoded = lru_cache(_PLANNED)(self._encode)
        harmonics = self.tables["harmonics"]
        bias = float(self.tables["harmonics bias"].item())
        self.source = Source(harmonics, bias, self.tables["taps"], self.tables["taps bias"])

    def encode(self, ids: list[int], style: Floats) -> EncodedText:
        """Encode the ids of symbols and edges in a style [1, 256]. The last results are cached,
        because a move of the slider plans the same sentence again, and this is most of that work.
        """
        return self._encoded(tuple(ids), style.tobytes())

    def _encode(self, ids: tuple[int, ...], style: bytes) -> EncodedText:
        tokens, row = np.array([ids], np.int64), np.frombuffer(style, np.float32)[None]
        natural, states = self._text.run(None, {"tokens": tokens, "style": row})
        return EncodedText(tokens, natural.reshape(-1).astype(np.float64), states)

    def features(
        self, encoded: EncodedText, style: Floats, frames: npt.NDArray[np.int64]
    ) -> tuple[Floats, Floats, Floats]:
        """Return features [T, 512], pitch [2 T] in Hz and energy [2 T] of timed symbols."""
        names = [each.name for each in self._frames.get_inputs()]
        values = (encoded.tokens, style, frames.astype(np.float32)[None], encoded.states)
        features, pitch, energy = self._frames.run(None, dict(zip(names, values, strict=True)))
        return np.ascontiguousarray(features[0].T), pitch[0], energy[0]

    def decode(self, inputs: VoiceInputs) -> Floats:
        """Return samples; see DecoderGraph.build for the inputs."""
        samples: Floats = self._decoder.run(None, inputs)[0]
        return samples


def load_parts(file: Path) -> Parts:
    """Load the parts of the published file; cut it first unless there is a cut for this processor.
    ModelError when the file is not the published one, or the cut cannot be written.
    """
    folder = file.parent / f"{_CUT}{cut_hash()}"
    try:
        with FileLock(file.parent / ".cut.lock"):
            if folder.is_dir():
                with suppress(ModelError):
                    parts = Parts(folder, file)
                    if parts.fits_processor:
                        return parts
                log.warning(
                    "Kokoro is cut again: damaged, or for another processor path=%s", folder
                )
            _cut(file, folder)
    except OSError as error:
        raise ModelError(
            "Kokoro cannot be made ready in {folder}: {error}.",
            hint="Make room, or allow writing there.",
            folder=file.parent,
            error=error.strerror or error,
        ) from error
    return Parts(folder, file)


def _cut(file: Path, folder: Path) -> None:
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if digest != SHA256:
        raise ModelError(
            "{file} is not the published Kokoro, or it is damaged.", hint=REFETCH, file=file
        )
    from engine.tts.kokoro.graph.cutting import cut  # loads onnx

    cuts = sorted(file.parent.glob(f"{_CUT}*"), key=lambda cut: cut.stat().st_mtime)
    # Of those made by other versions of the code, a second installation may use the newest.
    for old in (folder, *file.parent.glob(f".{_CUT}*"), *cuts[:-1]):
        if old.is_dir():
            shutil.rmtree(old)
    temporary = Path(tempfile.mkdtemp(dir=file.parent, prefix=f".{_CUT}"))
    cut(file, temporary)
    for part in temporary.iterdir():
        with part.open("rb") as written:
            os.fsync(written.fileno())
    temporary.replace(folder)


@cache
def cut_hash() -> str:
    """Hash the published file and the code that cuts it, ten letters."""
    digest = hashlib.sha256(SHA256.encode())
    for name in _CODE:
        digest.update(resources.files("engine.tts.kokoro.graph").joinpath(name).read_bytes())
    return digest.hexdigest()[:10]


def sums_exactly(probe: Any) -> bool:
    """Run published.probe(): True if this processor adds signed products exactly."""
    entry = probe.get_inputs()[0]
    return bool(probe.run(None, {entry.name: np.full(entry.shape, 255, np.uint8)})[0].item())


def _session(file: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
