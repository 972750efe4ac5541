"""A voice of VoXtream: the codes of a recording as its prompt, and who speaks.

Invariant: what is enhanced gives the codes, while who speaks is told from what was recorded, as
released.
"""

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from engine.codec.mimi import SAMPLE_RATE, Mimi
from engine.errors import InvalidInput
from engine.tts.base import Pcm, Voice
from engine.tts.speaker import recording as recordings
from engine.tts.speaker.recording import SpeakerEncoder, resampled, tensor_of
from engine.tts.voxtream.config import ModelConfig


def encode(pcm: Pcm, sample_rate: int, mimi: Mimi, speaker: SpeakerEncoder, model: str) -> Voice:
    """A voice from mono samples. UnreadableClip with the reason when it cannot become one."""
    recording = recordings.read(pcm, sample_rate)
    clean = resampled(recording.clean, sample_rate, SAMPLE_RATE)
    codes = mimi.encode(torch.from_numpy(clean)[None, None])
    tensors: dict[str, npt.NDArray[np.generic]] = {
        "codes": codes[0].cpu().numpy().astype(np.int16),
        "speaker": recording.speaker(speaker),
    }
    return Voice(recording.name, model, tensors, recording.about)


def checked_codes(voice: Voice, shape: ModelConfig) -> Tensor:
    """The voice's codes [K, T], after checking that they are a prompt for a model of that shape."""
    codes = tensor_of(voice.tensors, "codes")
    longest = shape.audio_window - 2  # a column more than frames, and one to speak in
    good = codes.ndim == 2 and codes.shape[0] >= shape.codebooks and 2 <= codes.shape[1] <= longest
    integers = np.issubdtype(codes.dtype, np.integer)
    if not good or not integers or codes.min() < 0 or codes.max() >= shape.codes:
        raise InvalidInput(
            "The voice '{name}' holds codes of shape {shape}, expected {rows} rows of 2 "
            "to {longest} codes from 0 to {last}.",
            hint="Make the voice again from its recording.",
            name=voice.name,
            shape=list(codes.shape),
            rows=shape.codebooks,
            longest=longest,
            last=shape.codes - 1,
        )
    return torch.from_numpy(codes[: shape.codebooks].astype(np.int64))
