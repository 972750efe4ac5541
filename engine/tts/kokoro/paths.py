"""The paths of Kokoro's fetched files.

Invariant: imports no ONNX Runtime, so that listing voices stays quick.
"""

from pathlib import Path

from engine.settings_file import data_folder


def model_file() -> Path:
    """Return the file of the published model, which need not exist."""
    return data_folder() / "models" / "kokoro" / "kokoro-v1.0.int8.onnx"


def voices_folder() -> Path:
    """Return the folder of the voices, one .bin each. It may be missing."""
    return data_folder() / "models" / "kokoro-voices" / "voices"


def is_fetched() -> bool:
    """Return True if the model and its first voice exist; loading checks them fully."""
    return model_file().is_file() and (voices_folder() / "af_heart.bin").is_file()
