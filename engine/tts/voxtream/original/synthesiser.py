"""VoXtream behind the seam every synthesiser stands behind.

Invariant: weights are loaded once and never change; what a session changes is its own.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from engine.codec.mimi import SAMPLE_RATE
from engine.errors import InvalidInput, ModelError
from engine.translatable import Translatable
from engine.tts.base import Pcm, TtsInfo, Voice
from engine.tts.synthesiser import Synthesiser
from engine.tts.voxtream.config import ModelConfig
from engine.tts.voxtream.original.config import NAME
from engine.tts.voxtream.original.prompt import PreparedPrompt, Prompt, prepare
from engine.tts.voxtream.original.session import Machine, VoxtreamSession
from engine.tts.voxtream.prompt import rotary_tables

AGAIN: Final = Translatable("Make the voice pack again.")


class VoxtreamSynthesiser(Synthesiser[PreparedPrompt]):
    """A TtsModel."""

    def __init__(self, machine: Machine, own_voices: tuple[Voice, ...], name: str = NAME) -> None:
        device = machine.model.device.type
        info = TtsInfo(name, SAMPLE_RATE, rate_range=None, can_clone=False, device=device)
        super().__init__(info, own_voices, self._prompt)
        self._machine = machine
        self._tables = rotary_tables(machine.model)

    def encode_voice(self, pcm: Pcm, sample_rate: int) -> Voice:
        """Always a ModelError: a prompt needs its text, aligned, which a recording lacks."""
        raise ModelError(
            "VoXtream learns no voice from a recording: it would have to know what is said in it.",
            hint="Choose one of its own voices, or another synthesiser.",
        )

    @torch.inference_mode()
    def open(self, voice: Voice, *, seed: int) -> VoxtreamSession:
        return VoxtreamSession(self._machine, self._of(voice), seed)

    def _prompt(self, voice: Voice) -> PreparedPrompt:
        model, special = self._machine.model, self._machine.special
        return prepare(model, self._tables, checked_prompt(voice, model.config), special.bos)


def checked_prompt(voice: Voice, shape: ModelConfig) -> Prompt:
    """The prompt in the voice's tensors: codes [K, P], phones [Q], spans [P, 2] that advance by at
    most one phone a frame and end on the last, and the speaker's vector [W]. InvalidInput when they
    do not fit the model.
    """
    codes, phones, spans = (_integers(voice, name) for name in ("codes", "phones", "spans"))
    speaker = _array(voice.tensors, "speaker")
    longest = shape.audio_window - 2  # a column more than frames, and one to speak in
    right = {
        "codes": codes.ndim == 2
        and codes.shape[0] >= shape.codebooks
        and 2 <= codes.shape[1] <= longest
        and _within(codes, shape.codes),
        "phones": phones.ndim == 1
        and 0 < len(phones) < shape.phone_window
        and _within(phones, shape.phone_vocabulary),
        "spans": spans.shape == (codes.shape[-1], 2) and _walks(spans, len(phones)),
        "speaker": speaker.shape == (shape.speaker_width,) and bool(np.isfinite(speaker).all()),
    }
    for name, good in right.items():
        if not good:
            raise InvalidInput(
                "The voice '{name}' holds '{part}' that are no prompt of this model.",
                hint=AGAIN,
                name=voice.name,
                part=name,
            )
    return Prompt(
        _tensor(codes[: shape.codebooks]),
        _tensor(phones),
        _tensor(spans),
        torch.from_numpy(speaker.astype(np.float32)),
    )


def _tensor(array: npt.NDArray[Any]) -> Tensor:
    return torch.from_numpy(array.astype(np.int64))


def _within(array: npt.NDArray[Any], size: int) -> bool:
    """Whether all values are 0..size - 1."""
    return bool(array.min() >= 0 and array.max() < size)


def _walks(spans: npt.NDArray[Any], phones: int) -> bool:
    """Whether frames with these phones follow each other as duration tokens let them."""
    first, last = spans[:, 0], spans[:, 1]
    steps = first[1:] - last[:-1]
    wide = last - first
    return bool(
        first[0] == 0
        and last[-1] == phones - 1
        and np.isin(steps, (0, 1)).all()
        and np.isin(wide, (0, 1)).all()
    )


def _integers(voice: Voice, name: str) -> npt.NDArray[Any]:
    array = _array(voice.tensors, name)
    if not np.issubdtype(array.dtype, np.integer) or not array.size:
        raise InvalidInput(
            "The voice '{name}' holds no {part}.", hint=AGAIN, name=voice.name, part=name
        )
    return array


def _array(tensors: Mapping[str, npt.NDArray[np.generic]], name: str) -> npt.NDArray[Any]:
    if name not in tensors:
        raise InvalidInput("The voice lacks '{name}'.", hint=AGAIN, name=name)
    return tensors[name]
