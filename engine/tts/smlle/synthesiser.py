"""SMLLE as a TtsModel, and its pack, made on this machine.

    config.json   shape, generation      phones.json   ids of phones      voices/   CARD.md
    transducer, spectrum, vocoder .safetensors

Invariant: a pack is loaded entirely or refused with a ModelError that names the file.
"""

from functools import partial
from pathlib import Path
from typing import Final

import torch
from torch.nn import functional

from engine.codec.mel import BANDS
from engine.codec.small_parts import SAMPLE_RATE
from engine.codec.vocoder import load_vocoder
from engine.nn.transformer import RotaryTable
from engine.text.phonemes import Espeak
from engine.tts.base import TtsInfo, Voice
from engine.tts.pack_files import (
    PHONES_FILE,
    SPECTRUM_FILE,
    VOCODER_FILE,
    named_voices,
    with_weights,
)
from engine.tts.packs import CONFIG_FILE, VOICES_FOLDER
from engine.tts.papers.spectrum import (
    Inputs,
    Spectrum,
    SpectrumPrompt,
    before,
    from_nothing,
    prepared,
)
from engine.tts.papers.synthesiser import SystemSynthesiser
from engine.tts.papers.voice_tensors import real_numbers, unfit, whole_numbers
from engine.tts.phones import VOCABULARY, read_table
from engine.tts.smlle.config import NAME, read_pack_config
from engine.tts.smlle.session import SmlleParts, SmlleSession
from engine.tts.smlle.transducer import Transducer

TRANSDUCER_FILE: Final = "transducer.safetensors"
LONGEST_STEPS: Final = 500  # of a prompt, 20 s


class SmlleSynthesiser(SystemSynthesiser[SmlleParts, SpectrumPrompt]):
    """SMLLE as a TtsModel."""

    def __init__(self, parts: SmlleParts, own_voices: tuple[Voice, ...], name: str = NAME) -> None:
        info = TtsInfo(name, SAMPLE_RATE, parts.generation.rates)
        super().__init__(info, parts, SmlleSession, own_voices, partial(prompted, parts))


def load(folder: Path, device: str = "cpu") -> SmlleSynthesiser:
    """Load the pack's model and named voices, always on the CPU: one step's products are too small
    for another device. ModelError names the file that is missing or wrong.
    """
    torch.set_num_threads(1)
    config = read_pack_config(folder / CONFIG_FILE)
    shape, cpu = config.shape, torch.device("cpu")
    parts = SmlleParts(
        config.generation,
        with_weights(Transducer(shape), folder / TRANSDUCER_FILE),
        with_weights(Spectrum(shape.spectrum), folder / SPECTRUM_FILE),
        load_vocoder(folder / VOCODER_FILE, BANDS),
        read_table(folder / PHONES_FILE, VOCABULARY),
        Espeak(),
        RotaryTable(shape.encoder.head_width, cpu),
        RotaryTable(shape.spectrum.stack.head_width, cpu),
    )
    named = named_voices(folder / VOICES_FOLDER, config.name)
    return SmlleSynthesiser(parts, named, config.name)


def prompted(parts: SmlleParts, voice: Voice) -> SpectrumPrompt:
    """Return the spectrum network's state after a voice's prompt. InvalidInput for an
    unfit voice.
    """
    spectrum, generation = parts.spectrum, parts.generation
    shape = spectrum.shape
    speaker = real_numbers(voice, "speaker", (shape.speaker_width,))
    if set(voice.tensors) == {"speaker"}:
        return from_nothing(spectrum, speaker[None])
    tokens = whole_numbers(voice, "tokens", shape.tokens)
    phones = whole_numbers(voice, "phones", shape.phones)
    steps = len(tokens)
    mel = real_numbers(voice, "mel", (steps * shape.columns, shape.bands))
    if len(phones) != steps or not steps <= LONGEST_STEPS:
        raise unfit(voice, f"{steps} tokens and {len(phones)} phones")
    columns = spectrum.normalised(mel).view(1, steps, shape.values)
    known = functional.pad(phones, (0, shape.ahead), value=shape.begin)
    inputs = Inputs(tokens[None], known[None], before(columns), speaker[None])
    return prepared(spectrum, parts.spectrum_rotation, inputs, columns, generation.dropout)
