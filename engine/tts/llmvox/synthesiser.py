"""LLMVoX behind the seam every synthesiser stands behind.

The paper has one voice and cannot clone; here a speaker's vector is added at every step (ours).
Invariant: weights are loaded once and never change; what a session changes is its own.
"""

from typing import Final

from engine.codec.small_parts import SAMPLE_RATE
from engine.tts.base import Pcm, TtsInfo, Voice
from engine.tts.llmvox.config import NAME
from engine.tts.llmvox.session import LlmVoxSession, Machine
from engine.tts.prepared import check_made_for, rehearse
from engine.tts.speaker.recording import MAKING, SpeakerEncoder, checked_speaker, vector_voice

REHEARSED: Final = "ready."


class LlmVoxSynthesiser:
    """A TtsModel. Used from one thread; its sessions may be stepped in any order."""

    def __init__(
        self,
        machine: Machine,
        speaker: SpeakerEncoder,
        own_voices: tuple[Voice, ...],
        name: str = NAME,
    ) -> None:
        self._machine = machine
        self._speaker = speaker
        self._voices = own_voices
        self.info = TtsInfo(name, SAMPLE_RATE, None, can_clone=True, making=MAKING)

    def voices(self) -> tuple[Voice, ...]:
        return self._voices

    def encode_voice(self, pcm: Pcm, sample_rate: int) -> Voice:
        """A voice from mono samples of 1 s or more (UnreadableClip says why not)."""
        return vector_voice(pcm, sample_rate, self._speaker, self.info.voice_model)

    def warm(self, voice: Voice) -> None:
        rehearse(self.open(voice, seed=0), (REHEARSED,))

    def open(self, voice: Voice, *, seed: int) -> LlmVoxSession:
        check_made_for(voice, self.info)
        speaker = checked_speaker(voice, self._machine.model.shape.speaker_width)
        return LlmVoxSession(self._machine, speaker, seed)

    def close(self) -> None:
        """Nothing to release."""
