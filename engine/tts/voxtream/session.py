"""One utterance: words in, frames out, with the rate read at every frame.

Words are taken up only when fewer than three phones are ahead, whether they came early or late:
this is what makes the samples independent of how pushing and stepping are interleaved.
Invariant: all state is here; closing the session frees it, and no other session sees it.
"""

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import torch
from torch import Tensor

from engine.codec.mimi import FRAME_MS, FRAME_SAMPLES, Mimi
from engine.errors import InvalidInput
from engine.nn.sampling import race_noise
from engine.text.phonemes import Espeak, WordPhonemizer
from engine.tts.base import AudioFrame, Finished, Onset, Starved, Step
from engine.tts.pacing import PLAIN, paced
from engine.tts.voxtream.alignment import AlignmentCursor, Span
from engine.tts.voxtream.config import System
from engine.tts.voxtream.frames import Frames, pack_controls
from engine.tts.voxtream.model import VoxtreamModel
from engine.tts.voxtream.prompt import PreparedPrompt
from engine.tts.voxtream.rate import RATE_TABLE, DurationState, RateMeter, RateTarget, rate_target
from engine.tts.voxtream.script import Script
from engine.tts.voxtream.table import PhoneTable

OWN_PACE_MS = 1000  # of plain speech; before, the voice's own pace is not known well enough


@dataclass(frozen=True)
class Machine:
    """What all sessions of a model share and none may change."""

    system: System
    model: VoxtreamModel
    mimi: Mimi
    table: PhoneTable
    espeak: Espeak
    rates: Mapping[float, RateTarget] = field(default_factory=lambda: RATE_TABLE)


class VoxtreamSession:
    """A TtsSession. Not thread-safe; several sessions of one model may be stepped in turn."""

    def __init__(self, machine: Machine, prompt: PreparedPrompt, frames: Frames, seed: int) -> None:
        self.rate: float | None = None
        system, generation = machine.system, machine.system.generation
        self._machine = machine
        self._prompt = prompt
        self._words: deque[str] = deque()
        self._paces: list[float] = []  # of the words pushed
        self._input_ended = False
        self._phonemizer = WordPhonemizer(machine.espeak)
        self._script = Script(prompt, machine.table)
        self._cursor = AlignmentCursor(prompt.length - 1, system.duration_tokens, generation)
        self._durations = DurationState(len(system.duration_tokens), generation.rate_window_frames)
        self._meter = RateMeter(generation.rate_window_frames, FRAME_MS)
        self._plain_meter = RateMeter(generation.rate_window_frames, FRAME_MS)
        self._plain_ms = 0  # of speech at the rate itself
        self._own_rate: float | None = None  # SPS of that speech; None = too little of it yet
        self._generator = torch.Generator().manual_seed(seed)
        self._frames = frames
        self._begun = False  # whether the next frame was begun on while the last one was decoded
        self._span: Span | None = None  # phones of the last frame; None = nothing generated yet
        self._sample = 0
        self._finished = False
        self._closed = False

    # ------------------------------------------------------------------ text

    def push_word(self, text: str, pace: float = PLAIN) -> None:
        """See TtsSession. At the model's own pace `pace` moves the rate measured of this
        utterance's plain words, so it needs a second of those first.
        """
        if self._input_ended:
            raise InvalidInput("No word can follow the end of an utterance.")
        if any(letter.isspace() for letter in text):
            raise InvalidInput(f"{text!r} is more than one word.", hint="Push words one by one.")
        self._words.append(text)
        self._paces.append(pace)

    def end_input(self) -> None:
        self._input_ended = True

    # ------------------------------------------------------------------ step

    @torch.inference_mode()
    def step(self) -> Step:
        while not self._finished:
            if not self._read_ahead():
                return Starved()
            if not self._script.has_phones:
                return self._wordless()
            frame = self._frame()
            if frame is not None:
                return frame
        return Finished()

    def _read_ahead(self) -> bool:
        """Take up words until enough phones are ahead; False when more text is needed first."""
        script = self._script
        while not self._sees_ahead():
            if self._words:
                for word in self._phonemizer.push(self._words.popleft()):
                    script.add(word)
            elif self._input_ended:
                for word in self._phonemizer.finish():
                    script.add(word)
                script.close()
            else:
                return False
        return True

    def _sees_ahead(self) -> bool:
        """Whether the next frame needs no more text than is taken up."""
        needed = self._machine.system.generation.min_look_ahead
        return self._script.closed or self._script.known - self._cursor.last - 1 >= needed

    def _wordless(self) -> Step:
        """Text without a single sound: one silent frame, so that every word still has its place."""
        self._finished = True
        onsets = self._onsets(Span(0, 0, ended=True))
        if not onsets:
            return Finished()
        pcm = torch.zeros(FRAME_SAMPLES)
        return AudioFrame(pcm.numpy(), 0, onsets)

    def _frame(self) -> AudioFrame | None:
        """Generate one frame; None for the first, whose acoustic codes are the prompt's."""
        before = self._span
        if before is None:
            opened = self._prompt.open(self._script.rows())
            self._span = self._move(self._frames.first(opened, self._controls()), None)
            return None
        plain = self.rate is None and self._pace() == PLAIN
        if not self._begun:
            self._begin(before)
        controls = self._controls()
        self._begun = False
        self._span = self._move(self._frames.draw(controls), before)
        if self._sees_ahead() and not self._finished:
            self._begin(self._span)
        return self._packet(self._frames.sound(), before, plain=plain)

    def _begin(self, span: Span) -> None:
        """Begin on the frame after the one that spoke `span`: of all it needs, only its rate and
        randomness may still be open.
        """
        self._frames.begin(self._script.vector(span))
        self._script.forget_before(span.first)
        self._begun = True

    def _controls(self) -> Tensor:
        """Rate and randomness of this frame."""
        generation = self._machine.system.generation
        guidance, pull = generation.semantic_guidance, (0.0,) * len(self._durations.counts)
        rate = self._rate()
        if rate is not None and self._machine.system.rate_control:
            if not math.isfinite(rate):
                raise InvalidInput(f"A speaking rate of {rate} cannot be spoken.")
            target = rate_target(rate, self._machine.rates)
            guidance, pull = target.guidance, self._durations.pull(target)
        token_noise = race_noise(len(pull), self._generator)
        code_noise = race_noise(generation.top_codes, self._generator)
        return pack_controls(guidance, pull, token_noise, code_noise)

    def _rate(self) -> float | None:
        """The target of this frame: the rate, moved by the pace of the word it speaks."""
        pace = self._pace()
        rate = self._own_rate if self.rate is None and pace != PLAIN else self.rate
        return None if rate is None else paced(rate, pace)

    def _pace(self) -> float:
        """Of the word that the frame to be made speaks."""
        word = 0 if self._span is None else self._script.word_at(self._span)
        return self._paces[word]

    def _move(self, token: int, before: Span | None) -> Span:
        """The phones this frame speaks; notes the end one frame after it came."""
        self._durations.observe(token)
        if before is not None and before.ended:
            self._finished = True
            return before
        return self._cursor.advance(token, self._script.known, closed=self._script.closed)

    def _note_own_rate(self, syllables: int) -> None:
        """A frame was spoken at the model's own pace."""
        measured = self._plain_meter.observe(syllables)
        self._plain_ms += FRAME_MS
        if self._plain_ms >= OWN_PACE_MS:
            self._own_rate = measured

    def _packet(self, pcm: Tensor, span: Span, *, plain: bool) -> AudioFrame:
        onsets = self._onsets(span)
        syllables = self._script.syllables_ended(span)
        rate = self._meter.observe(syllables)
        if plain:
            self._note_own_rate(syllables)
        frame = AudioFrame(pcm.numpy(), self._sample, onsets, rate)
        self._sample += FRAME_SAMPLES
        return frame

    def _onsets(self, span: Span) -> tuple[Onset, ...]:
        half = FRAME_SAMPLES // 2
        begun = self._script.words_begun(span)
        return tuple(Onset(word, self._sample + late * half) for word, late in begun)

    # ----------------------------------------------------------------- close

    def close(self) -> None:
        self._finished = True
        self._words.clear()
        if not self._closed:
            self._closed = True
            self._frames.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
