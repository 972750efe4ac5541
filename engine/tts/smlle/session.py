"""One utterance: words in, frames of 80 ms out. The transducer predicts tokens as
far ahead as the spectrum needs; then the spectrum makes two steps, and the vocoder their samples.

Words are taken up only when a decision needs one, whether they came early or late: this is what
makes the samples independent of how pushing and stepping are interleaved. A long text is spoken in
passages of whole sentences, each from the prompt alone.
Invariant: all state is here; closing the session frees it, and no other session sees it.
"""

import math
from collections import deque
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch

from engine.codec.vocoder import Waves
from engine.nn.transformer import RotaryTable
from engine.text.phonemes import Espeak, PhonedWord, WordPhonemizer
from engine.tts.base import AudioFrame, Finished, Onset, Starved, Step
from engine.tts.phones import PhoneTable
from engine.tts.rate import RateMeter, paced
from engine.tts.smlle.aligned import Aligned
from engine.tts.smlle.config import (
    MARKS,
    STEP_MS,
    STEPS_PER_FRAME,
    Generation,
    Shape,
)
from engine.tts.smlle.transducer import Decisions, Transducer, Unit
from engine.tts.system.session import FadingUtterance
from engine.tts.system.spectrum import STEP_SAMPLES, Columns, Prompt, Spectrum
from engine.tts.system.word_places import WordPlaces

LARGEST_BIAS: Final = 6.0  # on the blank; beyond it the limits on tokens and phones decide
_OTHER_DICE: Final = 1 << 32  # dropout must not depend on how many decisions were drawn


@dataclass(frozen=True)
class ModelParts:
    """What all sessions of a model share and none may change."""

    generation: Generation
    transducer: Transducer
    spectrum: Spectrum
    vocoder: Waves
    table: PhoneTable
    espeak: Espeak
    text_rotation: RotaryTable
    spectrum_rotation: RotaryTable


class Script:
    """What a passage has to say: units, `begin` first and, once closed, `end` last. They depend on
    the words added so far, not on how they were grouped.
    """

    def __init__(self, shape: Shape, table: PhoneTable, first_word: int) -> None:
        """`first_word`: how many words of the utterance came before."""
        self._shape = shape
        self._table = table
        self.units = [Unit(shape.begin)]
        self.places = WordPlaces(first_word)
        self.closed = False

    def add(self, word: PhonedWord) -> None:
        """The next word. A mark is read together with the phone before it, never alone."""
        units = [Unit(number) for number in self.places.add(word, len(self.units), self._table)]
        if word.mark and units:
            units[-1] = Unit(units[-1].phone, MARKS[word.mark])
        self.units += units

    def close(self) -> None:
        """The passage's text is over."""
        self.closed = True
        self.units.append(Unit(self._shape.end))

    def is_end(self, place: int) -> bool:
        """Whether no unit can follow this one."""
        return self.closed and place == len(self.units) - 1


class _Passage:
    """What starts again with every passage."""

    def __init__(
        self,
        parts: ModelParts,
        prompt: Prompt,
        first_word: int,
        decided: torch.Generator,
        dice: torch.Generator,
    ) -> None:
        generation, shape = parts.generation, parts.transducer.shape
        self.phonemizer = WordPhonemizer(parts.espeak)
        self.script = Script(shape, parts.table, first_word)
        self.decisions = Decisions(parts.transducer, parts.text_rotation, generation, decided)
        self.aligned = Aligned(shape.end)
        self.columns = Columns(
            parts.spectrum,
            parts.spectrum_rotation,
            prompt,
            dice,
            dropout=generation.dropout,
        )
        self.place = -1  # of the unit read last
        self.waits = True  # a blank was drawn, so the next decision needs the next unit
        self.spoken_by: list[int] = []  # the unit at which each token was predicted
        self.begun: deque[tuple[int, int]] = deque()  # word and step, not yet in a frame
        self.steps = 0  # of the spectrum, made

    def note(self, token: int) -> None:
        """Take down a token that the transducer predicted."""
        step = len(self.aligned.tokens)
        self.aligned.add(token, self.script.units[self.place].phone)
        self.spoken_by.append(self.place)
        self.begun.extend((word, step) for word, _ in self.script.places.begun(self.place))


class SmlleSession(FadingUtterance):
    """A TtsSession."""

    def __init__(self, parts: ModelParts, prompt: Prompt, seed: int) -> None:
        super().__init__(STEP_SAMPLES * 1000 // STEP_MS, parts.generation.rates)
        self._parts = parts
        self._prompt = prompt
        self._decided = torch.Generator().manual_seed(seed)
        self._drawn = torch.Generator().manual_seed(seed + _OTHER_DICE)
        self._lately = RateMeter(parts.generation.rate_window_frames, STEPS_PER_FRAME * STEP_MS)
        self._measured: float | None = None  # SPS; None = no syllable ended yet
        self._wave = parts.vocoder.open()
        self._passage: _Passage | None = None  # None = one has ended and the next has not begun
        self._next_word = 0  # number of the first word of the next passage

    @torch.inference_mode()
    def step(self) -> Step:
        while not self._finished:
            if self._passage is None:
                if not self._words and not self._ended:
                    return Starved()
                self._finished = not self._words
                if self._finished:
                    return self._fading() or Finished()
                self._passage = _Passage(
                    self._parts, self._prompt, self._next_word, self._decided, self._drawn
                )
            if not self._decide(self._passage):
                return Starved()
            frame = self._frame(self._passage)
            if frame is not None:
                return frame
        return Finished()

    def _decide(self, passage: _Passage) -> bool:
        """Decide until the next frame's steps are known, and the phones ahead of them; False when
        more text is needed first.
        """
        aligned, ahead = passage.aligned, self._parts.spectrum.shape.ahead
        while not aligned.closed and not aligned.has(passage.steps + STEPS_PER_FRAME - 1 + ahead):
            if passage.waits and not self._read(passage):
                return False
            token = passage.decisions.decide(self._bias(passage))
            if token is not None:
                passage.note(token)
            elif passage.script.is_end(passage.place):
                aligned.closed = True
            passage.waits = token is None
        return True

    def _read(self, passage: _Passage) -> bool:
        """Go on to the next unit; False when more text is needed first."""
        script = passage.script
        full = passage.steps >= self._parts.generation.passage_steps
        while passage.place + 1 == len(script.units):
            if not self._read_word(passage.phonemizer, script, passage_full=full):
                return False
        passage.place += 1
        passage.decisions.read(script.units[passage.place])
        return True

    def _bias(self, passage: _Passage) -> float:
        """What to add to the blank's logit: above 0, the next phone comes sooner (ours)."""
        generation = self._parts.generation
        pace = self._paces[passage.script.places.word_at(passage.place)]
        if self._target is None:
            return math.log(pace)
        rate = paced(self._target, pace)
        bias = math.log(rate / generation.own_rate)
        if self._measured:
            bias += generation.pull * math.log(rate / self._measured)
        return min(max(bias, -LARGEST_BIAS), LARGEST_BIAS)

    def _frame(self, passage: _Passage) -> AudioFrame | None:
        """Speak the next steps; None at the end of a passage that has no more words to place."""
        first = passage.steps
        last = first + STEPS_PER_FRAME
        steps = [step for step in range(first, last) if passage.aligned.has(step)]
        if not steps:
            return self._end(passage)
        aligned, ahead = passage.aligned, self._parts.spectrum.shape.ahead
        columns = [
            passage.columns.next(
                aligned.tokens[step], [aligned.phone(step + later) for later in range(ahead + 1)]
            )
            for step in steps
        ]
        pcm = self._wave.decode(torch.cat(columns)).numpy()
        onsets = []
        while passage.begun and passage.begun[0][1] < last:
            word, step = passage.begun.popleft()
            onsets.append(Onset(word, self._sample + (step - first) * STEP_SAMPLES))
        passage.steps += len(steps)
        syllables = passage.script.places.syllables_ended(passage.spoken_by[first])
        self._measured = self._lately.observe(syllables)
        self._syllables_end(syllables)
        return self._packet(pcm, tuple(onsets))

    def _end(self, passage: _Passage) -> AudioFrame | None:
        """Leave a passage; words that got no token begin in a silent frame."""
        places = passage.script.places
        onsets = tuple(Onset(word, self._sample) for word, _ in places.begun(math.inf))
        self._passage, self._next_word = None, places.begun_words
        if not onsets:
            return None
        return self._packet(np.zeros(STEPS_PER_FRAME * STEP_SAMPLES, np.float32), onsets)

    def close(self) -> None:
        super().close()
        self._passage = None
