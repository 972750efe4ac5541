"""Base of the papers' synthesisers: parts of the model, sessions, voices.

Invariant: weights are loaded once and never change; a session changes only its own state.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

import torch
from torch import Tensor

from engine.errors import ModelError
from engine.tts.base import TtsInfo, TtsSession, Voice
from engine.tts.papers.voice_tensors import real_numbers
from engine.tts.session import Synthesiser

_Parts = TypeVar("_Parts")
_Prepared = TypeVar("_Prepared")


def speech_device(name: str) -> torch.device:
    """Return the device of the setting speech.device; 'auto' prefers a CUDA device. ModelError when
    the device is missing.
    """
    cuda = torch.cuda.is_available()
    if name not in {"auto", "cuda", "cpu"} or (name == "cuda" and not cuda):
        raise ModelError(
            "The device '{name}' cannot be used for speech.",
            hint="Set speech.device to 'auto' or 'cpu'.",
            name=name,
        )
    return torch.device("cuda" if cuda and name != "cpu" else "cpu")


def speaker_vector(width: int) -> Callable[[Voice], Tensor]:
    """Return a function that prepares voices whose only content is a speaker's vector of `width`
    numbers. SpeakStream and LLMVoX have one voice each in their papers; here they have several.
    """
    return lambda voice: real_numbers(voice, "speaker", (width,))


class SystemSynthesiser(Synthesiser[_Prepared], Generic[_Parts, _Prepared]):
    """A TtsModel whose sessions share `parts`."""

    def __init__(
        self,
        info: TtsInfo,
        parts: _Parts,
        session: Callable[[_Parts, _Prepared, int], TtsSession],
        own_voices: tuple[Voice, ...],
        prepare: Callable[[Voice], _Prepared],
    ) -> None:
        """`session` opens a session from the parts, a prepared voice and a seed. `prepare`: see
        Synthesiser.
        """
        super().__init__(info, own_voices, prepare)
        self.parts = parts
        self._session = session

    @torch.inference_mode()
    def open(self, voice: Voice, *, seed: int) -> TtsSession:
        return self._session(self.parts, self._of(voice), seed)
