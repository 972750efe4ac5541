"""SMLLE as a TtsModel, its sessions, and its pack, made on this machine.

    config.json   shape, generation      phones.json   ids of phones      voices/   CARD.md
    transducer, spectrum, vocoder .safetensors

In a session the transducer predicts tokens as far ahead as the spectrum network needs; then that
network makes two steps, and the vocoder their samples.

A word is read only when a decision needs it, even if it came earlier. So the samples do not depend
on how calls to push_word and step are interleaved. A long text is spoken in passages of complete
sentences, each starting from the prompt alone. Invariant: all state is in the session; closing it
frees it, and no other session sees it. A pack is loaded entirely or refused with a ModelError that
names the file.
"""

import math
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch.nn import functional

from engine.codec.mel import Vocoder
from engine.codec.small_parts import SAMPLE_RATE
from engine.text.phonemes import Espeak, PhonedWord
from engine.tts.base import TtsInfo, Voice
from engine.tts.pack_files import SPECTRUM_FILE, named_voices, read_config, with_weights
from engine.tts.packs import CONFIG_FILE
from engine.tts.papers.session import PassageSession, WordPlaces
from engine.tts.papers.spectrum import (
    STEP_SAMPLES,
    Columns,
    Inputs,
    Spectrum,
    SpectrumPrompt,
    before,
    from_nothing,
    prepared,
)
from engine.tts.papers.synthesiser import (
    SystemSynthesiser,
    real_numbers,
    shared_parts,
    unfit,
    whole_numbers,
)
from engine.tts.phones import PhoneTable
from engine.tts.rate import paced
from engine.tts.smlle.transducer import (
    MARKS,
    NAME,
    STEP_MS,
    STEPS_PER_FRAME,
    Decisions,
    SmlleGeneration,
    SmllePackConfig,
    SmlleShape,
    Transducer,
    Unit,
)

TRANSDUCER_FILE: Final = "transducer.safetensors"
LONGEST_STEPS: Final = 500  # of a prompt, 20 s
LARGEST_BIAS: Final = 6.0  # on the blank; beyond it the limits on tokens and phones decide
_OTHER_DICE: Final = 1 << 32  # dropout must not depend on how many decisions were drawn


@dataclass(frozen=True)
class SmlleParts:
    """Parts that all sessions of a model share and none may change."""

    generation: SmlleGeneration
    transducer: Transducer
    spectrum: Spectrum
    vocoder: Vocoder
    table: PhoneTable
    espeak: Espeak


class SmlleScript:
    """The units of a passage: begin, the phones of its words and, once it is closed, end. They
    depend on the words added so far, not on how these were grouped.
    """

    def __init__(self, shape: SmlleShape, table: PhoneTable, first_word: int) -> None:
        """`first_word`: number of the utterance's words before the passage."""
        self._shape = shape
        self._table = table
        self.units = [Unit(shape.begin)]
        self.places = WordPlaces(first_word)
        self.closed = False

    def add(self, word: PhonedWord) -> None:
        """Append a word. A mark is read together with the phone before it, never alone."""
        units = [Unit(number) for number in self.places.add(word, len(self.units), self._table)]
        if word.mark and units:
            units[-1] = Unit(units[-1].phone, MARKS[word.mark])
        self.units += units

    def close(self) -> None:
        """End the text of the passage."""
        self.closed = True
        self.units.append(Unit(self._shape.end))

    def is_end(self, place: int) -> bool:
        """Return True if this unit is the last one."""
        return self.closed and place == len(self.units) - 1


class SmlleSession(PassageSession):
    """The TtsSession of SMLLE."""

    _script: SmlleScript

    def __init__(self, parts: SmlleParts, prompt: SpectrumPrompt, seed: int) -> None:
        generation = parts.generation
        window = generation.rate_window_frames * STEPS_PER_FRAME * STEP_SAMPLES
        super().__init__(STEP_SAMPLES * 1000 // STEP_MS, parts.espeak, generation.rates, window)
        self._parts = parts
        self._prompt = prompt
        self._decision_noise = torch.Generator().manual_seed(seed)
        self._spectrum_noise = torch.Generator().manual_seed(seed + _OTHER_DICE)
        self._wave = parts.vocoder.open()

    def _begin_passage(self, first_word: int) -> None:
        parts, generation, shape = self._parts, self._parts.generation, self._parts.transducer.shape
        self._script = SmlleScript(shape, parts.table, first_word)
        self._decisions = Decisions(parts.transducer, generation, self._decision_noise)
        self._columns = Columns(
            parts.spectrum, self._prompt, self._spectrum_noise, dropout=generation.dropout
        )
        self._start = self._made  # sample of the passage's first step
        self._steps = 0  # of the spectrum, made
        self._place = -1  # of the unit read last
        self._waits = True  # for the next unit, because a blank was drawn
        self._tokens: list[int] = []
        self._spoken_by: list[int] = []  # the unit at which each token was predicted
        self._all_tokens = False  # none follows

    def _make(self) -> bool:
        if self._passage_over or not self._decide():
            return False
        if self._steps < len(self._tokens):
            self._speak()
        else:
            self._leave_passage()
        return True

    def _decide(self) -> bool:
        """Take decisions of the transducer until the tokens of the next frame are known, and the
        phones that the spectrum network sees ahead. False when more text is needed first.
        """
        needed = self._steps + STEPS_PER_FRAME + self._parts.spectrum.shape.ahead
        while not self._all_tokens and len(self._tokens) < needed:
            if self._waits and not self._read_unit():
                return False
            token = self._decisions.decide(self._bias())
            if token is not None:
                self._note(token)
            elif self._script.is_end(self._place):
                self._all_tokens = True
            self._waits = token is None
        return True

    def _read_unit(self) -> bool:
        """Let the transducer read the next unit. False when more text is needed first."""
        full = self._steps >= self._parts.generation.passage_steps
        while self._place + 1 == len(self._script.units):
            if not self._read(passage_full=full):
                return False
        self._place += 1
        self._decisions.read(self._script.units[self._place])
        return True

    def _bias(self) -> float:
        """Return the bias on the blank's logit for the wanted rate: above 0, the next phone comes
        sooner (ours).
        """
        generation = self._parts.generation
        pace = self._paces[self._script.places.word_at(self._place)]
        if self.rate is None:
            return math.log(pace)
        rate = paced(self.rate, pace)
        bias = math.log(rate / generation.own_rate)
        if measured := self._meter.recent_rate(self._made):
            bias += generation.pull * math.log(rate / measured)
        return min(max(bias, -LARGEST_BIAS), LARGEST_BIAS)

    def _note(self, token: int) -> None:
        """Store a token that the transducer predicted, and the words that begin with it."""
        sample = self._start + STEP_SAMPLES * len(self._tokens)
        self._tokens.append(token)
        self._spoken_by.append(self._place)
        for word, _ in self._script.places.begun(self._place):
            self._begin_word(word, sample)

    def _phone(self, step: int) -> int:
        """Return the phone of a step in the text stretched to the length of the speech: each phone,
        repeated once for every token predicted at it, then the end mark (SMLLE, 2.2.1). The paper
        deletes leading begin marks (Delete <Bos>), so that a step sees a phone some steps ahead of
        its token; here that made the speech worse.
        """
        if step >= len(self._spoken_by):
            return self._parts.transducer.shape.end
        return self._script.units[self._spoken_by[step]].phone

    def _speak(self) -> None:
        """Append the samples of the next steps, at most one frame."""
        ahead, first = self._parts.spectrum.shape.ahead, self._steps
        steps = range(first, min(first + STEPS_PER_FRAME, len(self._tokens)))
        columns = [
            self._columns.next(
                self._tokens[step], [self._phone(step + later) for later in range(ahead + 1)]
            )
            for step in steps
        ]
        syllables = self._script.places.syllables_ended(self._spoken_by[first])
        self._meter.add(self._made, syllables)
        self._append(self._wave.decode(torch.cat(columns)).numpy())
        self._steps += len(steps)

    def _leave_passage(self) -> None:
        """End a passage. Words without a token begin in a silent frame."""
        self._passage_over = True
        if words := self._script.places.begun(math.inf):
            for word, _ in words:
                self._begin_word(word)
            self._append(np.zeros(STEPS_PER_FRAME * STEP_SAMPLES, np.float32))


class SmlleSynthesiser(SystemSynthesiser[SmlleParts, SpectrumPrompt]):
    """SMLLE as a TtsModel."""

    def __init__(self, parts: SmlleParts, own_voices: tuple[Voice, ...], name: str = NAME) -> None:
        info = TtsInfo(name, SAMPLE_RATE, parts.generation.rates)
        super().__init__(info, parts, SmlleSession, own_voices, partial(prompted, parts))


def load(folder: Path, device: str = "cpu") -> SmlleSynthesiser:
    """Load the pack's model and named voices, always on the CPU, see shared_parts(). ModelError
    names the file that is missing or wrong.
    """
    config = read_config(folder / CONFIG_FILE, SmllePackConfig)
    parts = SmlleParts(
        config.generation,
        with_weights(Transducer(config.shape), folder / TRANSDUCER_FILE),
        with_weights(Spectrum(config.shape.spectrum), folder / SPECTRUM_FILE),
        *shared_parts(folder),
    )
    return SmlleSynthesiser(parts, named_voices(folder, config.name), config.name)


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
    return prepared(spectrum, inputs, columns, generation.dropout)
