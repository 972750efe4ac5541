"""SpeakStream behind the seam every synthesiser stands behind.

The paper has one voice. Here a speaker's vector is added to every begin mark (ours), so any
recording can become a voice, without its text.
Invariant: weights are loaded once and never change; what a session changes is its own.
"""

from torch import Tensor

from engine.codec.small_parts import SAMPLE_RATE
from engine.tts.base import Pcm, TtsInfo, Voice
from engine.tts.speaker.recording import MAKING, SpeakerEncoder, checked_speaker, vector_voice
from engine.tts.speakstream.config import NAME
from engine.tts.speakstream.session import Machine, SpeakStreamSession
from engine.tts.synthesiser import Synthesiser


class SpeakStreamSynthesiser(Synthesiser[Tensor]):
    """A TtsModel."""

    rehearsed = ("One", "two", "three", "four.")

    def __init__(
        self,
        machine: Machine,
        speaker: SpeakerEncoder,
        own_voices: tuple[Voice, ...],
        name: str = NAME,
    ) -> None:
        info = TtsInfo(name, SAMPLE_RATE, machine.rates, can_clone=True, making=MAKING)
        width = machine.model.shape.speaker_width
        super().__init__(info, own_voices, lambda voice: checked_speaker(voice, width))
        self._machine = machine
        self._speaker = speaker

    def encode_voice(self, pcm: Pcm, sample_rate: int) -> Voice:
        """A voice from mono samples of 1 s or more (UnreadableClip says why not)."""
        return vector_voice(pcm, sample_rate, self._speaker, self.info.voice_model)

    def open(self, voice: Voice, *, seed: int) -> SpeakStreamSession:
        return SpeakStreamSession(self._machine, self._of(voice), seed)
