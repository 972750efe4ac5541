"""The synthesiser of a system: its parts, its sessions and its voices.

Invariant: weights are loaded once and never change; what a session changes is its own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import torch
from torch import Tensor

from engine.errors import ModelError
from engine.tts.base import Pcm, TtsInfo, TtsSession, Voice
from engine.tts.pack_files import named_voices
from engine.tts.packs import VOICES_FOLDER, speaker_file
from engine.tts.speaker import recording as recordings
from engine.tts.speaker.recording import SpeakerEncoder
from engine.tts.speaker.small import load_small_speaker
from engine.tts.synthesiser import Synthesiser
from engine.tts.system.voice_tensors import real_numbers

_Parts = TypeVar("_Parts")
_Prepared = TypeVar("_Prepared")
_Made = TypeVar("_Made", covariant=True)


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


class Voices(Protocol[_Made]):
    """The voices of a system, and their preparation."""

    @property
    def own(self) -> tuple[Voice, ...]:
        """Voices that come with the system, at least one; the first is its default."""
        ...

    def prepared(self, voice: Voice) -> _Made:
        """Prepare a voice for sessions. InvalidInput for a voice that does not fit."""
        ...

    def cloned(self, pcm: Pcm, sample_rate: int, made_for: str) -> Voice:
        """The voice of mono samples of 1 s or more, for the model `made_for`. UnreadableClip says
        why none can be made, ModelError that the system makes none.
        """
        ...


@dataclass(frozen=True)
class VectorVoices:
    """Voices that are only a speaker's vector of `width` numbers (neither SpeakStream nor LLMVoX
    has several voices: theirs are ours), so any recording can become one, without its text.
    """

    own: tuple[Voice, ...]
    encoder: SpeakerEncoder
    width: int

    def prepared(self, voice: Voice) -> Tensor:
        """The vector [width]."""
        return real_numbers(voice, "speaker", (self.width,))

    def cloned(self, pcm: Pcm, sample_rate: int, made_for: str) -> Voice:
        """See Voices."""
        recording = recordings.read(pcm, sample_rate)
        tensors = {"speaker": recording.speaker(self.encoder)}
        return Voice(recording.name, made_for, tensors, recording.about)


def vector_voices(folder: Path, made_for: str, width: int) -> VectorVoices:
    """Those of a pack. ModelError names the file that is missing or damaged."""
    encoder = load_small_speaker(speaker_file(folder))
    return VectorVoices(named_voices(folder / VOICES_FOLDER, made_for), encoder, width)


class SystemSynthesiser(Synthesiser[_Prepared], Generic[_Parts, _Prepared]):
    """A TtsModel."""

    def __init__(
        self,
        info: TtsInfo,
        parts: _Parts,
        session: Callable[[_Parts, _Prepared, int], TtsSession],
        voices: Voices[_Prepared],
    ) -> None:
        """`session` makes one of the parts, a prepared voice and a seed."""
        super().__init__(info, voices.own, voices.prepared)
        self.parts = parts
        self._session = session
        self._cloned = voices.cloned

    def encode_voice(self, pcm: Pcm, sample_rate: int) -> Voice:
        """A voice from mono samples; see Voices.cloned."""
        return self._cloned(pcm, sample_rate, self.info.voice_model)

    @torch.inference_mode()
    def open(self, voice: Voice, *, seed: int) -> TtsSession:
        return self._session(self.parts, self._of(voice), seed)
