"""Checks of a language model's file that do not load it.

Invariant: imports no model library.
"""

import importlib.util
from pathlib import Path

from engine.errors import ModelError
from engine.translatable import Translatable

MAGIC = b"GGUF"


def check_library() -> None:
    """ModelError when llama-cpp-python is not installed; it is not imported."""
    if importlib.util.find_spec("llama_cpp") is None:
        raise no_library()


def no_library() -> ModelError:
    return ModelError(
        "llama-cpp-python is not installed, so GGUF models cannot run.",
        hint="Install the extra: pip install 'rubato[llm]', or use the engine 'server'.",
    )


def checked_file(model: str) -> Path:
    """The model's path, checked to exist and to begin like a GGUF file; ModelError otherwise."""
    hint = Translatable("Choose a .gguf file of an instruct or chat model in the settings.")
    if not model:
        raise ModelError("No language model file is chosen.", hint=hint)
    path = Path(model).expanduser()
    try:
        with path.open("rb") as file:
            magic = file.read(len(MAGIC))
    except OSError as error:
        raise ModelError("There is no readable model file {path}.", hint=hint, path=path) from error
    if magic != MAGIC:
        raise ModelError("{path} is not a GGUF model file.", hint=hint, path=path)
    return path
