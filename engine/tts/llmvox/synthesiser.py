"""LLMVoX as a TtsModel, and its pack, made on this machine.

    config.json   shape, generation            phones.json   ids of phones
    voice, spectrum, vocoder .safetensors      voices/   CARD.md

The paper has one voice; here a speaker's vector is added at every step (ours). There is one
replica, with a causal decoder: a network makes the spectrum of each token, as SMLLE's does, and a
vocoder makes the samples. Invariant: a pack is loaded entirely or refused with a ModelError that
names the file.
"""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import torch
from torch import Tensor

from engine.codec.mel import BANDS
from engine.codec.small_parts import SAMPLE_RATE
from engine.codec.vocoder import Waves, load_vocoder
from engine.nn.cache import KvCache
from engine.nn.transformer import RotaryTable
from engine.text.phonemes import Espeak
from engine.tts.base import TtsInfo, Voice
from engine.tts.llmvox.config import NAME, LlmVoxGeneration, read_pack_config
from engine.tts.llmvox.model import LlmVoxModel, Prediction
from engine.tts.llmvox.session import ReplicaSession, SessionParts
from engine.tts.llmvox.text_cursor import TextCursor
from engine.tts.llmvox.units import PhoneUnits
from engine.tts.pack_files import (
    PHONES_FILE,
    SPECTRUM_FILE,
    VOCODER_FILE,
    VOICE_FILE,
    named_voices,
    with_weights,
)
from engine.tts.packs import CONFIG_FILE, VOICES_FOLDER
from engine.tts.papers.spectrum import STEP_SAMPLES, Columns, Spectrum, from_nothing
from engine.tts.papers.synthesiser import SystemSynthesiser, speaker_vector
from engine.tts.phones import VOCABULARY, PhoneTable, read_table

_CPU: Final = torch.device("cpu")


@dataclass(frozen=True)
class LlmVoxParts:
    """Parts that all sessions of a model share and none may change."""

    generation: LlmVoxGeneration
    model: LlmVoxModel
    spectrum: Spectrum
    vocoder: Waves
    table: PhoneTable
    espeak: Espeak
    rotary: RotaryTable
    spectrum_rotary: RotaryTable


class OwnReplica:
    """Our network with one voice and the state of one sentence."""

    def __init__(self, parts: LlmVoxParts, speaker: Tensor, dice: torch.Generator) -> None:
        """`speaker`: the voice's vector [S]."""
        self._parts = parts
        self._speaker = speaker[None]
        self._dice = dice
        self._cache = KvCache(parts.model.shape.stack, 1, _CPU, torch.float32)
        self._cursor = TextCursor(parts.model.shape.spectrum)

    @property
    def length(self) -> int:
        return self._cache.length

    def predict(self, unit: int, before: int) -> Prediction:
        model, cursor = self._parts.model, self._cursor
        keep = model.token.keep_masks((1, 1), self._parts.generation.dropout, self._dice)
        x = model.enter(torch.tensor([[unit]]), torch.tensor([[before]]), self._speaker, keep)
        predicted = model.predict(model.step(x, self._parts.rotary, self._cache))
        cursor.read(unit)
        return predicted._replace(tokens=cursor.restrict(predicted.tokens))

    def say(self, token: int, predicted: Prediction) -> int:
        return self._cursor.say(token)

    def restart(self) -> None:
        self._cache.restart()
        self._cursor = TextCursor(self._parts.model.shape.spectrum)


class LlmVoxSession(ReplicaSession):
    """The TtsSession of LLMVoX, without control of the rate."""

    def __init__(self, parts: LlmVoxParts, speaker: Tensor, seed: int) -> None:
        """`speaker`: the voice's vector [S]."""
        model, dice = parts.model, torch.Generator().manual_seed(seed)
        self._spectrum, self._wave = parts.spectrum, parts.vocoder.open()
        self._open_columns = partial(
            Columns,
            parts.spectrum,
            parts.spectrum_rotary,
            from_nothing(parts.spectrum, speaker[None]),
            torch.Generator().manual_seed(seed),
            dropout=parts.generation.spectrum_dropout,
        )
        self._columns = self._open_columns()
        self._waiting: list[int] = []  # tokens whose next phones are not known yet
        super().__init__(
            SessionParts(
                parts.generation,
                PhoneUnits(parts.espeak, parts.table),
                (OwnReplica(parts, speaker, dice),),
                self._decode,
                model.no_token,
                STEP_SAMPLES,
                dice,
            )
        )

    def _decode(self, tokens: list[int]) -> Tensor:
        """Return samples for a sentence's next tokens. The last ones wait until their next phones
        are known.
        """
        self._waiting += tokens
        return self._speak(len(self._waiting) - self._spectrum.shape.ahead)

    def _speak(self, count: int) -> Tensor:
        """Return the samples of the first `count` waiting tokens."""
        if count <= 0:
            return torch.zeros(0)
        shape = self._spectrum.shape
        phones = [*map(shape.phone_of, self._waiting), *[shape.end] * shape.ahead]
        columns = [
            self._columns.next(token, phones[place : place + 1 + shape.ahead])
            for place, token in enumerate(self._waiting[:count])
        ]
        del self._waiting[:count]
        return self._wave.decode(torch.cat(columns))

    def _rest(self) -> Tensor:
        pcm = self._speak(len(self._waiting))
        self._columns = self._open_columns()
        return pcm


class LlmVoxSynthesiser(SystemSynthesiser[LlmVoxParts, Tensor]):
    """LLMVoX as a TtsModel."""

    def __init__(self, parts: LlmVoxParts, own_voices: tuple[Voice, ...], name: str = NAME) -> None:
        info = TtsInfo(name, SAMPLE_RATE, None)
        prepare = speaker_vector(parts.spectrum.shape.speaker_width)
        super().__init__(info, parts, LlmVoxSession, own_voices, prepare)


def load(folder: Path, device: str = "cpu") -> LlmVoxSynthesiser:
    """Load the pack's model and named voices, always on the CPU: one position's products are too
    small for another device. ModelError names the file that is missing or wrong.
    """
    torch.set_num_threads(1)
    config = read_pack_config(folder / CONFIG_FILE)
    shape = config.shape
    parts = LlmVoxParts(
        config.generation,
        with_weights(LlmVoxModel(shape), folder / VOICE_FILE),
        with_weights(Spectrum(shape.spectrum), folder / SPECTRUM_FILE),
        load_vocoder(folder / VOCODER_FILE, BANDS),
        read_table(folder / PHONES_FILE, VOCABULARY),
        Espeak(),
        RotaryTable(shape.stack.head_width, _CPU),
        RotaryTable(shape.spectrum.stack.head_width, _CPU),
    )
    named = named_voices(folder / VOICES_FOLDER, config.name)
    return LlmVoxSynthesiser(parts, named, config.name)
