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

import torch
from torch import Tensor

from engine.codec.mel import Vocoder
from engine.codec.small_parts import SAMPLE_RATE
from engine.nn.transformer import KvCache
from engine.text.phonemes import Espeak
from engine.tts.base import TtsInfo, Voice
from engine.tts.llmvox.model import NAME, LlmVoxGeneration, LlmVoxModel, LlmVoxPackConfig
from engine.tts.llmvox.session import Sentence, SentenceSession
from engine.tts.llmvox.units import PhoneUnits, TextCursor
from engine.tts.pack_files import SPECTRUM_FILE, VOICE_FILE, named_voices, read_config, with_weights
from engine.tts.packs import CONFIG_FILE
from engine.tts.papers.spectrum import STEP_SAMPLES, Columns, Spectrum, from_nothing
from engine.tts.papers.synthesiser import SystemSynthesiser, shared_parts, speaker_vector
from engine.tts.phones import PhoneTable


@dataclass(frozen=True)
class LlmVoxParts:
    """Parts that all sessions of a model share and none may change."""

    generation: LlmVoxGeneration
    model: LlmVoxModel
    spectrum: Spectrum
    vocoder: Vocoder
    table: PhoneTable
    espeak: Espeak


class LlmVoxSentence(Sentence):
    """A sentence of our network in one voice."""

    def __init__(self, parts: LlmVoxParts, speaker: Tensor, dice: torch.Generator) -> None:
        """`speaker`: the voice's vector [1, S]."""
        super().__init__(KvCache(parts.model.shape.stack), parts.model.no_token)
        self._parts, self._speaker, self._dice = parts, speaker, dice
        self._cursor = TextCursor(parts.model.shape.spectrum)

    def predict(self, unit: int, before: int) -> Tensor:
        model, cursor = self._parts.model, self._cursor
        keep = model.token.keep_masks((1, 1), self._parts.generation.dropout, self._dice)
        x = model.enter(torch.tensor([[unit]]), torch.tensor([[before]]), self._speaker, keep)
        logits = model.leave(model.step(x, self._cache))
        cursor.read(unit)
        return cursor.restrict(logits)

    def say(self, token: int) -> int:
        return self._cursor.say(token)


class LlmVoxSession(SentenceSession):
    """The TtsSession of LLMVoX, without control of the rate."""

    token_samples = STEP_SAMPLES

    def __init__(self, parts: LlmVoxParts, speaker: Tensor, seed: int) -> None:
        """`speaker`: the voice's vector [S]."""
        self._parts, self._speaker = parts, speaker[None]
        self._spectrum, self._wave = parts.spectrum, parts.vocoder.open()
        self._open_columns = partial(
            Columns,
            parts.spectrum,
            from_nothing(parts.spectrum, self._speaker),
            torch.Generator().manual_seed(seed),
            dropout=parts.generation.spectrum_dropout,
        )
        self._columns = self._open_columns()
        self._waiting: list[int] = []  # tokens whose next phones are not known yet
        reader = PhoneUnits(parts.espeak, parts.table)
        super().__init__(parts.generation, reader, torch.Generator().manual_seed(seed))

    def _open_sentence(self) -> Sentence:
        return LlmVoxSentence(self._parts, self._speaker, self._dice)

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
    """Load the pack's model and named voices, always on the CPU, see shared_parts(). ModelError
    names the file that is missing or wrong.
    """
    config = read_config(folder / CONFIG_FILE, LlmVoxPackConfig)
    parts = LlmVoxParts(
        config.generation,
        with_weights(LlmVoxModel(config.shape), folder / VOICE_FILE),
        with_weights(Spectrum(config.shape.spectrum), folder / SPECTRUM_FILE),
        *shared_parts(folder),
    )
    return LlmVoxSynthesiser(parts, named_voices(folder, config.name), config.name)
