"""SpeakStream as a TtsModel, its sessions, and its pack, made on this machine.

    config.json   shape, generation, levels            phones.json   ids of phones
    voice.safetensors   vocoder.safetensors   voices/   CARD.md

The paper has one voice. Here a speaker's vector is added to every begin mark (ours).

In a session m words are read and the first n of them spoken, then the next ones, to the end. The
network decides where each unit of a word ends; a segment ends with its last unit. There is no other
alignment: a segment's first sample is the onset of its first word. The paper has no control of the
rate; here the spectrum is stretched before the vocoder (ours). The vocoder takes the pitch from the
columns, so the pitch stays.

Invariant: all state is in the session; closing it frees it, and no other session sees it. A pack is
loaded entirely or refused with a ModelError that names the file.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import torch
from torch import Tensor

from engine.codec.mel import COLUMN_RATE, Levels, Vocoder
from engine.codec.small_parts import SAMPLE_RATE
from engine.nn.sampling import race_noise
from engine.nn.transformer import KvCache
from engine.text.phonemes import Espeak, WordPhonemizer
from engine.tts.base import RateRange, TtsInfo, Voice
from engine.tts.pack_files import VOICE_FILE, named_voices, read_config, with_weights
from engine.tts.packs import CONFIG_FILE
from engine.tts.papers.session import NetworkSession
from engine.tts.papers.synthesiser import SystemSynthesiser, shared_parts, speaker_vector
from engine.tts.phones import PhoneTable
from engine.tts.rate import SyllableMeter, paced
from engine.tts.speakstream.model import (
    BINS,
    END,
    NAME,
    SPEAKER,
    SpeakStreamGeneration,
    SpeakStreamModel,
    SpeakStreamPackConfig,
)
from engine.tts.speakstream.script import SpeakStreamScript, Window, block, window

METER_COLUMNS: Final = 3 * COLUMN_RATE
SLOWEST, FASTEST = 0.5, 1.8  # steps of the spectrum; beyond these, speech falls apart
LEAST, MOST = 0.8, 1.25  # limits of the correction by the measured rate
SLOWEST_RATE, FASTEST_RATE = 0.7, 1.4  # times the own pace: the range that is offered


@dataclass(frozen=True)
class SpeakStreamParts:
    """Parts that all sessions of a model share and none may change."""

    generation: SpeakStreamGeneration
    model: SpeakStreamModel
    levels: Levels
    vocoder: Vocoder
    table: PhoneTable
    espeak: Espeak

    @property
    def rates(self) -> RateRange:
        """Rates that a stretched spectrum can have."""
        pace = self.generation.pace
        return RateRange(SLOWEST_RATE * pace, FASTEST_RATE * pace)


class SpeakStreamSession(NetworkSession):
    """The TtsSession of SpeakStream."""

    def __init__(self, parts: SpeakStreamParts, speaker: Tensor, seed: int) -> None:
        """`speaker`: the voice's vector [S]."""
        super().__init__(SAMPLE_RATE, parts.rates)
        self._parts = parts
        self._speaker = speaker[None]
        self._phonemizer = WordPhonemizer(parts.espeak)
        self._script = SpeakStreamScript(parts.table)
        self._segment: Window | None = None  # the one being spoken; None = between two
        self._next = 0  # the word that the next segment begins with
        self._cache = KvCache(parts.model.shape.stack)
        self._hidden = torch.zeros(0)  # [1, D], what the next position is predicted from
        self._last_levels: Tensor | None = None  # levels that sounded and are not yet in the cache
        self._passage = 0  # positions so far
        self._units: list[int] = []  # ids of the words read
        self._unit = self._units_end = 0  # being spoken; end of the segment's
        self._unit_length = 0  # positions so far
        self._going_on = 1.0  # probability that the unit lasts longer
        self._tempo = Tempo()
        self._wave = parts.vocoder.open()
        self._columns = 0  # of the spectrum, before the tempo
        self._own_meter = SyllableMeter(COLUMN_RATE, METER_COLUMNS)  # of those
        self._generator = torch.Generator().manual_seed(seed)

    def _hear(self, word: str | None) -> None:
        ready = self._phonemizer.finish() if word is None else self._phonemizer.push(word)
        for each in ready:
            self._script.add(each)
        if word is None:
            self._script.close()

    def _make(self) -> bool:
        if self._segment is not None:
            if not self._ends_here():
                self._sound(self._position())
            return True
        script, generation = self._script, self._parts.generation
        known, ended = len(script.words), script.closed
        part = window(self._next, generation.window, generation.hop, known, ended=ended)
        if part is None:
            return False
        self._begin(part)
        return True

    def _end(self) -> None:
        for word in self._script.trailing:
            self._begin_word(word)
        super()._end()

    def _begin(self, part: Window) -> None:
        """Begin a segment: read its window's words."""
        words, opening = self._script.words, END
        if self._is_passage_over():
            self._cache.restart()
            self._passage, opening = 0, SPEAKER
        spoken, behind = words[part.first : part.spoken_end], words[part.spoken_end : part.read_end]
        self._units = [unit for word in spoken for unit in word.units]
        self._unit, self._units_end = 0, len(self._units)
        self._units += [unit for word in behind for unit in word.units]
        ids = torch.tensor([block(words, part, opening=opening)])
        x = self._parts.model.read(ids, self._speaker)
        x[:, -1:] += self._saying()
        self._advance(x)
        self._segment, self._next = part, part.spoken_end
        for word in range(spoken[0].first, spoken[-1].last + 1):
            self._begin_word(word)

    def _saying(self) -> Tensor:
        """Return the embedding [1, 1, D] of the unit that the next position speaks, and of the one
        after it.
        """
        later = [*self._units[1:], END][self._unit]
        ids = torch.tensor([[self._units[self._unit]], [later]])
        return self._parts.model.saying(ids[:1], ids[1:])

    def _is_passage_over(self) -> bool:
        """Return True if the cache must restart, because a small network gets worse over a long
        text.
        """
        if not self._cache.length:
            return True
        generation = self._parts.generation
        sentence_ended = self._script.words[self._next - 1].ends_sentence
        return self._passage >= generation.longest_passage or (
            sentence_ended and self._passage >= generation.passage
        )

    def _ends_here(self) -> bool:
        """Feed back the last levels. Return True if the segment ends with them."""
        if self._last_levels is None:
            return False
        model, part = self._parts.model, self._segment
        assert part is not None
        dropout = self._parts.generation.dropout
        keep = model.enter.keep_masks((1, 1), dropout, self._generator)
        x = model.hear(self._last_levels, keep)
        self._last_levels = None
        ends = self._unit == self._units_end
        self._advance(x if ends else x + self._saying())
        if ends:
            words = self._script.words[part.first : part.spoken_end]
            syllables = sum(word.syllables for word in words)
            self._meter.add(self._made, syllables)
            self._own_meter.add(self._columns, syllables)
            self._segment = None
        return ends

    def _advance(self, x: Tensor) -> None:
        """Append positions [1, T, D] to the sequence."""
        self._hidden = self._parts.model.step(x, self._cache)

    def _position(self) -> Tensor:
        """Return the next columns [COLUMNS, BANDS] of the spectrum: the mean over the predicted
        levels. The network itself continues from drawn levels. The end of a unit is not drawn: it
        ends as soon as the probability that it lasts longer is at most `longer`.
        """
        parts = self._parts
        predicted = parts.model.predict(self._hidden[:, None])
        logits = predicted.levels  # [1, 1, C, BANDS, LEVELS]
        self._last_levels = self._draw(logits)
        self._passage += 1
        self._unit_length += 1
        self._going_on *= float(predicted.end.neg().sigmoid())
        generation = parts.generation
        if self._going_on <= generation.longer or self._unit_length == generation.longest_unit:
            self._unit, self._unit_length, self._going_on = self._unit + 1, 0, 1.0
        return parts.levels.expected(logits[0, 0])

    def _draw(self, logits: Tensor) -> Tensor:
        temperature = self._parts.generation.temperature
        if not temperature:
            return logits.argmax(-1)
        chances = (logits / temperature).softmax(-1)
        noise = race_noise(BINS * logits.shape[-1], self._generator)
        return (chances / noise.view_as(chances)).argmax(-1)

    def _sound(self, columns: Tensor) -> None:
        """Append the samples of the columns that are due at the current tempo."""
        due = list(self._tempo.push(columns, self._tempo_step()))
        self._columns += len(columns)
        if due:
            self._append(self._wave.decode(torch.stack(due)).numpy())

    def _tempo_step(self) -> float:
        part, parts = self._segment, self._parts
        assert part is not None
        pace = self._paces[self._script.words[part.first].last]
        if self.rate is None:
            return clamped(pace)
        own_rate = self._own_meter.recent_rate(self._columns)
        return step_for(paced(self.rate, pace), parts.generation.pace, own_rate)


def step_for(wanted: float, pace: float, measured: float | None) -> float:
    """Return the step, the number of columns read for each column played, for speech at `wanted`
    SPS. `pace`: the usual rate of the speech; `measured`: its recent rate (None = not known yet).
    """
    correction = 1.0 if not measured else min(max(pace / measured, LEAST), MOST)
    return clamped(wanted / pace * correction)


def clamped(step: float) -> float:
    """Clamp the step to its range."""
    return min(max(step, SLOWEST), FASTEST)


class Tempo:
    """Resamples the columns of one utterance in time: they are read with another step and
    interpolated linearly. The result depends on the columns and their steps alone.
    """

    def __init__(self) -> None:
        self._before: Tensor | None = None  # the last column that came
        self._place = 1.0  # of the next output, between the column before (0) and the new one (1)

    def push(self, columns: Tensor, step: float) -> Iterator[Tensor]:
        """Add columns [T, V]. Yield the columns [V] that are due; at step 1 these are the same."""
        for column in columns:
            before = column if self._before is None else self._before
            while self._place <= 1.0:
                yield torch.lerp(before, column, self._place)
                self._place += step
            self._place -= 1.0
            self._before = column


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
    """Load the pack's model and named voices, always on the CPU, see shared_parts(). ModelError
    names the file that is missing or wrong.
    """
    config = read_config(folder / CONFIG_FILE, SpeakStreamPackConfig)
    parts = SpeakStreamParts(
        config.generation,
        with_weights(SpeakStreamModel(config.shape), folder / VOICE_FILE),
        config.levels,
        *shared_parts(folder),
    )
    return SpeakStreamSynthesiser(parts, named_voices(folder, config.name), config.name)
