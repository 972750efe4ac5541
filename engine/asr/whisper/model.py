"""Load a Whisper model from a folder, on the best device that works.

Nothing is downloaded: if the folder is incomplete, a ModelError names the missing files. A GPU is
used only after one successful encoding; otherwise the CPU is used and `detail` says why.
"""

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from engine.asr.base import SAMPLE_RATE
from engine.audio.base import Pcm
from engine.errors import ModelError
from engine.translatable import Translatable

_log = logging.getLogger(__name__)

REQUIRED = ("model.bin", "config.json", "tokenizer.json")  # without the last, it asks the network
VOCABULARIES = ("vocabulary.json", "vocabulary.txt")
DETECT = ("", "auto")  # settings that let the model detect the language
# first supported wins: small types leave memory for the voice
GPU_TYPES = ("int8_float16", "float16", "int8")
CPU_TYPES = ("int8", "int8_float32", "float32")
MAX_THREADS = 4  # more do not speed up one utterance, and the window needs cores too
# Frames of 10 ms. A window of less than 10 s loses words and is not faster.
WINDOWS = (1000, 2000, 3000)
FRAME = SAMPLE_RATE // 100  # samples
SILENCE = 100  # minimum number of silent frames after the speech
HINT_FOLDER = Translatable(
    "Choose a folder with a Whisper model converted for CTranslate2 (model.bin, "
    "config.json, tokenizer.json, vocabulary.json) in the settings, or use the "
    "built-in recogniser 'sphinx'."
)
HINT_AGAIN = Translatable("The folder is incomplete or damaged: fetch or copy the model again.")


@dataclass(frozen=True)
class LoadedWhisper:
    """A faster-whisper model and how to use it. `language` None = the model detects it."""

    model: Any
    language: str | None
    detail: str


def load_model(folder: str, language: str) -> LoadedWhisper:
    """Load a CTranslate2 Whisper folder. ModelError names the folder, the fault and the remedy."""
    path = checked_folder(folder)
    # 1.2 s and 54 MB of imports, so only once the folder is complete.
    import ctranslate2

    notes: list[str] = []
    model = _on_gpu(path, notes) if ctranslate2.get_cuda_device_count() > 0 else None
    try:
        model = model or _load(path, "cpu", CPU_TYPES)
    except Exception as error:  # the readers of four file formats have no common error class
        raise ModelError(
            "The Whisper model in {path} does not load: {error}",
            hint=HINT_AGAIN,
            path=path,
            error=str(error).splitlines()[0],
        ) from error
    device = "GPU" if model.model.device == "cuda" else "CPU"
    kind = "multilingual" if model.model.is_multilingual else "English"
    what = f"{path.name}: {kind} model on {device}, {model.model.compute_type}"
    return LoadedWhisper(model, _checked_language(model, language), "; ".join([what, *notes]))


def in_language(loaded: LoadedWhisper, language: str) -> LoadedWhisper:
    """Return the same model for another language. ModelError if the model does not support it."""
    return replace(loaded, language=_checked_language(loaded.model, language))


def checked_folder(folder: str) -> Path:
    """Return the folder if every model file exists and is not empty; otherwise ModelError."""
    if not folder.strip():
        raise ModelError("No folder is chosen for the Whisper model.", hint=HINT_FOLDER)
    path = Path(folder).expanduser()
    full = {file.name for file in path.glob("*") if file.is_file() and file.stat().st_size}
    missing = [name for name in REQUIRED if name not in full]
    if not full.intersection(VOCABULARIES):
        missing.append(VOCABULARIES[0])
    if missing:
        raise ModelError(
            "The Whisper model in {path} lacks {files}.",
            hint=HINT_FOLDER if "model.bin" in missing else HINT_AGAIN,
            path=path,
            files=", ".join(missing),
        )
    return path


def _on_gpu(path: Path, notes: list[str]) -> Any:
    """Return a model that has encoded once on the GPU, or None and add a note."""
    try:
        model = _load(path, "cuda", GPU_TYPES)
        # Missing CUDA libraries show at the first encoding, not while loading.
        model.encode(np.zeros((model.model.n_mels, 3000), np.float32))
    except (RuntimeError, ValueError, OSError) as error:
        _log.warning("whisper does not run on the gpu error=%s", error)
        notes.append(f"the GPU could not be used: {str(error).splitlines()[0]}")
        return None
    return model


def _load(path: Path, device: str, wanted: tuple[str, ...]) -> Any:
    import ctranslate2
    import faster_whisper

    supported = ctranslate2.get_supported_compute_types(device)
    compute_type = next((name for name in wanted if name in supported), "default")
    model = faster_whisper.WhisperModel(
        str(path),
        device=device,
        compute_type=compute_type,
        cpu_threads=min(MAX_THREADS, os.cpu_count() or 1),
        num_workers=1,
        local_files_only=True,
    )
    if len(model.feature_extractor.mel_filters) != model.model.n_mels:
        raise ValueError("preprocessor_config.json belongs to another model")
    model.encode = partial(_encode, model.encode)
    return model


def pad_to_window(pcm: Pcm) -> Pcm:
    """Pad samples [S] with silence to the end of a window. faster-whisper pads at a loudness that
    Whisper was not trained on: of 80 sentences in a room, 22 % of the words were wrong and 8 were
    empty; with silence 18 %, and 1.
    """
    frames = -(-len(pcm) // FRAME) + SILENCE
    window = next((window for window in WINDOWS if frames <= window), WINDOWS[-1])
    return np.pad(pcm, (0, max(0, (window - 1) * FRAME - len(pcm))))


def _encode(encode: Callable[[Any], Any], features: Any) -> Any:
    """Encode mel bands [M, T], padded to 30 s, in the smallest window that holds them. A window of
    10 s takes a quarter (0.26) of the time; 16 % of the words of 80 sentences are wrong in both.
    """
    window = next(window for window in WINDOWS if not features[..., window:].any())
    return encode(features[..., :window])


def _checked_language(model: Any, language: str) -> str | None:
    if language in DETECT:
        return None
    if language in model.supported_languages:
        return language
    hint = Translatable("Use a code such as en, de or fr, or 'auto' to let the model decide.")
    if list(model.supported_languages) == ["en"]:
        hint = Translatable(
            "Choose a multilingual model (its name does not end in .en), or English."
        )
    raise ModelError(
        "Whisper does not support the language '{language}'.", hint=hint, language=language
    )
