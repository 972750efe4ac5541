"""How far llama.cpp has read a model file, which its Python wrapper does not report.

Invariant: an exception of the listener never passes through llama.cpp; it stops the loading and is
kept.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.errors import Cancelled
from engine.llm.base import Progress

if TYPE_CHECKING:
    from llama_cpp import Llama


@dataclass
class LoadWatch:
    """Passes on what llama.cpp reports. `cancelled` None = nobody wants to stop it."""

    text: str
    progress: Progress
    cancelled: Cancelled | None = None

    def reached(self, fraction: float, _: object) -> bool:
        """llama.cpp's callback; False ends the loading."""
        try:
            self.progress(self.text, round(fraction, 2))
        except Cancelled as cancelled:
            self.cancelled = cancelled
            return False
        return True


def watched_llama(watch: LoadWatch) -> "type[Llama]":
    """A subclass of llama_cpp.Llama whose constructor reports to this watch while it loads the
    file.

    The wrapper creates the loading parameters inside its constructor; they get llama.cpp's callback
    at the moment they are assigned.
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
