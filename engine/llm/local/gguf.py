"""Checks of a GGUF file that do not load it, and two functions that the Python wrapper of llama.cpp
lacks: the progress of loading, and the prompts of model families.

Invariant: importing this imports no model library. An exception of the listener never passes
through llama.cpp; it stops the loading and is stored.
"""

import ctypes
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
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
