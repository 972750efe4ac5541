"""Checks of a GGUF file that do not load it, and two functions that the Python wrapper of llama.cpp
lacks: the progress of loading, and the prompts of model families.

Invariant: importing this imports no model library. An exception of the listener never passes
through llama.cpp; it stops the loading and is stored.
"""

import ctypes
import importlib.util
from collections.abc import Sequence
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.characters import join_surrogates
from engine.errors import Cancelled, ModelError
from engine.llm.history import ChatMessage
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


def load_watched(text: str, progress: Progress, **parameters: Any) -> "Llama":
    """Load a file, and report llama.cpp's progress: the loading parameters get its callback when
    they are assigned. Raises the errors of Llama, and Cancelled if `progress` does.
    """
    import llama_cpp

    cancelled: Cancelled | None = None

    def reached(fraction: float, _: object) -> bool:  # False stops the loading
        nonlocal cancelled
        try:
            progress(text, round(fraction, 2))
        except Cancelled as error:
            cancelled = error
        return cancelled is None

    callback = llama_cpp.llama_progress_callback(reached)

    class Watched(llama_cpp.Llama):
        @property
        def model_params(self) -> Any:
            return self._watched_params

        @model_params.setter
        def model_params(self, params: Any) -> None:
            params.progress_callback = callback
            self._watched_params = params

    try:
        return Watched(**parameters)
    except (ValueError, RuntimeError, OSError) as error:
        if cancelled is None:
            raise
        raise cancelled from error


def family_prompt(template: str, messages: Sequence[ChatMessage]) -> str:
    """Return the prompt of these text messages in the format of the family that llama.cpp
    recognises by the marks of the template; empty if it recognises none.
    """
    import llama_cpp

    if not messages:
        return ""
    pairs = [(each["role"], each["content"]) for each in messages]
    encoded = [
        [join_surrogates(text).replace("\0", "").encode() for text in pair] for pair in pairs
    ]
    chat = (llama_cpp.llama_chat_message * len(encoded))(
        *starmap(llama_cpp.llama_chat_message, encoded)
    )
    arguments = (join_surrogates(template).encode(), chat, len(chat), True)
    size = llama_cpp.llama_chat_apply_template(*arguments, None, 0)
    if size <= 0:
        return ""
    prompt = ctypes.create_string_buffer(size)
    llama_cpp.llama_chat_apply_template(*arguments, prompt, size)
    return prompt.raw.decode(errors="replace")
