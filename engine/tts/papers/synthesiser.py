"""Base of the papers' synthesisers: parts of the model, sessions, and checks of a voice's tensors
before a network gets them.

Invariant: weights are loaded once and never change; a session changes only its own state. A tensor
that does not fit is an InvalidInput with the voice's name and the fault.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from engine.codec.mel import Vocoder, load_vocoder
from engine.errors import InvalidInput, ModelError
from engine.text.phonemes import Espeak
from engine.tts.base import TtsInfo, TtsSession, Voice
from engine.tts.pack_files import PHONES_FILE, VOCODER_FILE
from engine.tts.phones import VOCABULARY, PhoneTable, read_table
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


def shared_parts(folder: Path) -> tuple[Vocoder, PhoneTable, Espeak]:
    """Load the parts that the packs of spectra have in common. ModelError names the file that is
    missing or wrong. These systems run on one thread of the CPU: the products of one position are
    too small for a second one, or another device.
    """
    torch.set_num_threads(1)
    vocoder = load_vocoder(folder / VOCODER_FILE)
    return vocoder, read_table(folder / PHONES_FILE, VOCABULARY), Espeak()


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


# ------------------------------------------------------------------- a voice's tensors


def array_of(voice: Voice, name: str) -> npt.NDArray[Any]:
    """Return a tensor of the voice. InvalidInput when it is missing."""
    if name not in voice.tensors:
        raise unfit(voice, f"no '{name}'")
    return voice.tensors[name]


def whole_numbers(voice: Voice, name: str, below: int, dimensions: int = 1) -> Tensor:
    """Return a tensor of integers from 0 to `below` - 1, not empty, as int64."""
    values = array_of(voice, name)
    whole = np.issubdtype(values.dtype, np.integer) and values.ndim == dimensions
    if not whole or not values.size or values.min() < 0 or values.max() >= below:
        raise unfit(voice, f"'{name}' of shape {list(values.shape)}, not numbers below {below}")
    return torch.from_numpy(values.astype(np.int64))


def real_numbers(voice: Voice, name: str, shape: tuple[int, ...]) -> Tensor:
    """Return a tensor of finite numbers with this shape as fp32."""
    values = array_of(voice, name)
    if values.shape != shape or not np.isfinite(values).all():
        found = f"'{name}' of shape {list(values.shape)}"
        raise unfit(voice, f"{found}, not finite numbers of shape {list(shape)}")
    return torch.from_numpy(values.astype(np.float32))


def prompt_codes(voice: Voice, codebooks: int, codes: int, longest: int) -> Tensor:
    """Return the voice's codes [K, P] of 2 to `longest` frames. Codebooks after the first K are
    left out.
    """
    found = whole_numbers(voice, "codes", codes, dimensions=2)
    rows, frames = found.shape
    if rows < codebooks or not 2 <= frames <= longest:
        raise unfit(voice, f"codes [{rows}, {frames}], not [{codebooks}, 2 to {longest}]")
    return found[:codebooks]


def unfit(voice: Voice, what: str) -> InvalidInput:
    """Return the error for a voice that a model cannot use."""
    return InvalidInput(
        "The voice '{name}' does not fit: it holds {what}.",
        hint="Make the voice again from its recording.",
        name=voice.name,
        what=what,
    )
