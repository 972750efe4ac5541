"""LLMVoX behind the seam every synthesiser stands behind.

The paper has one voice and cannot clone; here a speaker's vector is added at every step (ours).
Invariant: weights are loaded once and never change; what a session changes is its own.
"""

from typing import Final

from engine.codec.small_parts import SAMPLE_RATE
from engine.errors import InvalidInput
from engine.tts.base import Pcm, TtsInfo, Voice
from engine.tts.llmvox.config import NAME
from engine.tts.llmvox.session import LlmVoxSession, Machine
from engine.tts.speaker import recording as recordings
from engine.tts.speaker.recording import MAKING, SpeakerEncoder, checked_speaker

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
        recording = recordings.read(pcm, sample_rate)
        tensors = {"speaker": recording.speaker(self._speaker)}
        return Voice(recording.name, self.info.voice_model, tensors, recording.about)

    def warm(self, voice: Voice) -> None:
        """Say a word to nobody, because a library's first call costs more."""
        with self.open(voice, seed=0) as session:
            session.push_word(REHEARSED)
            session.step()

    def open(self, voice: Voice, *, seed: int) -> LlmVoxSession:
        """A session; the likeliest token is always taken, so no seed makes a difference."""
        if voice.model != self.info.voice_model:
            raise InvalidInput(
                f"The voice '{voice.name}' was made for '{voice.model}'.",
                hint="Choose a voice of this synthesiser, or add the recording again.",
            )
        speaker = checked_speaker(voice, self._machine.model.shape.speaker_width)
        return LlmVoxSession(self._machine, speaker)

    def close(self) -> None:
        """Nothing is held that outlives the model."""
