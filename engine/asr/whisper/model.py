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
FOREIGN_WEIGHTS = ("model.safetensors", "pytorch_model.bin")  # a model that is not converted yet
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
    if model is None:
        model = _on_cpu(path)
    _check_mels(model, path)
    return LoadedWhisper(
        model, _checked_language(model, language, path), _detail(model, path.name, notes)
    )


def in_language(loaded: LoadedWhisper, language: str, folder: str) -> LoadedWhisper:
    """Return the same model for another language. ModelError if the model does not support it."""
    path = Path(folder).expanduser()
    return replace(loaded, language=_checked_language(loaded.model, language, path))


def checked_folder(folder: str) -> Path:
    """Return the folder if every model file exists and is not empty; otherwise ModelError."""
    if not folder.strip():
        raise ModelError("No folder is chosen for the Whisper model.", hint=HINT_FOLDER)
    path = Path(folder).expanduser()
    if path.is_file():
        raise ModelError(
            "The Whisper model {path} is a file, not a folder.", hint=HINT_FOLDER, path=path
        )
    if not path.is_dir():
        raise ModelError(
            "The Whisper model folder {path} does not exist.", hint=HINT_FOLDER, path=path
        )
    missing = [name for name in REQUIRED if _empty(path / name)]
    if all(_empty(path / name) for name in VOCABULARIES):
        missing.append(VOCABULARIES[0])
    if not missing:
        return path
    foreign = [name for name in FOREIGN_WEIGHTS if (path / name).exists()]
    if "model.bin" in missing and foreign:
        raise ModelError(
            "The folder {path} holds {file}, not a model converted for CTranslate2.",
            hint="Convert it with: {command}",
            path=path,
            file=foreign[0],
            command="ct2-transformers-converter --model FOLDER --output_dir NEW --copy_files "
            "tokenizer.json preprocessor_config.json --quantization int8",
        )
    if len(missing) > len(REQUIRED):
        raise ModelError("The folder {path} holds no Whisper model.", hint=HINT_FOLDER, path=path)
    raise ModelError(
        "The Whisper model in {path} lacks {files}.",
        hint=HINT_AGAIN,
        path=path,
        files=", ".join(missing),
    )


def _empty(file: Path) -> bool:
    return not file.is_file() or file.stat().st_size == 0


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


def _on_cpu(path: Path) -> Any:
    try:
        return _load(path, "cpu", CPU_TYPES)
    except Exception as error:  # the readers of four file formats have no common error class
        raise ModelError(
            "The Whisper model in {path} does not load: {error}",
            hint=HINT_AGAIN,
            path=path,
            error=str(error).splitlines()[0],
        ) from error


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


def _check_mels(model: Any, path: Path) -> None:
    bins = int(model.model.n_mels)
    filters = len(model.feature_extractor.mel_filters)
    if filters != bins:
        raise ModelError(
            "The Whisper model in {path} needs {wanted} mel bands, its "
            "preprocessor_config.json gives {given}.",
            hint="Copy preprocessor_config.json from the original model into the folder.",
            path=path,
            wanted=bins,
            given=filters,
        )


def _checked_language(model: Any, language: str, path: Path) -> str | None:
    if language in DETECT:
        return None
    languages = [str(code) for code in model.supported_languages]
    if language in languages:
        return language
    if languages == ["en"]:
        raise ModelError(
            "The Whisper model in {path} understands English only, not '{language}'.",
            hint="Choose a multilingual model (its name does not end in .en), or English.",
            path=path,
            language=language,
        )
    raise ModelError(
        "Whisper does not support the language '{language}'.",
        hint="Use a code such as en, de or fr, or 'auto' to let the model decide.",
        language=language,
    )


def _detail(model: Any, name: str, notes: list[str]) -> str:
    device = "GPU" if model.model.device == "cuda" else "CPU"
    kind = "English" if not model.model.is_multilingual else "multilingual"
    return "; ".join([f"{name}: {kind} model on {device}, {model.model.compute_type}", *notes])
