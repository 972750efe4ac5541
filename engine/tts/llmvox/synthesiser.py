"""LLMVoX behind the seam every synthesiser stands behind, and its pack, made on this machine.

    config.json   shape, generation            phones.json   ids of phones
    voice.safetensors   vocoder.safetensors   speaker.safetensors   voices/   CARD.md

The paper has one voice and cannot clone; here a speaker's vector is added at every step (ours).
Invariant: a pack is read as a whole or refused with a ModelError that names the file.
"""

from pathlib import Path

import torch
from torch import Tensor

from engine.codec.small_parts import SAMPLE_RATE
from engine.codec.vocoder import load_vocoder
from engine.nn.transformer import RotaryTable
from engine.text.phonemes import Espeak
from engine.tts.base import TtsInfo
from engine.tts.llmvox.config import ENTRY, NAME, read_pack_config
from engine.tts.llmvox.model import LlmVoxModel
from engine.tts.llmvox.session import LlmVoxSession, ModelParts
from engine.tts.pack_files import PHONES_FILE, VOCODER_FILE, VOICE_FILE, with_weights
from engine.tts.packs import CONFIG_FILE
from engine.tts.phones import VOCABULARY, read_table
from engine.tts.speaker.recording import MAKING
from engine.tts.system.synthesiser import SystemSynthesiser, VectorVoices, vector_voices


class LlmVoxSynthesiser(SystemSynthesiser[ModelParts, Tensor]):
    """A TtsModel."""

    def __init__(self, parts: ModelParts, voices: VectorVoices, name: str = NAME) -> None:
        info = TtsInfo(name, SAMPLE_RATE, None, can_clone=True, making=MAKING)
        super().__init__(info, parts, LlmVoxSession, voices)


def load(folder: Path, device: str = "cpu") -> LlmVoxSynthesiser:
    """The pack's model and named voices, always on the CPU: one position's products are too small
    for another device. ModelError names the file that is missing or wrong.
    """
    torch.set_num_threads(1)
    config = read_pack_config(folder / CONFIG_FILE)
    shape = config.shape
    parts = ModelParts(
        config.generation,
        with_weights(LlmVoxModel(shape), folder / VOICE_FILE),
        load_vocoder(folder / VOCODER_FILE, ENTRY + shape.speaker_width),
        read_table(folder / PHONES_FILE, VOCABULARY),
        Espeak(),
        RotaryTable(shape.stack.head_width, torch.device("cpu")),
    )
    voices = vector_voices(folder, config.name, shape.speaker_width)
    return LlmVoxSynthesiser(parts, voices, config.name)
