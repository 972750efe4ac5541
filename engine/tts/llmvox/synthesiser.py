"""LLMVoX behind the seam every synthesiser stands behind, and its pack, made on this machine.

    config.json   shape, generation            phones.json   ids of phones
    voice.safetensors   vocoder.safetensors   speaker.safetensors   voices/   CARD.md

The paper has one voice and cannot clone; here a speaker's vector is added at every step (ours).
Invariant: weights are loaded once and never change; a pack is read as a whole or refused with a
ModelError that names the file.
"""

from pathlib import Path

import torch

from engine.codec.small_parts import SAMPLE_RATE
from engine.codec.vocoder import load_vocoder
from engine.nn.transformer import RotaryTable
from engine.text.phonemes import Espeak
from engine.tts.base import TtsInfo, Voice
from engine.tts.llmvox.config import ENTRY, NAME, read_pack_config
from engine.tts.llmvox.model import LlmVoxModel
from engine.tts.llmvox.session import LlmVoxSession, ModelParts
from engine.tts.pack_files import (
    PHONES_FILE,
    VOCODER_FILE,
    VOICE_FILE,
    named_voices,
    with_weights,
)
from engine.tts.packs import CONFIG_FILE, SPEAKER_FILE, VOICES_FOLDER
from engine.tts.phones import VOCABULARY, read_table
from engine.tts.speaker.recording import MAKING, SpeakerEncoder, VectorSynthesiser
from engine.tts.speaker.small import load_small_speaker


class LlmVoxSynthesiser(VectorSynthesiser):
    """A TtsModel."""

    def __init__(
        self,
        parts: ModelParts,
        speaker: SpeakerEncoder,
        own_voices: tuple[Voice, ...],
        name: str = NAME,
    ) -> None:
        info = TtsInfo(name, SAMPLE_RATE, None, can_clone=True, making=MAKING)
        super().__init__(info, own_voices, speaker, parts.model.shape.speaker_width)
        self._parts = parts

    def open(self, voice: Voice, *, seed: int) -> LlmVoxSession:
        return LlmVoxSession(self._parts, self._of(voice), seed)


def load(folder: Path, device: str = "cpu") -> LlmVoxSynthesiser:
    """The pack's model and named voices, always on the CPU: one position's products are too small
    for another device. ModelError names the file that is missing or wrong.
    """
    torch.set_num_threads(1)
    config = read_pack_config(folder / CONFIG_FILE)
    parts = ModelParts(
        config.generation,
        with_weights(LlmVoxModel(config.shape), folder / VOICE_FILE),
        load_vocoder(folder / VOCODER_FILE, ENTRY + config.shape.speaker_width),
        read_table(folder / PHONES_FILE, VOCABULARY),
        Espeak(),
        RotaryTable(config.shape.stack.head_width, torch.device("cpu")),
    )
    speaker = load_small_speaker(folder / SPEAKER_FILE)
    pack_voices = named_voices(folder / VOICES_FOLDER, config.name)
    return LlmVoxSynthesiser(parts, speaker, pack_voices, config.name)
