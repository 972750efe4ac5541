"""SpeakStream as a TtsModel, and its pack, made on this machine.

    config.json   shape, generation, levels            phones.json   ids of phones
    voice.safetensors   vocoder.safetensors   voices/   CARD.md

The paper has one voice. Here a speaker's vector is added to every begin mark (ours).
Invariant: a pack is loaded entirely or refused with a ModelError that names the file.
"""

from pathlib import Path

import torch
from torch import Tensor

from engine.codec.mel import BANDS
from engine.codec.small_parts import SAMPLE_RATE
from engine.codec.vocoder import load_vocoder
from engine.nn.transformer import RotaryTable
from engine.text.phonemes import Espeak
from engine.tts.base import TtsInfo, Voice
from engine.tts.pack_files import (
    PHONES_FILE,
    VOCODER_FILE,
    VOICE_FILE,
    named_voices,
    with_weights,
)
from engine.tts.packs import CONFIG_FILE, VOICES_FOLDER
from engine.tts.papers.synthesiser import SystemSynthesiser, speaker_vector
from engine.tts.phones import VOCABULARY, read_table
from engine.tts.speakstream.config import NAME, read_pack_config
from engine.tts.speakstream.model import SpeakStreamModel
from engine.tts.speakstream.session import SpeakStreamParts, SpeakStreamSession


class SpeakStreamSynthesiser(SystemSynthesiser[SpeakStreamParts, Tensor]):
    """SpeakStream as a TtsModel."""

    rehearsed = ("One", "two", "three", "four.")

    def __init__(
        self, parts: SpeakStreamParts, own_voices: tuple[Voice, ...], name: str = NAME
    ) -> None:
        info = TtsInfo(name, SAMPLE_RATE, parts.rates)
        prepare = speaker_vector(parts.model.shape.speaker_width)
        super().__init__(info, parts, SpeakStreamSession, own_voices, prepare)


def load(folder: Path, device: str = "cpu") -> SpeakStreamSynthesiser:
    """Load the pack's model and named voices, always on the CPU: one position's products are too
    small for another device. ModelError names the file that is missing or wrong.
    """
    torch.set_num_threads(1)
    config = read_pack_config(folder / CONFIG_FILE)
    shape = config.shape
    parts = SpeakStreamParts(
        config.generation,
        with_weights(SpeakStreamModel(shape), folder / VOICE_FILE),
        config.levels,
        load_vocoder(folder / VOCODER_FILE, BANDS),
        read_table(folder / PHONES_FILE, VOCABULARY),
        Espeak(),
        RotaryTable(shape.stack.head_width, torch.device("cpu")),
    )
    named = named_voices(folder / VOICES_FOLDER, config.name)
    return SpeakStreamSynthesiser(parts, named, config.name)
