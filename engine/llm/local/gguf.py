"""Checks of a GGUF file that do not load it, and the progress of loading, which the Python wrapper
of llama.cpp lacks.

Invariant: importing this imports no model library. An exception of the listener never passes
through llama.cpp; it stops the loading and is stored.
"""

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import Cancelled, ModelError
from engine.translatable import Progress, Translatable

if TYPE_CHECKING:
    from llama_cpp import Llama

MAGIC = b"GGUF"


def check_library() -> None:
    """Raise ModelError if llama-cpp-python is not installed; do not import it."""
    if importlib.util.find_spec("llama_cpp") is None:
        raise no_library()


def no_library() -> ModelError:
    return ModelError(
        "llama-cpp-python is not installed, so GGUF models cannot run.",
        hint="Install the extra: pip install 'rubato[llm]', or use the engine 'server'.",
    )


def checked_file(model: str) -> Path:
    """Return the path of the model if it begins like a GGUF file. Raises ModelError."""
    hint = Translatable("Choose a .gguf file of an instruct or chat model in the settings.")
    if not model:
        raise ModelError("No language model file is chosen.", hint=hint)
    path = Path(model).expanduser()
    try:
        # reading a pipe would wait for a writer
        if path.exists() and not path.is_file() and not path.is_dir():
            raise ModelError("{path} is not a GGUF model file.", hint=hint, path=path)
        with path.open("rb") as file:
            magic = file.read(len(MAGIC))
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte
        raise ModelError("There is no readable model file {path}.", hint=hint, path=path) from error
    if magic != MAGIC:
        raise ModelError("{path} is not a GGUF model file.", hint=hint, path=path)
    return path


@dataclass
class LoadWatch:
    """Forwards llama.cpp's progress. `cancelled`: the exception that stopped the loading."""

    text: str
    progress: Progress
    cancelled: Cancelled | None = None

    def reached(self, fraction: float, _: object) -> bool:
        """Report the progress; llama.cpp calls this, and False stops the loading."""
        try:
            self.progress(self.text, round(fraction, 2))
        except Cancelled as cancelled:
            self.cancelled = cancelled
            return False
        return True


def watched_llama(watch: LoadWatch) -> "type[Llama]":
    """Return a subclass of Llama whose constructor reports to this watch while it loads the file:
    its loading parameters get llama.cpp's callback when they are assigned.
    """
    import llama_cpp

    callback = llama_cpp.llama_progress_callback(watch.reached)

    class Watched(llama_cpp.Llama):
        @property
        def model_params(self) -> Any:
            return self._watched_params

        @model_params.setter
        def model_params(self, params: Any) -> None:
            params.progress_callback = callback
            self._watched_params = params

    return Watched
